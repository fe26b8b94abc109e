"""How long to wait before the next try: doubling, bounded, and never the same for two."""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    first: float
    most: float
    jitter: float = 0.2  # of the delay, up or down, so that many who failed together do not return together
    rng: random.Random = field(default_factory=random.Random)
    tries: int = 0

    def next(self) -> float:
        delay = min(self.first * 2.0**self.tries, self.most)
        self.tries = min(self.tries + 1, 60)
        return delay * self.rng.uniform(1 - self.jitter, 1 + self.jitter)

    def reset(self) -> None:
        self.tries = 0
