"""The sweeper of Hydra that runs studies: what the command says becomes a plan, the plan goes to a launcher."""

import logging
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from filelock import Timeout
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

from zoo import sweep
from zoo.command.groups import refuse_several
from zoo.command.hydra_errors import refusal
from zoo.command.overrides import key_of, merge, seeds_of, values_of, write_value
from zoo.config import plain
from zoo.errors import UserError
from zoo.lock import lock_at
from zoo.schema import convert
from zoo.study.composed import Ask, call, refuse_unsound
from zoo.study.forked import ForkedLauncher
from zoo.study.launching import Stopping, launch_all, raise_unnoted
from zoo.study.plan import Job, Plan
from zoo.study.spec import Study, parse_study
from zoo.study.tuned import best_tuning, ended, mean_losses, tell_tuning
from zoo.study.unnamed import unnamed_study
from zoo.study.watch import Watch
from zoo.sweep.notes import STOP, end_running, renumber, stopped, write_study
from zoo.sweep.worker import LAUNCHER, this_process
from zoo.training.record import cores


class StudySweeper(Sweeper):
    """Contract of Hydra's: `setup`, then `sweep(arguments)`."""

    hydra_context: HydraContext
    config: DictConfig
    launcher: Launcher

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Make the launcher. Each of several jobs side by side gets its share of the cores."""
        for talker in ("hydra", "hydra_plugins"):  # the launchers tell each job at length
            logging.getLogger(talker).setLevel(logging.WARNING)
        self.hydra_context, self.config = hydra_context, config
        self.share: list[str] = []
        launcher = config.hydra.launcher
        if "n_jobs" in launcher:
            side_by_side = convert(launcher.n_jobs, int, "hydra.launcher.n_jobs")
            if side_by_side < 1 and side_by_side != -1:
                raise UserError(
                    f"hydra.launcher.n_jobs={side_by_side} must be at least 1, or -1 for one job on each core"
                )
            with open_dict(launcher):
                launcher.n_jobs = cores() if side_by_side == -1 else side_by_side
            self.share = [f"runtime.threads={max(1, cores() // launcher.n_jobs)}"]
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Run the study, or say what it would be. Raises UserError before anything is written, when a job does not
        compose, and KeyboardInterrupt after an interruption."""
        dry = self._said("dry_run")
        if isinstance(self.launcher, ForkedLauncher) and not dry:
            with closing(self.launcher):
                self.launcher.prepare()
                self._sweep(arguments, dry, self.launcher.ask)
        else:
            self._sweep(arguments, dry, call)

    def _sweep(self, arguments: list[str], dry: bool, ask: Ask) -> None:
        plan = self._plan(arguments)
        first = plan.first()
        alike = (one for one in first if one.seed == plan.study.seeds[0])
        refuse_unsound(plan.study, ((one, plain(self._composed(plan, one))) for one in alike), ask)
        if dry:
            from zoo.study.dry_run import dry_run  # torch is imported here

            HydraConfig.instance().set_config(self.config)
            return dry_run(plan, self._compose, self.config.hydra.launcher.get("n_jobs", 1))
        root = sweep.folder()
        if root is None:
            out = self.config.out
            raise UserError(
                f"out={out}: no folder for this sweep can be made there; set out= to one that can be written"
            )
        try:
            with lock_at(root / ".lock").acquire(timeout=0):
                self._run(plan, first, root)
        except Timeout:
            raise UserError(
                f"another process runs {root} now; wait for it, or choose another folder with out="
            ) from None

    def _plan(self, arguments: Sequence[str]) -> Plan:
        """The study of `study=`, or the one that a sweep with -m is."""
        for one in arguments:
            for value in values_of(one):
                refuse_several(value)
        self._said("fail_fast")
        name = self.config.hydra.runtime.choices.get("study")
        given = [one for one in arguments if key_of(one).split(".")[0] not in ("study", "dry_run")]
        if name is None:
            study, shared = unnamed_study(given)
        else:
            study, shared = self._named(str(name), given)
        share = [] if any(key_of(one) == "runtime.threads" for one in (*study.fixed, *shared)) else self.share
        return Plan(study, merge(share, shared))

    def _named(self, name: str, given: Sequence[str]) -> tuple[Study, list[str]]:
        """The study of that name; `seed=` on the command line are its seeds, other overrides are for all its runs."""
        node = plain(OmegaConf.create({"study": self.config.study}))["study"]
        shared = []
        for one in given:
            values = values_of(one)
            if key_of(one) == "seed":
                node["seeds"] = seeds_of(values)
                node["tuning_seeds"] = min(node["tuning_seeds"], len(node["seeds"]))
            elif len(values) > 1:
                hint = " (did you mean seed?)" if key_of(one) == "seeds" else ""
                raise UserError(
                    f"'{one}'{hint}: study={name} lists its variants itself; only seed can be swept beside it"
                )
            else:
                shared.append(one)
        study = parse_study(node, name)
        varied = {key_of(one) for variant in study.variants for one in variant.overrides} | set(study.tuning)
        for one in shared:
            if key_of(one) in varied:
                raise UserError(f"'{one}': study={name} varies it; leave it out")
        return study, shared

    def _said(self, key: str) -> bool:
        """A truth value of the command."""
        return bool(convert(self.config[key], bool, key))

    def _composed(self, plan: Plan, job: Job) -> DictConfig:
        """The config of a job. Raises UserError that names the variant where it is one of a study that has a name, and
        the others compose without its overrides; else Hydra's errors."""
        try:
            return self._compose(job.overrides)
        except HydraException as error:
            own = plan.study.variant(job.variant).overrides
            said = refusal(error, "train", job.overrides)
            if said is None or self.config.hydra.runtime.choices.get("study") is None:
                raise
            self._compose([one for one in job.overrides if one not in own])
            raise UserError(f"variant '{job.variant}' of study={plan.study.name}: {said}") from error

    def _compose(self, overrides: Sequence[str]) -> DictConfig:
        """The config of a job. Raises Hydra's errors."""
        loader = self.hydra_context.config_loader
        config = loader.load_sweep_config(master_config=self.config, sweep_overrides=list(overrides))
        with open_dict(config):
            del config.hydra
        return config

    def _run(self, plan: Plan, first: list[Job], root: Path) -> None:
        """Both phases. The study's file is written before each, with the jobs that are known by then: where an earlier
        start had come to the end of the first phase, those of the second too."""
        sweep.take(root)
        command = shlex.join(["python", "train.py", *sys.argv[1:]])
        (root / STOP).unlink(missing_ok=True)
        later = len(plan.second({one.name: {} for one in plan.study.variants}, 0))
        known = self._second(plan, first, root) if later and ended(first, root) else []
        self._write(plan, command, [*first, *known], root)
        interrupted = KeyboardInterrupt(f"interrupted; go on with: {command}")
        try:
            with Stopping(root) as stopping:
                self._launch(first, root, len(first) + later, 0)
                if later and not stopped(root):
                    second = self._second(plan, first, root, tell=True)
                    self._write(plan, command, [*first, *second], root)
                    self._launch(second, root, len(first) + len(second), len(first))
        except KeyboardInterrupt:
            end_running(root)
            raise interrupted from None
        if stopping.asked:
            end_running(root)
            raise interrupted

    def _second(self, plan: Plan, first: Sequence[Job], root: Path, tell: bool = False) -> list[Job]:
        """The jobs of the second phase, from what those of the first came to."""
        losses = mean_losses(first, root)
        best = best_tuning(plan.study, losses)
        if tell:
            tell_tuning(losses, best)
        return plan.second(best, len(first))

    def _write(self, plan: Plan, command: str, jobs: Sequence[Job], root: Path) -> None:
        """The study's file, and the notes that there are by the numbers of these jobs."""
        renumber(root, {job.overrides: job.job for job in jobs})
        write_study(root, plan.as_dict(command, jobs))

    def _launch(self, jobs: Sequence[Job], root: Path, total: int, done: int) -> None:
        def launch(some: Sequence[Job]) -> None:
            for one in self.launcher.launch([self._told(job, root) for job in some], 0):
                raise_unnoted(one)

        with Watch(root, jobs, total, done, self.config.hydra.launcher.get("n_jobs", 1)):
            launch_all(launch, jobs, root)

    def _told(self, job: Job, root: Path) -> list[str]:
        """The overrides of a job as its process needs them: with where it belongs."""
        told = {sweep.VARIABLE: str(root), sweep.NUMBER: str(job.job), LAUNCHER: this_process()}
        return [
            *job.overrides,
            f"hydra.sweep.dir={write_value(str(root))}",
            *(f"+hydra.job.env_set.{name}={write_value(value)}" for name, value in told.items()),
            *([f"fail_fast={write_value(self.config.fail_fast)}"] if self.config.fail_fast else []),
        ]
