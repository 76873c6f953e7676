"""Hydra finds its plugins in this namespace package; the sweeper itself is `zoo.study.sweeper`."""

from zoo.study import sweeper


class ZooSweeper(sweeper.StudySweeper):
    """`hydra/sweeper=zoo`."""
