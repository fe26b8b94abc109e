"""The kubelet of one machine: watches pods bound to its node, runs them as processes, writes pod status.

A client of the API like any other. It imports no planner and no controller, and knows nothing of Paddle.
"""
