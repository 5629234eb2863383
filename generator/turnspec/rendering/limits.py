"""What one template may take before it is refused: time, memory and renderings."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

_GIGABYTE = 1024**3


@dataclass(frozen=True, slots=True)
class Limits:
    """One template's budget, for all that is done with it together.

    ``seconds`` of time, where nothing else runs; ``memory`` in bytes, of each process that works
    on it; ``renderings`` that its analysis may ask for. The reference templates need about 3 s and
    500 renderings.
    """

    seconds: float = 30.0
    memory: int = 2 * _GIGABYTE
    renderings: int = 5_000

    @property
    def wait(self) -> float:
        """How long to wait: ``seconds``, as many times longer as processes share a core now."""
        return self.seconds * max(1.0, _running() / (os.cpu_count() or 1))

    @property
    def too_slow(self) -> str:
        """What is said of a template that takes longer."""
        return f"took longer than {self.seconds:g} s (--time-limit allows more)"

    @property
    def too_big(self) -> str:
        """What is said of one that takes more memory."""
        return f"needs more than {self.memory / _GIGABYTE:g} GB of memory"


#: The budget of a template for which nobody chose another.
USUAL_LIMITS = Limits()


def _running() -> float:
    """Return how many processes want to run, by the last minute; 0 where no system counts them."""
    with contextlib.suppress(AttributeError, OSError):  # not on every platform
        return os.getloadavg()[0]
    return 0.0


def limit_memory(size: int) -> None:
    """Let this process take no more than ``size`` bytes, where the system can see to that."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on every platform
        import resource

        # Address space would count what threads only reserve.
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
