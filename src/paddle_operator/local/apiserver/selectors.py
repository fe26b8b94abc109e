"""Label selectors: `a`, `!a`, `a=b`, `a==b`, `a!=b`, joined by commas (and)."""

import re
from collections.abc import Callable, Mapping

from paddle_operator.local.apiserver.refusals import bad_request

Labels = Mapping[str, str]
Selector = Callable[[Labels], bool]

_KEY = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?")


def parse_selector(text: str) -> Selector:
    terms = [_term(term.strip()) for term in text.split(",") if term.strip()]
    return lambda labels: all(term(labels) for term in terms)


def _term(text: str) -> Selector:
    for sign, same in (("!=", False), ("==", True), ("=", True)):
        key, found, value = text.partition(sign)
        if found:
            return _equals(key.strip(), value.strip()) if same else _differs(key.strip(), value.strip())
    if not _KEY.fullmatch(text.removeprefix("!")):
        raise bad_request(f"invalid label selector: unable to parse requirement {text!r}")
    if text.startswith("!"):
        return lambda labels: text[1:] not in labels
    return lambda labels: text in labels


def _equals(key: str, value: str) -> Selector:
    return lambda labels: labels.get(key) == value


def _differs(key: str, value: str) -> Selector:
    """As in Kubernetes, an object without the label differs too."""
    return lambda labels: labels.get(key) != value
