"""The controller runtime: requests, watch cache, work queue. It knows Kubernetes and nothing of Paddle.

Two rules hold everywhere: level-based (any event may be lost; what counts is what the cache shows), and no
await between reading the cache and deciding.
"""
