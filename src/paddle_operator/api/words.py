"""The closed vocabularies of a PaddleJob: what upstream wrote into its objects, letter by letter.

Clients parse these words, so none is renamed. Some are accepted or known, and never written by us.
"""

from enum import StrEnum

GROUP = "batch.paddlepaddle.org"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "PaddleJob"
PLURAL = "paddlejobs"
SINGULAR = "paddlejob"
SHORT_NAME = "pdj"

HETER = "heter"  # a role that is accepted, but of which no plan is made yet: not a RoleName


class RoleName(StrEnum):
    """The roles a plan is made of; their order is the order in which members are listed."""

    PS = "ps"
    WORKER = "worker"


class Phase(StrEnum):
    """The first group is what we write; the second one clients of upstream know as well."""

    PENDING = "Pending"
    STARTING = "Starting"
    RUNNING = "Running"
    COMPLETED = "Completed"
    FAILED = "Failed"
    TERMINATING = "Terminating"

    SCALING = "Scaling"
    ABORTING = "Aborting"
    ABORTED = "Aborted"
    RESTARTING = "Restarting"
    COMPLETING = "Completing"
    TERMINATED = "Terminated"
    SUCCEED = "Succeed"
    UNKNOWN = "Unknown"

    @property
    def finished(self) -> bool:
        """A finished job is final: nothing is created for it again."""
        return self in (Phase.COMPLETED, Phase.FAILED)


class Mode(StrEnum):
    PS = "PS"
    COLLECTIVE = "Collective"
    SINGLE = "Single"


class Intranet(StrEnum):
    """How members reach each other; UNSET is PodIP."""

    UNSET = ""
    POD_IP = "PodIP"
    SERVICE = "Service"
    HOST = "Host"


class CleanPodPolicy(StrEnum):
    """When the pods of a finished job are deleted; UNSET deletes on Completed and keeps on Failed."""

    UNSET = ""
    ALWAYS = "Always"
    NEVER = "Never"
    ON_FAILURE = "OnFailure"
    ON_COMPLETION = "OnCompletion"
    NERVER = "Nerver"
    ON_FAILED = "OnFailed"


# Slips of upstream's own samples: users have copies of them, so they are accepted, but recommended to nobody.
MISSPELT = {
    CleanPodPolicy.NERVER: CleanPodPolicy.NEVER,
    CleanPodPolicy.ON_FAILED: CleanPodPolicy.ON_FAILURE,
}
