"""JSON merge patch (RFC 7386): the smallest patch from one document to another, and its application."""

from typing import Any

Document = dict[str, Any]


def merge_diff(old: Document, new: Document) -> Document:
    """The patch that turns `old` into `new`; empty when they are equal."""
    patch: Document = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := merge_diff(before, value):
                patch[key] = inner
        elif value != before or type(value) is not type(before):  # 1 == True, to Python
            patch[key] = value
    return patch
