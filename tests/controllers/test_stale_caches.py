"""A cache that lags behind costs nothing: what we wrote is known before the watch tells it."""

from collections import Counter
from collections.abc import Callable

import pytest

from paddle_operator.kube.transport import Request, Response, Transport
from support import virtual_time
from support.build import document
from support.faults import Faulty, Trouble
from support.world import World


class Late:
    """The watch of one kind tells everything seconds late; answers are counted by verb, kind and status."""

    def __init__(self, inner: Transport, plural: str) -> None:
        self._inner, self._plural = inner, plural
        self._late = Faulty(inner)
        self._late.trouble = Trouble.SLOW
        self.answers: Counter[tuple[str, str, int]] = Counter()

    async def request(self, request: Request) -> Response:
        answer = await self._inner.request(request)
        kind = next(
            plural for plural in ("pods", "configmaps", "paddlejobs", "events") if plural in request.path
        )
        self.answers[request.method, kind, answer.status] += 1
        return answer

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        late = request.path.endswith(f"/{self._plural}")
        return await (self._late if late else self._inner).stream(request, feed)


@pytest.mark.parametrize("plural", ["pods", "configmaps", "paddlejobs"])
def test_nothing_is_written_twice_and_nothing_conflicts_when_one_watch_is_late(plural: str) -> None:
    async def main() -> None:
        world = World(run_for=20.0)
        async with world.running():
            late = Late(world.server, plural)
            world.start_controller(late)
            await world.submit(document(ps=2, withGloo=1, cleanPodPolicy="Never"))
            job = await world.until_settled()
            assert job["status"]["phase"] == "Completed"
            assert late.answers["POST", "pods", 201] == 4
            assert late.answers["POST", "configmaps", 201] == 1
            refused = {key: count for key, count in late.answers.items() if key[2] >= 400}
            assert not refused

    virtual_time.run(main())
