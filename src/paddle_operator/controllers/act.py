"""Does what a plan says, in parallel, and reports what the server refused.

Every step may have been done before by an operator that then died: an object that is there already and ours
is success; an object that is gone already needs no deletion.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from paddle_operator.kube.bulk import Limiter, Work, all_of
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound, Replaced
from paddle_operator.kube.expectations import Expectations
from paddle_operator.kube.resources import CONFIG_MAPS, PODS, Resource
from paddle_operator.plan.model import Plan, PodPatch, PodView


class RefusedError(Exception):
    """The server will not take an object, and trying the same again at once cannot help."""


@dataclass(frozen=True, slots=True)
class Owner:
    namespace: str
    uid: str


class Actor:
    def __init__(self, client: Client, expect: Expectations, limit: Limiter) -> None:
        self._client, self._expect, self._limit = client, expect, limit

    async def act(self, plan: Plan, owner: Owner) -> list[BaseException]:
        """Everything at once; returns the failures, RefusedError among them.

        What the server refuses for one pod it refuses for all: no further creates are begun then.
        """
        changes: list[Work] = [partial(self._remove, pod, owner) for pod in plan.delete_pods]
        changes += [partial(self._patch, patch, owner) for patch in plan.patch_pods]
        creates: list[Work] = [partial(self._create, PODS, pod, owner) for pod in plan.create_pods]
        if plan.create_config_map:
            creates.append(partial(self._create, CONFIG_MAPS, plan.create_config_map, owner))
        outcomes = await asyncio.gather(
            all_of(self._limit, changes, key=owner.uid),
            all_of(self._limit, creates, key=owner.uid, stop_on=_is_refusal),
        )
        return [failure for outcome in outcomes for failure in outcome.failures]

    async def _create(self, resource: Resource, body: dict[str, Any], owner: Owner) -> None:
        name = body["metadata"]["name"]
        self._expect.expect_create(owner.uid, name)
        try:
            await self._ensure(resource, name, body, owner)
        except BaseException:
            self._expect.appeared(owner.uid, name)
            raise

    async def _ensure(self, resource: Resource, name: str, body: dict[str, Any], owner: Owner) -> None:
        try:
            await self._client.create(resource, owner.namespace, body)
        except AlreadyExists:
            await self._must_be_ours(resource, name, owner)
        except (Invalid, Forbidden) as error:
            raise RefusedError(f"{resource.kind} {name} was refused: {error.message}") from error

    async def _must_be_ours(self, resource: Resource, name: str, owner: Owner) -> None:
        there = await self._client.get(resource, owner.namespace, name)
        if not any(ref.get("uid") == owner.uid for ref in there["metadata"].get("ownerReferences", [])):
            raise RefusedError(
                f"{resource.kind} {name} exists already and belongs to somebody else; "
                f"delete it (kubectl -n {owner.namespace} delete {resource.plural} {name}) or rename the job"
            )

    async def _patch(self, patch: PodPatch, owner: Owner) -> None:
        metadata = {**patch.body.get("metadata", {}), "uid": patch.pod.uid}  # this pod, no later one
        try:
            await self._client.patch(
                PODS, owner.namespace, patch.pod.name, {**patch.body, "metadata": metadata}
            )
        except (NotFound, Replaced):
            return

    async def _remove(self, pod: PodView, owner: Owner) -> None:
        self._expect.expect_remove(owner.uid, pod.uid)
        try:
            await self._client.delete(PODS, owner.namespace, pod.name, uid=pod.uid)
        except (NotFound, Conflict):  # gone, or a later pod of that name: not ours to delete
            self._expect.vanished(owner.uid, pod.uid)
        except BaseException:
            self._expect.vanished(owner.uid, pod.uid)
            raise


def _is_refusal(failure: BaseException) -> bool:
    return isinstance(failure, RefusedError)
