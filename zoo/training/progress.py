"""What a person sees while a run trains: a bar on a terminal, a line now and then elsewhere."""

import time
from collections import deque
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from zoo.training.loop import Step


class Display:
    """`with Display(steps=..., every=...) as display: display.update(step)`: loss, speed and time left."""

    def __init__(self, *, steps: int, start: int = 0, every: int = 10, console: Console | None = None):
        self.steps = steps
        self.every = every
        self.console = console or Console()
        self._recent: deque[tuple[float, int]] = deque(maxlen=20)
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
        self._recent.append((time.monotonic(), step.tokens))
        text = f"loss {step.loss:.4f}  lr {step.lr:.2e}  {self._speed()}"
        self._bar.update(self._task, completed=step.step, description=text)
        if not self.console.is_terminal and (step.step % self.every == 0 or step.step == self.steps):
            self.say(f"step {step.step}/{self.steps}  {text}  {self._left(step)}")

    def say(self, text: str) -> None:
        """A line of text, above the bar if there is one."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _speed(self) -> str:
        (then, before), (now, tokens) = self._recent[0], self._recent[-1]
        return f"{(tokens - before) / (now - then):,.0f} tokens/s" if now > then else ""

    def _left(self, step: Step) -> str:
        gaps = len(self._recent) - 1
        if not gaps:
            return ""
        seconds = (self._recent[-1][0] - self._recent[0][0]) / gaps * (self.steps - step.step)
        return f"{int(seconds // 60)}:{int(seconds % 60):02d} left"
