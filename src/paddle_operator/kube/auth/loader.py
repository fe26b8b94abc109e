"""Which access a process has: the first of these that is there.

1. a kubeconfig that was named; 2. KUBECONFIG; 3. the service account of the pod we run in; 4. ~/.kube/config.

Only 3 and 4 may be missing: a source that somebody named and that does not work is an error, because the next
one might be another cluster. A context that was named can only stand in a kubeconfig, so 3 is left out then.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.in_cluster import FOLDER, in_cluster, why_not_in_cluster
from paddle_operator.kube.auth.kubeconfig import read_kubeconfig
from paddle_operator.kube.auth.kubeconfig_access import access_from


def load_access(
    *,
    kubeconfig: Path | None = None,
    context: str = "",
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    service_account: Path = FOLDER,
) -> Access:
    environ = os.environ if environ is None else environ
    if kubeconfig is not None:
        return access_from(read_kubeconfig([kubeconfig]), context)
    named = [Path(one) for one in environ.get("KUBECONFIG", "").split(os.pathsep) if one]
    if named:
        return _from_variable(named, context)
    outside = "a context was named" if context else why_not_in_cluster(environ, service_account)
    if not outside:
        return in_cluster(environ, service_account)
    default = (home or Path.home()) / ".kube" / "config"
    if default.exists():
        return access_from(read_kubeconfig([default]), context)
    raise AccessError(
        "no cluster is configured: no kubeconfig was named, KUBECONFIG is not set, "
        f"not in a cluster ({outside}), and {default} is not there; name a kubeconfig or set KUBECONFIG"
    )


def _from_variable(named: list[Path], context: str) -> Access:
    """Some of several may be missing, as in kubectl."""
    present = [file for file in named if file.exists()]
    if not present:
        missing = ", ".join(map(str, named))
        raise AccessError(f"KUBECONFIG: {missing}: not there; correct the variable or unset it")
    return access_from(read_kubeconfig(present), context)
