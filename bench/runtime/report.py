"""What was measured, as medians, ratios and a table, and which bounds are held."""

import statistics
from typing import Any, NamedTuple

Measured = dict[str, Any]

US, MB, KB = 1e6, 1 / 1024**2, 1 / 1024
PEER = "kubernetes-asyncio"


class Row(NamedTuple):
    """A measure as it is shown."""

    measure: str
    title: str
    factor: float
    digits: int


ROWS = [
    Row("cpu", "fill the cache: CPU s", 1, 2),
    Row("seconds", "fill the cache: s", 1, 2),
    Row("resident", "fill the cache: resident MB", MB, 1),
    Row("peak", "fill the cache: peak MB", MB, 1),
    Row("per_pod", "resident KB per cached pod", KB, 2),
    Row("cpu_per_event", "CPU µs per watch event", US, 1),
    Row("rate", "creates per second", 1, 0),
    Row("cpu_per_create", "CPU µs per create", US, 0),
]
COLUMNS = ("ours", PEER, "lightkube", "bare")


class Bound(NamedTuple):
    title: str
    value: float
    limit: float
    at_least: bool

    @property
    def held(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        verdict = "held" if self.held else "NOT HELD"
        return f"{verdict:8}  {self.title}: {self.value:.2f} (bound {sign} {self.limit:g})"


def result(setting: Measured, libraries: dict[str, Measured], rounds: dict[str, list[Measured]]) -> Measured:
    for each in rounds.values():
        for one in each:
            if "resident" in one:
                one["per_pod"] = one["resident"] / setting["pods"]
    medians = {name: medians_of(each) for name, each in rounds.items()}
    return {
        "setting": setting,
        "libraries": libraries,
        "medians": medians,
        "bounds": [{**one._asdict(), "held": one.held} for one in bounds(medians, rounds)],
        "rounds": rounds,
    }


def medians_of(rounds: list[Measured]) -> Measured:
    measures = {measure for one in rounds for measure in one}
    return {
        measure: statistics.median(one[measure] for one in rounds if measure in one)
        for measure in sorted(measures)
    }


def bounds(medians: dict[str, Measured], rounds: dict[str, list[Measured]]) -> list[Bound]:
    event, kept = "cpu_per_event", medians["ours"]["per_pod"] * KB
    return [
        Bound("CPU per watch event, kubernetes-asyncio / ours", ratio(rounds, event, PEER, "ours"), 20, True),
        Bound("CPU per watch event, lightkube / ours", ratio(rounds, event, "lightkube", "ours"), 3, True),
        Bound(f"the same beyond the transport, {PEER} / ours", beyond(rounds, event, PEER), 20, True),
        Bound("the same beyond the transport, lightkube / ours", beyond(rounds, event, "lightkube"), 3, True),
        Bound("resident KB per cached pod", kept, 20, False),
        Bound("rate of creates, ours / bare", ratio(rounds, "rate", "ours", "bare"), 0.8, True),
    ]


def ratio(rounds: dict[str, list[Measured]], measure: str, name: str, other: str) -> float:
    """The median of what each round says: other work on the machine comes and goes."""
    above, below = ([one[measure] for one in rounds[each] if measure in one] for each in (name, other))
    return float(statistics.median(mine / theirs for mine, theirs in zip(above, below, strict=True)))


def beyond(rounds: dict[str, list[Measured]], measure: str, name: str) -> float:
    """As `ratio` to ours, of what each costs beyond reading the bytes: what a library can do well."""
    three = [[one[measure] for one in rounds[each] if measure in one] for each in (name, "ours", "bare")]
    return float(
        statistics.median((peer - bare) / (ours - bare) for peer, ours, bare in zip(*three, strict=True))
    )


def table(found: Measured) -> str:
    setting, medians = found["setting"], found["medians"]
    sizes = "{pods} pods, {updates} updates, {creates} creates; a pod is {pod_bytes} bytes of JSON"
    lines = [
        sizes.format_map(setting),
        f"Kubernetes {setting['kubernetes']}, {setting['cores']} cores",
        "; ".join(versions(name, found["libraries"][name]) for name in COLUMNS),
        "",
        "| median | " + " | ".join(COLUMNS) + " |",
        "| --- |" + " ---: |" * len(COLUMNS),
    ]
    lines += [line(row, medians) for row in ROWS]
    lines += ["", *(str(Bound(*(one[key] for key in Bound._fields))) for one in found["bounds"])]
    return "\n".join(lines)


def versions(name: str, library: Measured) -> str:
    return f"{name}: " + ", ".join(map(" ".join, library["packages"].items()))


def line(row: Row, medians: dict[str, Measured]) -> str:
    """Each value, and how many times ours it is."""
    ours = medians["ours"][row.measure]
    cells = []
    for name in COLUMNS:
        value = medians[name].get(row.measure)
        if value is None:
            cells.append("")
            continue
        times = "" if name == "ours" or not ours else f" ({value / ours:.2g}x)"
        cells.append(f"{value * row.factor:.{row.digits}f}{times}")
    return f"| {row.title} | " + " | ".join(cells) + " |"
