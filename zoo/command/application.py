"""A command whose config Hydra composes once.

`hydra.main` composes it twice, the first time only to see whether it is a sweep. That took a fifth of the time of a
small run.
"""

import os
from argparse import Namespace
from collections.abc import Callable
from functools import wraps
from inspect import getfile, unwrap

import hydra
from hydra._internal.callbacks import Callbacks
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_automatic_config_search_path, get_args_parser
from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.utils import run_job
from hydra.errors import HydraException, SearchPathException
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig

from zoo.command.flags import refuse_flags
from zoo.command.loader import Loader
from zoo.command.look import look
from zoo.paths import CONF

ANSWERS = ("shell_completion", "hydra_help", "help", "experimental_rerun")
"""The flags that Hydra answers all by itself: nothing that is composed could be refused."""


def application(config_name: str) -> Callable[[TaskFunction], Callable[[], None]]:
    """`hydra.main` of a config of `conf/`, with the same flags; what is composed is refused where it leaks."""

    def decorate(function: TaskFunction) -> Callable[[], None]:
        answer = hydra.main(version_base="1.3", config_path=str(CONF), config_name=config_name)(function)

        @wraps(function)
        def call() -> None:
            said = get_args_parser().parse_intermixed_args()  # a flag may stand between overrides
            refuse_flags(said)
            if any(getattr(said, flag) for flag in ANSWERS):
                answer()
                return
            name = said.config_name or config_name
            app = Hydra(name, Loader(_search_path(function, said)))
            GlobalHydra.instance().initialize(app)
            try:
                if said.cfg or said.info:
                    look(app, name, said)
                else:
                    _run(app, name, function, said)
            finally:
                GlobalHydra.instance().clear()

        return call

    return decorate


def _run(app: Hydra, config_name: str, function: TaskFunction, said: Namespace) -> None:
    overrides = [*said.overrides, "hydra.mode=MULTIRUN"] if said.multirun else said.overrides
    config = None if said.multirun else _of_one_run(app, config_name, overrides)
    if config is None:
        app.multirun(config_name, function, overrides)
    else:
        _run_once(app, config_name, function, config)


def _search_path(function: TaskFunction, said: Namespace) -> ConfigSearchPath:
    """Where configs are looked for."""
    path = create_automatic_config_search_path(getfile(unwrap(function)), None, said.config_path or str(CONF))
    if said.config_dir is not None:
        folder = os.path.abspath(said.config_dir)
        if not os.path.isdir(folder):
            raise SearchPathException(f"Additional config directory '{folder}' not found")
        path.prepend("command-line", f"file://{folder}", SearchPathQuery(provider="schema"))
    return path


def _of_one_run(app: Hydra, config_name: str, overrides: list[str]) -> DictConfig | None:
    """The config of a run; None when it says itself that it is a sweep, as a study does."""
    try:
        config = app.compose_config(config_name, overrides, RunMode.RUN, with_log_configuration=True)
    except HydraException:
        if app.get_mode(config_name, overrides) is not RunMode.MULTIRUN:  # several values are no mistake in a sweep
            raise
        return None
    return None if config.hydra.mode is RunMode.MULTIRUN else config


def _run_once(app: Hydra, config_name: str, function: TaskFunction, config: DictConfig) -> None:
    config.hydra.mode = RunMode.RUN
    callbacks = Callbacks(config)
    callbacks.on_run_start(config=config, config_name=config_name)
    context = HydraContext(config_loader=app.config_loader, callbacks=callbacks)
    done = run_job(function, config, job_dir_key="hydra.run.dir", job_subdir_key=None, hydra_context=context)
    callbacks.on_run_end(config=config, config_name=config_name, job_return=done)
    done.return_value  # noqa: B018  raises what the job raised
