"""How many examples a property is tried with: few and always the same in `make test`, many in `make soak`."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("test", max_examples=200, derandomize=True, deadline=None)
settings.register_profile(
    "soak", max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
