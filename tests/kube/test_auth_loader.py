"""Which of the possible accesses a process takes, and what it says when there is none."""

from pathlib import Path

import pytest
import yaml

from paddle_operator.kube.auth import Access, AccessError, load_access
from support.http_certificates import papers

IN_CLUSTER = {"KUBERNETES_SERVICE_HOST": "cluster", "KUBERNETES_SERVICE_PORT": "443"}


class Machine:
    """A home, a service account and some kubeconfigs, each with a server of its own name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.account = folder, folder / "account"
        self.home_config = folder / "home" / ".kube" / "config"

    def config(self, file: Path) -> Path:
        document = {
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x"}}],
            "clusters": [{"name": "x", "cluster": {"server": f"https://{file.parent.name}-{file.name}"}}],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(document))
        return file

    def mount(self) -> None:
        self.account.mkdir()
        (self.account / "token").write_text("t")
        (self.account / "ca.crt").write_bytes(papers().authority.certificate.read_bytes())

    def load(
        self, *, kubeconfig: Path | None = None, context: str = "", variable: str = "", pod: bool = False
    ) -> Access:
        return load_access(
            kubeconfig=kubeconfig,
            context=context,
            environ={"KUBECONFIG": variable, **(IN_CLUSTER if pod else {})},
            home=self.folder / "home",
            service_account=self.account,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_kubeconfig_that_is_named_comes_first(machine: Machine) -> None:
    machine.mount()
    machine.config(machine.home_config)
    variable, named = machine.config(machine.folder / "a" / "v"), machine.config(machine.folder / "a" / "n")
    assert machine.load(kubeconfig=named, variable=str(variable), pod=True).server == "https://a-n"


def test_then_comes_the_variable(machine: Machine) -> None:
    machine.mount()
    machine.config(machine.home_config)
    variable = machine.config(machine.folder / "a" / "v")
    assert machine.load(variable=str(variable), pod=True).server == "https://a-v"


def test_then_comes_the_pod_we_run_in(machine: Machine) -> None:
    machine.mount()
    machine.config(machine.home_config)
    assert machine.load(pod=True).server == "https://cluster:443"


def test_then_comes_the_home(machine: Machine) -> None:
    machine.config(machine.home_config)
    access = machine.load()
    assert (access.server, access.origin) == ("https://.kube-config", f"context 'x' of {machine.home_config}")


def test_a_context_that_is_named_is_not_looked_for_in_a_pod(machine: Machine) -> None:
    machine.mount()
    machine.config(machine.home_config)
    assert machine.load(context="x", pod=True).server == "https://.kube-config"


def test_of_the_files_in_the_variable_some_may_be_missing(machine: Machine) -> None:
    there = machine.config(machine.folder / "a" / "v")
    assert machine.load(variable=f":{machine.folder}/gone:{there}:").server == "https://a-v"


def test_a_variable_that_leads_nowhere_does_not_lead_to_another_cluster(machine: Machine) -> None:
    machine.config(machine.home_config)
    with pytest.raises(AccessError, match=r"KUBECONFIG: /gone: not there; correct the variable or unset it"):
        machine.load(variable="/gone")


def test_a_named_file_that_is_missing_does_not_lead_to_another_cluster(machine: Machine) -> None:
    machine.config(machine.home_config)
    with pytest.raises(AccessError, match=r"/gone: No such file or directory"):
        machine.load(kubeconfig=Path("/gone"))


def test_when_there_is_nothing_everything_that_was_tried_is_named(machine: Machine) -> None:
    with pytest.raises(AccessError) as caught:
        machine.load()
    said = str(caught.value)
    for tried in ("KUBECONFIG is not set", "KUBERNETES_SERVICE_HOST is not set", str(machine.home_config)):
        assert tried in said


def test_a_service_account_that_is_not_mounted_is_named_among_what_was_tried(machine: Machine) -> None:
    with pytest.raises(AccessError, match=f"{machine.account}/token is not there"):
        machine.load(pod=True)
