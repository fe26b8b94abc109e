"""Pieces of CEL that are longer than a line.

The server refuses a CRD whose rules might cost too much, and takes a text of unknown length for an endless
one: so numbers are written digit by digit, not by `string()`. `format()` would be shorter, but servers older
than 1.29 refuse the whole CRD for it.
"""

from collections.abc import Iterable

from paddle_operator.api.words import Phase

NAME_LENGTH = "size(self.metadata.name)"

# A rule at the root is asked at every write, that of status and of finalizers included. A bad job that is
# older than the rule must still be marked as failed and be let go.
_LEAVING = [str(phase) for phase in (Phase.COMPLETED, Phase.FAILED, Phase.TERMINATING)]
IS_LEAVING = f"(has(self.status) && has(self.status.phase) && self.status.phase in {_LEAVING})"

_DIGITS = [str(digit) for digit in range(10)]  # as Python prints it, it is CEL too


def longest_job_name(roles: Iterable[str], longest_host_name: int) -> str:
    """How long the name may be, so that `<job>-<role>-<index>` fits; asked at the root of the object."""
    return f"({longest_host_name} - [{', '.join(map(_tail, roles))}].max())"


def number(expression: str, *, digits: int) -> str:
    """The value as decimal text, for values from 0 to what so many digits can say."""
    powers = [10**power for power in range(digits - 1, -1, -1)]
    return " + ".join(_digit(expression, power) for power in powers)


def _tail(role: str) -> str:
    replicas = f"self.spec.{role}.replicas"
    last = f"({replicas} > 0 ? {replicas} - 1 : 0)"
    return f"has(self.spec.{role}) ? size('-{role}-') + size(string({last})) : 0"


def _digit(expression: str, power: int) -> str:
    digit = f"{_DIGITS}[{expression} / {power} % 10]"
    return f"({expression} >= {power} ? {digit} : '')" if power > 1 else digit
