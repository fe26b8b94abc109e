"""What all types of this package share.

A `Struct` lists every field there is. An `Open` one lists the fields that we read or check, of an object that
belongs to Kubernetes: what else stands in it, fields newer than this file too, is kept and passed on.
"""

from typing import Annotated

import msgspec

MOST_REPLICAS = 2**31 - 1

Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_REPLICAS)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Quantity = int | float | str  # `cpu: 0.5` is as good as `cpu: 500m`


class Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The base of every type here: immutable, camelCase on the wire, silent about defaults."""


class Open(Struct, frozen=True):
    """The known part of something larger: never converted to, only checked against."""
