"""From a context of a kubeconfig to an `Access`.

Where a thing is given twice, in place and as a file, the one given in place counts, as in kubectl; of tokens
it is the file, because that one is kept fresh. What would be dropped in silence, and matters, is refused.
"""

from urllib.parse import urlsplit

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.content import Content, File, Inline, from_base64
from paddle_operator.kube.auth.credentials import Credentials, Given, Headers, basic
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.exec_plugin import ExecCredentials
from paddle_operator.kube.auth.exec_words import cluster_info
from paddle_operator.kube.auth.kubeconfig import Cluster, Context, Entry, Kubeconfig, User
from paddle_operator.kube.auth.tls import Tls


def access_from(config: Kubeconfig, context: str = "") -> Access:
    chosen = _context(config, context)
    cluster = _cluster(config, chosen)
    user = _user(config, chosen)
    tls = _tls(cluster)
    given = _given(user)
    tls.context(given.now().certificate)  # what is wrong is said now, not at the first request
    return Access(
        server=_server(cluster),
        tls=tls,
        credentials=_credentials(user, given, cluster=cluster, tls=tls),
        origin=f"context {chosen.name!r} of {chosen.file}",
        namespace=chosen.value.namespace or "default",
        proxy=_proxy(cluster),
    )


def _context(config: Kubeconfig, wanted: str) -> Entry[Context]:
    files = ", ".join(map(str, config.files))
    known = ", ".join(sorted(config.contexts)) or "none"
    name = wanted or config.current_context
    if not name:
        raise AccessError(f"{files}: no current-context; choose one of its contexts: {known}")
    if name not in config.contexts:
        raise AccessError(f"{files}: no context {name!r}; there are: {known}")
    return config.contexts[name]


def _cluster(config: Kubeconfig, context: Entry[Context]) -> Entry[Cluster]:
    name = context.value.cluster
    if name not in config.clusters:
        known = ", ".join(sorted(config.clusters)) or "none"
        raise AccessError(
            f"{context.file}: context {context.name!r} names cluster {name!r}, which is not there; "
            f"there are: {known}"
        )
    return config.clusters[name]


def _user(config: Kubeconfig, context: Entry[Context]) -> Entry[User]:
    """A context without a user is anonymous; one with a wrong user is a mistake."""
    name = context.value.user
    if not name:
        return Entry("", context.file, User())
    if name not in config.users:
        known = ", ".join(sorted(config.users)) or "none"
        raise AccessError(
            f"{context.file}: context {context.name!r} names user {name!r}, which is not there; "
            f"there are: {known}"
        )
    return config.users[name]


def _server(cluster: Entry[Cluster]) -> str:
    server = cluster.value.server.rstrip("/")
    if not _is_url(server, ("http", "https")):
        raise AccessError(
            f"{cluster.file}: cluster {cluster.name!r}: server: expected https://HOST:PORT, got {server!r}"
        )
    return server


def _proxy(cluster: Entry[Cluster]) -> str:
    proxy = cluster.value.proxy_url
    if proxy and not _is_url(proxy, ("http", "https")):
        raise AccessError(
            f"{cluster.file}: cluster {cluster.name!r}: proxy-url: expected http://HOST:PORT, got {proxy!r}"
        )
    return proxy


def _is_url(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, half a bracket
        return False


def _tls(cluster: Entry[Cluster]) -> Tls:
    value, what = cluster.value, f"{cluster.file}: cluster {cluster.name!r}"
    ca = _content(
        cluster, "certificate-authority", value.certificate_authority_data, value.certificate_authority
    )
    if ca and value.insecure_skip_tls_verify:
        raise AccessError(
            f"{what}: has a certificate-authority and insecure-skip-tls-verify, which contradict each other; "
            "remove one of them"
        )
    insecure = value.insecure_skip_tls_verify
    return Tls(ca=ca, insecure=insecure, server_name=value.tls_server_name, what=what)


def _content(entry: Entry[Cluster] | Entry[User], key: str, data: str, file: str) -> Content | None:
    if data:
        return from_base64(data, f"{entry.file}: {entry.name!r}: {key}-data")
    return File(entry.path(file), f"{entry.file}: {entry.name!r}: {key}") if file else None


def _given(user: Entry[User]) -> Given:
    what = f"{user.file}: user {user.name!r}"
    return Given(
        token=_token(user),
        certificate=_certificate(user, what),
        headers=(*_basic(user, what), *_impersonation(user.value, what)),
        what=what,
    )


def _token(user: Entry[User]) -> Content | None:
    if user.value.token_file:
        return File(user.path(user.value.token_file), f"{user.file}: {user.name!r}: tokenFile")
    return Inline(user.value.token.encode()) if user.value.token else None


def _certificate(user: Entry[User], what: str) -> tuple[Content, Content] | None:
    value = user.value
    chain = _content(user, "client-certificate", value.client_certificate_data, value.client_certificate)
    key = _content(user, "client-key", value.client_key_data, value.client_key)
    if chain and key:
        return chain, key
    if chain or key:
        missing = "client-key" if chain else "client-certificate"
        raise AccessError(f"{what}: {missing} is missing; certificate and key belong together")
    return None


def _basic(user: Entry[User], what: str) -> Headers:
    if not user.value.username:
        return ()
    if user.value.token or user.value.token_file:
        raise AccessError(
            f"{what}: has a token and a username; only one of them can be sent, remove the other"
        )
    return basic(user.value.username, user.value.password)


def _impersonation(user: User, what: str) -> Headers:
    if not user.as_ and (user.as_uid or user.as_groups or user.as_user_extra):
        raise AccessError(f"{what}: as-uid, as-groups and as-user-extra need `as`")
    pairs = [("Impersonate-User", user.as_), ("Impersonate-Uid", user.as_uid)]
    pairs += [("Impersonate-Group", group) for group in user.as_groups]
    extra = user.as_user_extra.items()
    pairs += [(f"Impersonate-Extra-{key}", value) for key, values in extra for value in values]
    return tuple((name, value) for name, value in pairs if value)


def _credentials(user: Entry[User], given: Given, *, cluster: Entry[Cluster], tls: Tls) -> Credentials:
    """A token or a password that is given makes the command superfluous, as in kubectl."""
    value, what = user.value, f"{user.file}: user {user.name!r}"
    if value.auth_provider:
        raise AccessError(
            f"{what}: auth-provider {value.auth_provider.get('name', '')!r} is not supported; "
            "use the exec plugin of your provider"
        )
    if not value.exec or given.token or value.username:
        return given
    ca = tls.ca.read() if tls.ca else b""
    info = cluster_info(cluster.value, ca=ca) if value.exec.provide_cluster_info else None
    return ExecCredentials(value.exec, given=given, cluster=info, folder=user.file.parent, what=what)
