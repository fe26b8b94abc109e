"""A small API server in memory, behind the same seam as the real one, and as ignorant of Paddle.

It does what the controllers, the runner and the CLI rely on, as the real one does it, and no more. Kinds
beside the built-in ones are handed in, with what checks them.
"""
