"""The closed vocabularies of a PaddleJob: what upstream wrote into its objects, letter by letter.

Clients parse these words, so none is renamed; `Phase` lists only what we write.
"""

from enum import StrEnum

GROUP = "batch.paddlepaddle.org"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "PaddleJob"
PLURAL = "paddlejobs"


class RoleName(StrEnum):
    """The roles of a job; their order is the order in which members are listed."""

    PS = "ps"
    WORKER = "worker"


class Phase(StrEnum):
    PENDING = "Pending"
    STARTING = "Starting"
    RUNNING = "Running"
    COMPLETED = "Completed"
    FAILED = "Failed"
    TERMINATING = "Terminating"

    @property
    def finished(self) -> bool:
        """A finished job is final: nothing is created for it again."""
        return self in (Phase.COMPLETED, Phase.FAILED)


class Mode(StrEnum):
    PS = "PS"
    COLLECTIVE = "Collective"
    SINGLE = "Single"


class Intranet(StrEnum):
    """How members reach each other."""

    POD_IP = "PodIP"


class CleanPodPolicy(StrEnum):
    """When the pods of a finished job are deleted; UNSET deletes on Completed and keeps on Failed."""

    UNSET = ""
    ALWAYS = "Always"
    NEVER = "Never"
    ON_FAILURE = "OnFailure"
    ON_COMPLETION = "OnCompletion"
