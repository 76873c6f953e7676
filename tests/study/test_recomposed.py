"""A config that is copied from that of another seed is the one that Hydra composes."""

import pytest
from hydra import version
from hydra._internal.utils import create_config_search_path
from hydra.core.utils import setup_globals
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from zoo.command.loader import Loader
from zoo.paths import CONF
from zoo.study.recomposed import Recomposed


def both() -> tuple[Loader, DictConfig]:
    version.setbase("1.3")
    setup_globals()
    loader = Loader(create_config_search_path(str(CONF)))
    given = ["study=norm", "hydra.launcher.n_jobs=2"]
    return loader, loader.load_configuration("train", given, RunMode.MULTIRUN)


def job(number: int, seed: int, *overrides: str) -> list[str]:
    """As a sweeper tells it to a process."""
    told = ("hydra.sweep.dir='a folder'", f"+hydra.job.env_set.ZOO_JOB='{number}'")
    return ["model=gpt2", *overrides, f"seed={seed}", "optimizer.lr=3e-3", *told]


def test_each_is_as_if_it_were_composed_anew() -> None:
    loader, master = both()
    fast = Recomposed(loader, master)
    variants: list[tuple[str, ...]] = [("model.norm.eps=1e-3",), ("model/norm=rmsnorm",)]
    for number, (seed, variant) in enumerate((seed, one) for seed in (0, 7, 2**40) for one in variants):
        given = job(number, seed, *variant)
        found, plain = fast.compose(given), loader.load_sweep_config(master, given)
        assert OmegaConf.to_yaml(found) == OmegaConf.to_yaml(plain)
        assert OmegaConf.to_container(found, resolve=True) == OmegaConf.to_container(plain, resolve=True)
        assert OmegaConf.is_struct(found)
        found.seed = found.model.d_model = -1  # it is one's own
    assert fast.kind.cache_info().misses == 2


@pytest.mark.parametrize("wrong", ["nothing=1", "hydra.nothing=1"])
def test_what_does_not_compose_is_refused(wrong: str) -> None:
    fast = Recomposed(*both())
    fast.compose(job(0, 0))
    with pytest.raises(HydraException):
        fast.compose([*job(1, 1), wrong])
