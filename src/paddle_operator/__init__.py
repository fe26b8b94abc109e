"""Runs PaddlePaddle training jobs: on Kubernetes as an operator, on one machine from the same file."""

__version__ = "0.1.0"
