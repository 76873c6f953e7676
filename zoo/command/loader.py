"""What composes the configs of `conf/`: Hydra's loader, which sees to it that presets only choose."""

from collections.abc import Iterator
from typing import Any

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import IConfigRepository
from hydra._internal.utils import create_config_search_path
from hydra.core.default_element import ResultDefault
from hydra.core.utils import setup_globals
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict

from zoo.command.groups import refuse_no_option
from zoo.errors import UserError
from zoo.families import GROUPS, choosing, group_of, part_at
from zoo.paths import CONF


class Loader(ConfigLoaderImpl):
    """Hydra's own, but a value meant for one part must not act on another: it raises UserError that names the file, or
    the override, and the value.

    A preset or study file chooses options; a value that it writes inside a part would stay behind, and act, when that
    part is swapped for another with the same key. An option file sets the values of its own part. And an override of a
    part's name would put another part to the values of the one before, as would a list of options.
    """

    def load_configuration(
        self, config_name: str | None, overrides: list[str], run_mode: RunMode, *arguments: Any, **keys: Any
    ) -> DictConfig:
        """Hydra's, without leaks by an override. Of a sweep its jobs are looked at, each by itself."""
        of_a_job = overrides if run_mode is RunMode.RUN else []
        for override in of_a_job:
            refuse_no_option(override, config_name or "train", overrides)
        composed = super().load_configuration(config_name, overrides, run_mode, *arguments, **keys)
        for override in of_a_job:
            _refuse_name(override)
        _refuse_verbose(composed.hydra.verbose)
        return composed

    def _compose_config_from_defaults_list(self, defaults: list[ResultDefault], repo: IConfigRepository) -> DictConfig:
        """Hydra's, of files without leaks: here their list is at hand, which takes as long as all the rest to make."""
        for default in defaults:
            _refuse_leaks(default, repo)
        return super()._compose_config_from_defaults_list(defaults, repo)


def _refuse_leaks(default: ResultDefault, repo: IConfigRepository) -> None:
    """Raise UserError for a value that a file sets inside a part that is not its own."""
    path, package = default.config_path, default.package or ""
    if path is None or path.partition("/")[0] == "hydra":
        return
    group = path.rpartition("/")[0]
    if group in GROUPS and (own := part_at(package)) is not None and group_of(own) == group:
        return
    file = repo.load_config(path)
    assert file is not None  # it is in the list
    for key in _inside_parts(OmegaConf.to_container(file.config), package):
        raise UserError(
            f"{path}.yaml sets {key}, a value inside a part: it would leak into another part chosen in its place;"
            " write an option file with that value and choose it, or give the value on the command line"
        )


def _refuse_name(override: str) -> None:
    key, _, value = override.lstrip("+~").partition("=")
    if key.endswith(".name") and part_at(key.removesuffix(".name")) is not None:
        raise UserError(
            f"{key} would put another part to the values of the one that is chosen; choose it with"
            f" {choosing(key.removesuffix('.name'))}={value}"
        )


def _refuse_verbose(said: Any) -> None:
    """Raise UserError for what Hydra does not take: it would end in an assertion."""
    names = said if isinstance(said, ListConfig) else [said]
    if not isinstance(said, bool) and not all(isinstance(one, str) for one in names):
        raise UserError(f"hydra.verbose must be true, false, or the names of loggers, as in [zoo,hydra]; got {said}")


def _inside_parts(content: Any, at: str) -> Iterator[str]:
    """Keys that the content sets inside a part, when it stands at that package."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _inside_parts(value, f"{at}.{key}" if at else str(key))
    elif (part := part_at(at)) is not None and at != part:
        yield at


def compose_at_conf(config: str, overrides: list[str]) -> DictConfig:
    """The named config of `conf/`, without Hydra's own. A running Hydra app is left as it is. Raises Hydra's errors."""
    version.setbase("1.3")
    setup_globals()
    loader = Loader(create_config_search_path(str(CONF)))
    composed = loader.load_configuration(config, overrides, RunMode.RUN, from_shell=False)
    with open_dict(composed):
        del composed.hydra
    return composed
