"""Names, labels and annotations on the objects of a job, each with the one who reads it.

The first group is upstream's, kept letter by letter; the second is ours.
"""

from paddle_operator.api.words import GROUP
from paddle_operator.plan.model import Member

RES_NAME = "paddle-res-name"  # label: the object's own name; users select pods with it
RES_TYPE = "paddle-res-type"  # label: the role
RESOURCE = "paddle-resource"  # annotation: the role; upstream's status and PaddleFlow read it

JOB_NAME = f"{GROUP}/job-name"  # label: all objects of a job, for people
JOB_UID = f"{GROUP}/job-uid"  # label: the same, safe against a second job of the same name
INDEX = f"{GROUP}/index"  # label: the member's place within its role
ATTEMPT = f"{GROUP}/attempt"  # label: the generation of the gang; absent means 0

PORT = f"{GROUP}/port"  # annotation on the job: its base port, where it is not the constant of a cluster
RELEASE = f"{GROUP}/release"  # annotation on a pod: how often its kubelet was nudged, and when last
STOPPED = f"{GROUP}/stopped"  # annotation on a pod: we ended it, and why; it did not end by itself


def pod_name(job: str, member: Member) -> str:
    return f"{job}-{member}"


def config_map_name(job: str) -> str:
    return job
