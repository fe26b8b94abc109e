"""Widgets as a cache decodes and keeps them."""

from dataclasses import dataclass

from paddle_operator.kube.objects import ObjectMeta, Wire


class Spec(Wire, frozen=True):
    size: int = 0


class WidgetWire(Wire, frozen=True):
    metadata: ObjectMeta
    spec: Spec = Spec()


@dataclass(frozen=True)
class View:
    name: str
    uid: str
    size: int


def view(wire: WidgetWire) -> View:
    return View(wire.metadata.name, wire.metadata.uid, wire.spec.size)
