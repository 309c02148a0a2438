"""A test kit: a real router, and scripted parts around it."""

from .router import Router, find_binary

__all__ = ["Router", "find_binary"]
