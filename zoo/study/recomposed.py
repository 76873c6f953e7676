"""Configs of jobs that come one after another, each kind of job composed once: Hydra takes 0.15 s for one, a copy and
the values of a seed a tenth of that."""

from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache

from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from zoo.command.overrides import key_of, of_the_job

KINDS = 64
"""So many kinds of job are remembered; a config has half a megabyte."""


class Recomposed:
    """`compose(overrides)` is `loader.load_sweep_config(master, overrides)`; jobs whose overrides differ only in which
    job they are, as the seed, are of one kind."""

    def __init__(self, loader: ConfigLoader, master: DictConfig):
        self.loader, self.master = loader, master
        self.kind = lru_cache(KINDS)(self._load)

    def _load(self, overrides: tuple[str, ...]) -> DictConfig:
        return self.loader.load_sweep_config(self.master, list(overrides))

    def compose(self, overrides: Sequence[str]) -> DictConfig:
        """The config of a job. Raises Hydra's errors."""
        config = deepcopy(self.kind(tuple(one for one in overrides if not of_the_job(key_of(one)))))
        parsed = OverridesParser.create().parse_overrides(list(overrides))
        own = [one for one in parsed if of_the_job(one.get_key_element().lstrip("+~"))]
        ConfigLoaderImpl._apply_overrides_to_config(own, config)
        told = config.hydra.overrides
        task = [one for one in parsed if not one.is_hydra_override()]
        told.task = [one.input_line for one in task]
        told.hydra.extend([one.input_line for one in own if one.is_hydra_override()])
        form = config.hydra.job.config.override_dirname
        config.hydra.job.override_dirname = get_overrides_dirname(task, form.exclude_keys, form.item_sep, form.kv_sep)
        return config
