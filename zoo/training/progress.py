"""What a person sees while a run trains: a bar on a terminal, a line now and then elsewhere."""

from collections import deque
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from zoo.training.loop import Step


class Display:
    """`with Display(steps=..., start=..., every=...) as display: display.update(step)`: loss, speed and time left. The
    speed is that of metrics.jsonl, positions per second of training, over the last steps; `start` are the steps made
    before."""

    def __init__(self, *, steps: int, start: int, every: int, console: Console | None = None):
        self.steps = steps
        self.every = every
        self.console = console or Console()
        self._recent: deque[Step] = deque(maxlen=20)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self.console, disable=not self.console.is_terminal)
        self._task = self._bar.add_task("", total=steps, completed=start)

    def __enter__(self) -> "Display":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, step: Step) -> None:
        """Show the step; without a terminal, as a plain line when its number is a multiple of `every`, or the last."""
        self._recent.append(step)
        if self.console.is_terminal:
            self._bar.update(self._task, completed=step.step, description=self._text(step))
        elif step.step % self.every == 0 or step.step == self.steps:
            self.say(f"step {step.step}/{self.steps}  {self._text(step)}  {self._left(step)}")

    def say(self, text: str) -> None:
        """A line of text, above the bar if there is one."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _text(self, step: Step) -> str:
        loss = "—" if step.loss is None else f"{step.loss:.4f}"
        return f"loss {loss}  lr {step.lr:.2e}  {self._speed():,.0f} tokens/s"

    def _speed(self) -> float:
        return sum(one.positions for one in self._recent) / self._seconds()

    def _seconds(self) -> float:
        return max(sum(one.seconds for one in self._recent), 1e-9)

    def _left(self, step: Step) -> str:
        seconds = self._seconds() / len(self._recent) * (self.steps - step.step)
        return f"{int(seconds // 60)}:{int(seconds % 60):02d} left"
