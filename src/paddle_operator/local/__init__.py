"""A cluster in one process: an API server in memory, and a runner that turns pods into processes."""
