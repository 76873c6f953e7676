"""Compose a config as the command line would, from Python."""

from collections.abc import Sequence

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from omegaconf import DictConfig

from zoo.paths import CONF


def compose(overrides: Sequence[str], config: str = "train") -> DictConfig:
    """The config that `python train.py <overrides>` would run with."""
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        return hydra_compose(config_name=config, overrides=list(overrides))
