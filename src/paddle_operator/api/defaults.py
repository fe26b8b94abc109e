"""What a job means where it says nothing, or says it in another way. One place for each field."""

from paddle_operator.api.paddlejob import PaddleJobSpec
from paddle_operator.api.words import MISSPELT, CleanPodPolicy


def effective_clean_pod_policy(spec: PaddleJobSpec) -> CleanPodPolicy:
    """`cleanPolicy` counts where `cleanPodPolicy` is not set; slips count as what was meant."""
    written = spec.clean_pod_policy or spec.clean_policy
    return MISSPELT.get(written, written)
