"""The pod template, as far as it is checked before any pod is made of it.

Only what the planner reads or what is wrong most often: the pod's own creation tells the rest. The job itself
keeps templates as plain mappings, so that nothing a user wrote is lost; these types are what the mapping is
held against, by `shape.py` and by the schema of the CRD.
"""

from typing import Annotated, Any

import msgspec

from paddle_operator.api.base import Open, Quantity, Text


class TemplateMetadata(Open, frozen=True):
    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: list[str] = []


class Named(Open, frozen=True):
    name: str = ""


class EnvVar(Open, frozen=True):
    name: Annotated[str, msgspec.Meta(min_length=1, pattern="^[^=]*$")]
    value: str = ""
    value_from: dict[str, Any] = {}


class EnvSource(Open, frozen=True):
    prefix: str = ""
    config_map_ref: Named | None = None
    secret_ref: Named | None = None


class Resources(Open, frozen=True):
    limits: dict[str, Quantity] = {}
    requests: dict[str, Quantity] = {}


class Container(Open, frozen=True):
    name: Text
    image: Text
    command: list[str] = []
    args: list[str] = []
    env: list[EnvVar] = []
    env_from: list[EnvSource] = []
    working_dir: str = ""
    resources: Resources = Resources()


class PodSpec(Open, frozen=True):
    containers: Annotated[list[Container], msgspec.Meta(min_length=1)] = []
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None


class PodTemplate(Open, frozen=True):
    metadata: TemplateMetadata = TemplateMetadata()
    spec: PodSpec = PodSpec()


Template = Annotated[dict[str, Any], msgspec.Meta(extra={"skeleton": PodTemplate})]
