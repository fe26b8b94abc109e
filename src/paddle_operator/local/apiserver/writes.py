"""The rules of writing: who sets which part of an object, and when a write is refused.

The server owns uid, resourceVersion, generation and the timestamps. Of kinds with a status subresource, a
write to the object leaves `status` alone and a write to `/status` leaves all the rest alone. A write that
changes nothing makes no new version and wakes nobody.
"""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from paddle_operator.local.apiserver.kinds import Cause, Kind, Object
from paddle_operator.local.apiserver.merge import merged
from paddle_operator.local.apiserver.refusals import (
    Refusal,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
)
from paddle_operator.local.apiserver.routes import Target
from paddle_operator.local.apiserver.schema import prepared, violations
from paddle_operator.local.apiserver.store import Store

DEFAULT_GRACE = 30
FOREGROUND = "foregroundDeletion"  # the finalizer that waits for the dependents
_GIVEN = ("name", "namespace")
_SERVERS = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_FIXED = (*_GIVEN, *_SERVERS)


class Writer:
    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store, self._now = store, now

    def create(self, target: Target, body: Object) -> Object:
        kind, meta = target.kind, _written(body.get("metadata"))
        if not target.namespace:
            raise Refusal(405, "MethodNotAllowed", "objects are created in a namespace")
        meta["name"] = meta.get("name") or _generated(meta)
        if not meta["name"]:
            cause = Cause("metadata.name", "Required value: name or generateName is required")
            raise invalid(kind, "", [cause])
        if meta.get("namespace", target.namespace) != target.namespace:
            raise bad_request("the namespace of the object does not match the namespace on the request")
        if self._store.get(kind, target.namespace, meta["name"]):
            raise already_exists(kind.plural, meta["name"])
        new = {**body, "apiVersion": kind.api_version, "kind": kind.kind}
        new["metadata"] = meta | self._birth(target.namespace)
        if kind.has_status:
            new["status"] = {"phase": "Pending"} if kind.graceful else {}
        return self._store.put(kind, _admitted(kind, new))

    def patch(self, target: Target, patch: Object) -> Object:
        old = self._existing(target)
        given = patch.get("metadata") or {}
        _check_uid(target, old, given)
        _check_version(target, old, given)
        return self._update(target, old, merged(old, patch))

    def replace(self, target: Target, body: Object) -> Object:
        """A custom resource must say which version it replaces; built-in kinds may leave that out."""
        old = self._existing(target)
        given = body.get("metadata") or {}
        if target.kind.custom and not given.get("resourceVersion"):
            cause = Cause("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
            raise invalid(target.kind, target.name, [cause])
        _check_uid(target, old, given)
        _check_version(target, old, given)
        return self._update(target, old, body)

    def delete(self, target: Target, options: Object) -> Object:
        old = self._existing(target)
        _check_preconditions(target, old, options.get("preconditions") or {})
        grace = _grace(target.kind, old, options.get("gracePeriodSeconds"))
        if options.get("propagationPolicy") == "Foreground":
            old = self._store.put(target.kind, _with_finalizer(old, FOREGROUND))
        if not grace and not old["metadata"].get("finalizers"):
            return self._store.remove(target.kind, old)
        return self._mark(target.kind, old, grace)

    def _update(self, target: Target, old: Object, wanted: Object) -> Object:
        new = _only_what_is_theirs(target, old, wanted)
        new = _checked(target.kind, new) if target.subresource else _admitted(target.kind, new)
        if new == old:
            return old
        if new.get("spec") != old.get("spec"):
            new["metadata"] = {**new["metadata"], "generation": old["metadata"]["generation"] + 1}
        return self._store_or_finish(target.kind, new)

    def _existing(self, target: Target) -> Object:
        old = self._store.get(target.kind, target.namespace, target.name)
        if old is None:
            raise not_found(target.kind.plural, target.name)
        return old

    def _birth(self, namespace: str) -> Object:
        return {
            "namespace": namespace,
            "uid": str(uuid.uuid4()),
            "creationTimestamp": _timestamp(self._now()),
            "generation": 1,
        }

    def _mark(self, kind: Kind, old: Object, grace: int) -> Object:
        """The object stays, marked as leaving. A second delete may shorten the grace period only."""
        meta = old["metadata"]
        if "deletionTimestamp" in meta and grace >= meta.get("deletionGracePeriodSeconds", 0):
            return old
        until = self._now() + timedelta(seconds=grace)
        mark = {"deletionTimestamp": _timestamp(until), "deletionGracePeriodSeconds": grace}
        return self._store_or_finish(kind, {**old, "metadata": {**meta, **mark}})

    def _store_or_finish(self, kind: Kind, new: Object) -> Object:
        """An object that only waited for its last finalizer goes when that is taken off."""
        meta = new["metadata"]
        leaving = "deletionTimestamp" in meta and not meta.get("deletionGracePeriodSeconds")
        stored = self._store.put(kind, new)
        return self._store.remove(kind, stored) if leaving and not meta.get("finalizers") else stored


def _written(metadata: Object | None) -> Object:
    """The part of metadata that is the client's; a null field is an absent one."""
    given = metadata or {}
    return {key: value for key, value in given.items() if value is not None and key not in _SERVERS}


def _generated(meta: Object) -> str:
    return f"{meta['generateName']}{uuid.uuid4().hex[:5]}" if meta.get("generateName") else ""


def _admitted(kind: Kind, new: Object) -> Object:
    """As it is stored: pruned, defaulted, changed and accepted by admission; or the refusal."""
    kept = prepared(new, kind.schema) if kind.schema else new
    causes = violations(kept, kind.schema) if kind.schema else []
    if not any(cause.final for cause in causes):
        causes += kind.admit(kept)
    if causes:
        raise invalid(kind, new["metadata"]["name"], causes)
    return kept


def _checked(kind: Kind, new: Object) -> Object:
    """Of a status: by the schema alone, or a rule made stricter later would lock old objects."""
    if kind.schema is None:
        return new
    kept = prepared(new, kind.schema)
    if causes := violations(kept, kind.schema):
        raise invalid(kind, new["metadata"]["name"], causes)
    return kept


def _with_finalizer(old: Object, finalizer: str) -> Object:
    meta = old["metadata"]
    finalizers = [one for one in meta.get("finalizers") or [] if one != finalizer]
    return {**old, "metadata": {**meta, "finalizers": [*finalizers, finalizer]}}


def _check_version(target: Target, old: Object, wanted: Object) -> None:
    if "resourceVersion" in wanted and wanted["resourceVersion"] != old["metadata"]["resourceVersion"]:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        raise conflict(target.kind.plural, target.name, why)


def _check_uid(target: Target, old: Object, wanted: Object) -> None:
    """To change an object that is another by now is to change its uid, and that nobody may."""
    ignored = target.kind.custom and target.subresource  # there the metadata of the patch is not looked at
    if wanted.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"] and not ignored:
        cause = Cause("metadata.uid", f'Invalid value: "{wanted["uid"]}": field is immutable')
        raise invalid(target.kind, target.name, [cause])


def _check_preconditions(target: Target, old: Object, wanted: Object) -> None:
    """Of a deletion."""
    uid = old["metadata"]["uid"]
    if wanted.get("uid", uid) != uid:
        why = f"the UID in the precondition ({wanted['uid']}) does not match the UID in record ({uid})"
        raise conflict(target.kind.plural, target.name, why)
    _check_version(target, old, wanted)


def _only_what_is_theirs(target: Target, old: Object, new: Any) -> Object:
    if target.subresource == "status":
        return {**old, "status": new.get("status", {})}
    kept = {key: old["metadata"][key] for key in _FIXED if key in old["metadata"]}
    theirs = {"apiVersion": target.kind.api_version, "kind": target.kind.kind}
    result = {**new, **theirs, "metadata": {**_written(new.get("metadata")), **kept}}
    if target.kind.has_status:
        result["status"] = old.get("status", {})
    return result


def _grace(kind: Kind, old: Object, wanted: int | None) -> int:
    """Only a pod that somebody runs gets time; one without a node, or already over, goes at once."""
    running = old.get("spec", {}).get("nodeName") and old.get("status", {}).get("phase") in (
        "Pending",
        "Running",
    )
    if not kind.graceful or not running:
        return 0
    default = int(old["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE))
    return default if wanted is None else wanted


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
