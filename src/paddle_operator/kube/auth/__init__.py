"""Where the cluster is, and who we are there: everything `kube/http.py` needs to know before it may speak.

`load_access` chooses a source once (a kubeconfig, or the service account of a pod) and makes an `Access` of
it. An `Access` stays valid while the process lives: files that change are read again, commands are run again
when what they gave is about to expire. Nothing here speaks HTTP.
"""

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.loader import load_access

__all__ = ["Access", "AccessError", "load_access"]
