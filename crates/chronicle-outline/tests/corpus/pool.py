#!/usr/bin/env python3
"""A pool."""
import functools

LIMIT = 8
names: list[str] = []


# Keeps connections.
@dataclass(frozen=True)
class Pool(Base, metaclass=Meta):
    """A pool."""

    size: int = 3

    # Takes one.
    @functools.cache
    @property
    def acquire(
        self,
        wait: bool = True,
    ) -> int:
        """Doc."""
        def inner():
            pass
        return 1

    @staticmethod
    async def open(path): ...

    class Meta:
        def deep(self): pass


async def stream():
    yield 1


def decorate(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper


double = lambda x: x * 2

if True:
    def conditional(): pass
