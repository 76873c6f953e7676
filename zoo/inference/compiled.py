"""A decoding step as one compiled program: no Python, no checks and no dispatch between its operations."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary, ref

import torch
from jaxtyping import Int
from torch import Tensor, nn

from zoo.bare import bare
from zoo.errors import UserError
from zoo.history import History
from zoo.inference.forecast import Forecast
from zoo.inference.joint import joined
from zoo.inference.packed import free_after, packed, refresh
from zoo.inference.quiet import quiet
from zoo.mixer.one_query import one_query
from zoo.model import Model
from zoo.sequence import Sequence
from zoo.state import Memory, ModelState, State
from zoo.topology import Text

OPTIONS = {
    "aot_inductor.package_constants_in_so": False,  # weights stay the copy's own
    "cpp.enable_floating_point_contract_flag": "fast",  # a · b + c is one operation, rounded once
    "realize_opcount_threshold": 8,  # the angles of a rotation are kept for all layers; the root in a norm is not
}
"""What the compiler is told."""

LEAST = 2
"""Lengths below are no sizes to a compiler but constants."""

Program = Callable[[list[Tensor]], list[Tensor]]
"""Tokens, mark and the tensors of a state in, a forecast out."""


class CompiledStep:
    """`step(tokens, state)`: what comes after one more token (B,) of every row; the state goes on by one position.

    It is compiled ahead of time for one number of rows, and serves every length and capacity, also of a source: lengths
    are sizes of arguments, so none is compiled anew. The states' tensors are its arguments too, and are written in
    place. Weights are a copy, which lies as the products read it fastest.

    `CompiledStep.of(model, state)` makes one, or hands out that which was made for the like before, with the weights
    that the model has now.

    Raises UserError for a step that torch cannot compile, and where there is no compiler for C++.
    """

    _made: ClassVar[WeakKeyDictionary[Model, dict[Any, "CompiledStep"]]] = WeakKeyDictionary()

    @classmethod
    def of(cls, model: Model, state: ModelState) -> "CompiledStep":
        """One compiled program per model and kind of state; it takes some twenty seconds to make."""
        model = bare(model)
        made = cls._made.setdefault(model, {})
        key = _kind(state)
        if key in made:
            refresh(made[key].packed, model)
        else:
            made[key] = cls(model, state)
        return made[key]

    @staticmethod
    def serves(state: ModelState) -> bool:
        """Whether the state holds enough to go on from; a first token or two have to be read without."""
        read = LEAST if state.memory is None else state.memory.states.shape[1]
        return min(state.history.length, read) >= LEAST

    def __init__(self, model: Model, state: ModelState):
        self.model = ref(model)
        self.limit = model.limit
        self.rows, self.device = len(state.history.positions), state.history.positions.device
        self._refuse(state)
        self._marks: dict[int, Tensor] = {}
        self.packed = packed(model)
        tokens, mark, tensors = _arguments(state)
        with joined(self.packed):
            _Step(self.packed, state)(tokens, mark, [one.clone() for one in tensors])
        self._program, self._weights = _compiled(self.packed, state)
        free_after(self, self.packed)

    def __call__(self, tokens: Int[Tensor, " B"], state: ModelState) -> Forecast:
        if len(tokens) != self.rows:
            raise UserError(f"this step was compiled for {self.rows} rows, not for {len(tokens)}")
        self._refuse(state)
        length = state.history.length
        if length + 1 > state.history.capacity:
            raise UserError(f"{length} positions are kept, and there is room for {state.history.capacity} only")
        if self.limit is not None and state.history.furthest() + 1 > self.limit:
            raise UserError(
                f"{state.history.furthest()} positions are kept, and there is a place for {self.limit} only"
            )
        forecast = Forecast(*self._program([tokens, self._mark(length), *_tensors(state)]))
        state.advance(1)
        return forecast

    def _mark(self, length: int) -> Tensor:
        """An empty tensor whose size says how much is held."""
        if length not in self._marks:
            self._marks[length] = torch.empty(length, 0, device=self.device)
        return self._marks[length]

    def _refuse(self, state: ModelState) -> None:
        if state.model() is not self.model():
            raise UserError("this state belongs to another model; make one with model.start(rows, capacity)")
        if not self.serves(state):
            raise UserError(
                f"a compiled step goes on from at least {LEAST} positions, and reads a source of as many; generate"
                " without it"
            )


def _kind(state: ModelState) -> tuple[Any, ...]:
    """What a program is made for: kinds, devices, dtypes and sizes of the tensors, but for the capacity, and the
    switches."""
    tensors = (
        (
            type(holder),
            name,
            one.device,
            one.dtype,
            *(size for axis, size in enumerate(one.shape) if axis != holder.growing.get(name)),
        )
        for holder, name, one in _attributes(state)
    )
    switches = (value for holder in state.holders() for value in vars(holder).values() if isinstance(value, bool))
    return (*tensors, *switches)


def _attributes(state: ModelState) -> Iterator[tuple[History | Memory | State, str, Tensor]]:
    """Every tensor that the history, the memory or a state of a layer holds."""
    for holder in state.holders():
        for name, one in vars(holder).items():
            if isinstance(one, Tensor):
                yield holder, name, one


def _tensors(state: ModelState) -> list[Tensor]:
    return [one for holder in state.holders() for one in vars(holder).values() if isinstance(one, Tensor)]


class _Step(nn.Module):
    """The step as a function of tensors alone."""

    def __init__(self, model: Model, state: ModelState):
        super().__init__()
        self.model, self.state = model, state

    def forward(self, tokens: Tensor, mark: Tensor, tensors: list[Tensor]) -> tuple[Tensor, ...]:
        with _lent(self.state, tensors, mark.shape[0]):
            text = Text(tokens[:, None], Sequence.of(tokens[:, None]))
            hidden, _ = self.model.topology(text, None, one_query, self.state)
            return tuple(Forecast.of(self.model.head(hidden)[:, -1]))  # the kind that a program can give back


@contextmanager
def _lent(state: ModelState, tensors: list[Tensor], length: int) -> Iterator[None]:
    """The state with other tensors and another length, and as it was afterwards."""
    before = [(holder, dict(vars(holder))) for holder in state.holders()]
    try:
        for (holder, name, _), one in zip(list(_attributes(state)), tensors, strict=True):
            setattr(holder, name, one)
        state.advance(length - state.history.length)
        yield
    finally:
        for holder, own in before:
            vars(holder).update(own)


def exported(model: Model, state: ModelState) -> torch.export.ExportedProgram:
    """The step as torch sees it, with lengths as symbols: a function of tokens, mark and the tensors of a state."""
    dynamic = torch.export.Dim.DYNAMIC
    shapes = [
        {holder.growing[name]: dynamic} if name in holder.growing else {} for holder, name, _ in _attributes(state)
    ]
    return torch.export.export(
        _Step(model, state), _arguments(state), dynamic_shapes=(None, {0: dynamic}, shapes), strict=False
    )


def _arguments(state: ModelState) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Some tokens, the mark and the tensors of that state."""
    device = state.history.positions.device
    tokens = torch.zeros(len(state.history.positions), dtype=torch.long, device=device)
    return tokens, torch.empty(state.history.length, 0, device=device), _tensors(state)


def _compiled(model: Model, state: ModelState) -> tuple[Program, list[Tensor]]:
    """The program, and the weights of the model that it reads where they lie, which must therefore be kept. Raises
    UserError where torch cannot make one."""
    try:
        with quiet(), tempfile.TemporaryDirectory() as folder, torch.no_grad():
            step = exported(model, state)
            package = torch._inductor.aoti_compile_and_package(
                step, package_path=str(Path(folder, "step.pt2")), inductor_configs=OPTIONS
            )
            loaded: Any = torch._inductor.aoti_load_package(package)
            held = {**step.state_dict, **step.constants}
            used = {name: held[name].detach() for name in loaded.get_constant_fqns()}
            loaded.load_constants(used, check_full_update=True, user_managed=True)
    except Exception as error:  # of many kinds
        raise UserError(
            f"a step of this model cannot be compiled ({_first_line(error)}); generate without it"
        ) from error
    program: Program = loaded.loader.boxed_run  # what calling it does, without walking through the arguments
    return program, list(used.values())


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
