"""What is wrong with an object: a path to the field and a sentence a person can act on."""

from typing import NamedTuple

Path = tuple[str | int, ...]


class Problem(NamedTuple):
    path: Path
    message: str

    @property
    def field(self) -> str:
        """The path as people write it: `spec.worker.template.spec.containers[0].name`."""
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.lstrip(".") or "(document)"

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"
