"""The three caches of the controller: jobs, and the pods and ConfigMaps that belong to jobs.

The label selector keeps foreign pods out of memory; upstream's objects carry the label too.
"""

from collections.abc import Callable

from paddle_operator.controllers.observe import (
    PADDLE_JOBS,
    Child,
    ConfigMapView,
    JobView,
    JobWire,
    PodWire,
    child,
    config_map_view,
    job_view,
    owner_of,
)
from paddle_operator.kube.cache import Informer
from paddle_operator.kube.client import Client
from paddle_operator.kube.objects import Partial
from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from paddle_operator.plan.names import RES_NAME


def job_cache(
    client: Client, namespace: str, on_change: Callable[[JobView | None, JobView | None], None]
) -> Informer[JobWire, JobView]:
    return Informer(
        client, PADDLE_JOBS, wire=JobWire, project=job_view, on_change=on_change, namespace=namespace
    )


def pod_cache(
    client: Client, namespace: str, on_change: Callable[[Child | None, Child | None], None]
) -> Informer[PodWire, Child]:
    return Informer(
        client,
        PODS,
        wire=PodWire,
        project=child,
        on_change=on_change,
        namespace=namespace,
        selector=RES_NAME,
        indexes={"owner": owner_of},
    )


def config_map_cache(
    client: Client, namespace: str, on_change: Callable[[ConfigMapView | None, ConfigMapView | None], None]
) -> Informer[Partial, ConfigMapView]:
    return Informer(
        client,
        CONFIG_MAPS,
        wire=Partial,
        project=config_map_view,
        on_change=on_change,
        namespace=namespace,
        selector=RES_NAME,
    )
