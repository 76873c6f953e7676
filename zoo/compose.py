"""Compose a config as the command line would, and see to it that presets only choose."""

from collections.abc import Iterator, Sequence

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from zoo.errors import UserError
from zoo.families import AXES, FAMILY_PACKAGES
from zoo.hydra_errors import translate
from zoo.paths import CONF

GROUPS = {f"model/{family}" if family in AXES else family for family in FAMILY_PACKAGES}
"""Folders of option files: only these may set a value inside a part."""


def compose(overrides: Sequence[str], config: str = "train") -> DictConfig:
    """The config that `python train.py <overrides>` would run with. Raises UserError for what it would refuse."""
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        try:
            composed = hydra_compose(config_name=config, overrides=list(overrides))
            refuse_values_in_presets(overrides, config)
        except HydraException as error:
            raise UserError(translate(str(error))) from error
    return composed


def refuse_values_in_presets(overrides: Sequence[str], config: str = "train") -> None:
    """A preset or study file chooses options; a value that it writes inside a part would stay behind, and act, when
    that part is swapped for another with the same key. Raises UserError that names the file and the value.

    Called where Hydra is at hand: inside a job, or inside `initialize_config_dir`.
    """
    hydra = GlobalHydra.instance()
    loader = hydra.config_loader()
    defaults = loader.compute_defaults_list(config, list(overrides), RunMode.RUN).defaults
    repository = loader.repository  # type: ignore[attr-defined]  # of the one implementation there is
    for default in defaults:
        path = default.config_path
        if path is None or path.startswith("hydra/") or path.rpartition("/")[0] in GROUPS:
            continue
        loaded = repository.load_config(path)
        for key in _inside_parts(loaded.config, default.package or ""):
            raise UserError(
                f"{path}.yaml sets {key}, a value inside a part: it would leak into another part chosen in its place;"
                " write an option file with that value and choose it, or give the value on the command line"
            )


def _inside_parts(content: DictConfig, package: str) -> Iterator[str]:
    """Keys that the content sets inside a part, when it stands at that package."""
    parts = {f"model.{axis}" for axis in (*AXES, "cross")} | {
        family for family in FAMILY_PACKAGES if family not in AXES
    }

    def walk(node: object, at: str) -> Iterator[str]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value, f"{at}.{key}" if at else str(key))
        elif any(at.startswith(f"{part}.") for part in parts):
            yield at

    yield from walk(OmegaConf.to_container(content), package)
