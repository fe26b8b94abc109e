"""Our runtime beside two others, on one API server.

driver      starts the API server, fills it, starts one worker after another, changes what they watch
worker      one library in a process of its own: what it costs to list, to watch, to create
ours, kubernetes_asyncio_, lightkube_, bare     the libraries, each in the way its own examples use it
inputs      the pods, the same for all
report      medians, ratios, bounds
"""
