"""What a command would do, shown instead of done."""

from argparse import Namespace

from hydra._internal.hydra import Hydra
from hydra.types import RunMode


def look(app: Hydra, config_name: str, said: Namespace) -> None:
    """Answer `--cfg` or `--info` as Hydra does, but refuse what a run would refuse."""
    if said.info:  # some of it shows what leads to a config and composes none
        app.compose_config(config_name, said.overrides, RunMode.RUN, with_log_configuration=False)
        app.show_info(said.info, config_name, said.overrides)
        return
    try:
        app.show_cfg(config_name, said.overrides, said.cfg, said.package, said.resolve)
    except SystemExit:  # Hydra has said that there is no such package
        raise SystemExit(2) from None
