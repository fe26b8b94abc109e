"""What a job means where it says it in another way."""

import dataclasses
from typing import Any

import pytest

from paddle_operator.api.defaults import effective_clean_pod_policy
from paddle_operator.api.validation import parse_job
from paddle_operator.api.words import MISSPELT, CleanPodPolicy
from paddle_operator.plan.translate import from_paddlejob
from support.bad_objects import job, role


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ({}, CleanPodPolicy.UNSET),
        ({"cleanPodPolicy": "Always"}, CleanPodPolicy.ALWAYS),
        ({"cleanPolicy": "OnCompletion"}, CleanPodPolicy.ON_COMPLETION),
        ({"cleanPodPolicy": "Nerver"}, CleanPodPolicy.NEVER),
        ({"cleanPodPolicy": "OnFailed"}, CleanPodPolicy.ON_FAILURE),
        ({"cleanPolicy": "Nerver"}, CleanPodPolicy.NEVER),
        ({"cleanPodPolicy": "Always", "cleanPolicy": "Never"}, CleanPodPolicy.ALWAYS),
        ({"cleanPodPolicy": "", "cleanPolicy": "Never"}, CleanPodPolicy.NEVER),
    ],
)
def test_the_policy_is_what_was_meant(written: dict[str, str], want: CleanPodPolicy) -> None:
    assert effective_clean_pod_policy(parse_job(job(worker=role(), **written)).spec) is want


@pytest.mark.parametrize("slip", MISSPELT)
def test_the_planner_never_sees_a_slip(slip: CleanPodPolicy) -> None:
    planned = from_paddlejob(parse_job(job(worker=role(), cleanPodPolicy=slip)))
    assert planned.clean_pod_policy is MISSPELT[slip]
    assert planned.clean_pod_policy not in MISSPELT


def test_a_role_without_a_plan_of_its_own_changes_nothing_of_the_others() -> None:
    extras: tuple[dict[str, Any], ...] = ({}, {"heter": role(3)})
    plain, more = (from_paddlejob(parse_job(job(worker=role(2), ps=role(), **extra))) for extra in extras)
    assert more == dataclasses.replace(plain, unused=more.unused)
