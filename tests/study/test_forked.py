"""Jobs in forks: what one raises and did not note comes back to the launcher; where none can be had, that is said."""

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hydra._internal.callbacks import Callbacks
from hydra.core.hydra_config import HydraConfig
from hydra.types import HydraContext
from omegaconf import DictConfig

from tests.study.test_recomposed import both, job
from zoo.errors import UserError
from zoo.study import forked
from zoo.study.forks import WorkerLostError
from zoo.study.recomposed import Recomposed


def test_what_a_job_raises_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loader, master = both()

    def function(config: DictConfig) -> None:
        raise OSError(f"no space left for seed {config.seed}")

    context = HydraContext(config_loader=loader, callbacks=Callbacks())
    monkeypatch.setattr(forked, "_loaded", lambda shared: (context, Recomposed(loader, master), function))
    monkeypatch.setattr(HydraConfig.instance(), "cfg", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="no space left for seed 7"):
        forked.do_job(b"", 3, job(3, 7))
    assert capsys.readouterr().err == ""  # it is told by the launcher


def test_what_is_asked_of_a_process_that_is_killed_is_asked_of_another(tmp_path: Path) -> None:
    """As where memory is short while it imports what a run needs."""
    once = f"""(lambda path, os: os.path.exists(path) or os.mkdir(path) or os.kill(os.getppid(), 9)
        or __import__('time').sleep(1))('{tmp_path}/once', __import__('os'))"""
    with closing(forked.ForkedLauncher(1)) as launcher:
        assert launcher.ask(eval, once) is True
        with pytest.raises(WorkerLostError):
            launcher.ask(os._exit, 9)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_off_linux_another_launcher_is_named(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    loader, master = both()
    context = HydraContext(config_loader=loader, callbacks=Callbacks())
    launcher = forked.ForkedLauncher(2)
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(UserError, match="needs Linux; choose hydra/launcher=basic"):
        launcher.setup(hydra_context=context, task_function=print, config=master)
