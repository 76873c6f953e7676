"""Hydra finds its plugins in this namespace package; the launcher itself is `zoo.study.forked`."""

from zoo.study import forked


class ZooLauncher(forked.ForkedLauncher):
    """`hydra/launcher=forked`."""
