"""What a user may write, and whether it makes sense.

Pure: types, defaults, and checks that return problems instead of raising them.
Nothing here knows of a cluster, a clock or a process.
"""
