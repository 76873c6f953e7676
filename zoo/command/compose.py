"""Compose a config as the command line would."""

from collections.abc import Sequence

from hydra.errors import HydraException
from omegaconf import DictConfig

from zoo.command.hydra_errors import refusal
from zoo.command.loader import compose_at_conf
from zoo.command.words import refuse_absent_folders
from zoo.errors import UserError


def compose(overrides: Sequence[str], config: str = "train") -> DictConfig:
    """The config that `python train.py <overrides>` would run with. Raises UserError for what it would refuse; but of
    two values of one key the later counts, so that a list can be laid over another. Inside a running Hydra app, that
    app is left as it was."""
    refuse_absent_folders(overrides)
    try:
        return compose_at_conf(config, list(overrides))
    except (HydraException, ValueError) as error:
        message = refusal(error, config, overrides)
        if message is None:
            raise
        raise UserError(message) from error
