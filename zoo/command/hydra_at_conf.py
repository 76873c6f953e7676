"""Hydra, ready to compose the configs of this project."""

from collections.abc import Iterator
from contextlib import contextmanager

from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from zoo.paths import CONF


@contextmanager
def hydra_at_conf() -> Iterator[None]:
    """Within the block Hydra composes what lies in `conf/`. It has one application at a time in a process: the present
    one is set aside."""
    present, GlobalHydra.instance().hydra = GlobalHydra.instance().hydra, None
    try:
        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            yield
    finally:
        GlobalHydra.instance().hydra = present  # the instance may be another one than above
