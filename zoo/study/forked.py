"""The launcher of Hydra that comes with the zoo: jobs in forks of one process that has imported what they need."""

import pickle
import runpy
import sys
from collections.abc import Callable, Sequence
from functools import cache
from inspect import getfile, unwrap
from typing import Any, TypeVar, cast

from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, run_job, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from zoo import sweep
from zoo.errors import UserError
from zoo.study.forks import Forks, WorkerLostError
from zoo.study.launching import raise_unnoted
from zoo.study.order import LongestFirst
from zoo.study.recomposed import Recomposed
from zoo.training.record import cores

Result = TypeVar("Result")


class ForkedLauncher(Launcher):
    """Contract of Hydra's: `setup`, then `launch(overrides of each job)`. `prepare` may be called before, so that the
    process makes ready meanwhile, and `close` at the end."""

    def __init__(self, n_jobs: int):
        self.n_jobs = n_jobs
        self._forks: Forks | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """The function is that of a command: what its script names so is the command around it. Raises UserError where
        a process that has imported torch cannot be forked safely."""
        if sys.platform != "linux":
            raise UserError(
                "hydra/launcher=forked needs Linux; choose hydra/launcher=basic, one job after another, or joblib"
                " (pip install -e '.[sweep]')"
            )
        self.shared = hydra_context, config, (getfile(unwrap(task_function)), task_function.__name__)

    @property
    def forks(self) -> Forks:
        """Made when they are first asked for."""
        if self._forks is None:
            self._forks = Forks(max(1, cores() // self.n_jobs))
        return self._forks

    def prepare(self) -> None:
        """Start the process."""
        assert self.forks

    def ask(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function there, so that this process need not import what it does; once more, where the process was
        killed at it."""
        calls = [(function, arguments)]
        try:
            (found,) = self.forks.run(calls, 1)
        except WorkerLostError:
            (found,) = self.forks.run(calls, 1)
        return cast(Result, found)

    def close(self) -> None:
        """End it."""
        if self._forks is not None:
            self._forks.close()
            self._forks = None

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run the jobs. Raises what a job raised and did not note, and WorkerLostError when its process was killed."""
        shared = pickle.dumps((*self.shared, Singleton.get_state()["instances"]))
        jobs = enumerate(job_overrides, start=initial_job_idx)
        calls = [(do_job, (shared, number, list(overrides))) for number, overrides in jobs]
        self.forks.run(calls, self.n_jobs, LongestFirst(job_overrides, sweep.folder()))
        return []


@cache
def _loaded(shared: bytes) -> tuple[HydraContext, Recomposed, TaskFunction]:
    """What all jobs of a launch have in common, in a process that has it yet to load."""
    context, config, (script, name), instances = pickle.loads(shared)
    setup_globals()
    Singleton.set_state({**Singleton.get_state(), "instances": instances})
    return context, Recomposed(context.config_loader, config), runpy.run_path(script)[name].__wrapped__


def do_job(shared: bytes, number: int, overrides: list[str]) -> None:
    """Compose and run one job, in a fork. Raises what it raised."""
    context, configs, function = _loaded(shared)
    composed = configs.compose(overrides)
    with open_dict(composed):
        composed.hydra.job.id = f"{composed.hydra.job.name}_{number}"
        composed.hydra.job.num = number
    HydraConfig.instance().set_config(composed)
    done = run_job(
        hydra_context=context,
        config=composed,
        task_function=function,
        job_dir_key="hydra.sweep.dir",
        job_subdir_key="hydra.sweep.subdir",
    )
    raise_unnoted(done)
