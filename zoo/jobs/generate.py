"""Let a trained run speak: continuations of a prompt, shown as they come."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from omegaconf import DictConfig

from zoo.api import load
from zoo.config import plain, refuse_unknown
from zoo.errors import UserError
from zoo.inference.complete import continuations
from zoo.inference.completion import Completion
from zoo.inference.fill import Filled, Filling, fillings
from zoo.inference.opening import objective_of
from zoo.inference.settings import Settings
from zoo.inference.speculative import Guesses
from zoo.jobs.opened import computing, machinery_of, put, tell_emulated
from zoo.jobs.results import json_target, write_json
from zoo.jobs.show_text import Shown, show_filled
from zoo.memory import enough_memory
from zoo.mismatch import told
from zoo.plugins import load_plugins
from zoo.run import Run
from zoo.schema import convert, fields, typed
from zoo.training.runtime import Machinery

OWN = ("prompt", "stream", "draft")
"""Keys of the node that say neither how to go on nor how to fill."""
SMALLER = "make generate.max_new_tokens, generate.samples or generate.beams smaller, or give fewer prompts"
"""What helps where there is not memory enough."""
S = TypeVar("S", Settings, Filling)


def generate(config: DictConfig | Mapping[str, Any]) -> list[Completion] | list[Filled]:
    """Go on from `generate.prompt` as `conf/evaluate.yaml` says, or fill its blanks if the run is a masked model; print
    the texts and return them. Raises UserError for bad input."""
    node = plain(config)
    load_plugins(node["plugins"])
    asked = node["generate"]
    refuse_unknown(asked, [*OWN, *fields(Settings), *fields(Filling)], "generate.")
    prompts = convert(asked["prompt"], str | tuple[str, ...], "generate.prompt")
    prompts = (prompts,) if isinstance(prompts, str) else prompts
    if not prompts:
        raise UserError("generate.prompt is an empty list; give at least one text")
    stream = convert(asked["stream"], bool, "generate.stream")
    path = convert(asked["draft"], str | None, "generate.draft")
    target = json_target(node)
    run = load(convert(node["run"], str, "run"), strict=convert(node["strict"], bool, "strict"))
    found: list[Completion] | list[Filled]
    if not objective_of(run).fills:
        settings = _settings(Settings, asked, "a text is gone on with")
        draft = None if path is None else load(path)
        shown = Shown(prompts, settings, stream)
        machinery = _place([run] if draft is None else [run, draft], node)
        try:
            with enough_memory(SMALLER), computing(machinery):
                found = continuations(run, prompts, settings, draft, shown.update, compiled=machinery.compile)
        except BaseException:
            shown.break_off()  # what is said of it stands on a line of its own
            raise
        shown.show(found)
        if draft is not None:
            print(sum((one.guesses for one in found if one.guesses), Guesses()).words(), file=sys.stderr)
    else:
        filling = _settings(Filling, asked, "blanks are filled")
        if path is not None:
            raise UserError("generate.draft does nothing where blanks are filled; leave it out")
        with enough_memory("give fewer or shorter prompts"), computing(_place([run], node)):
            found = fillings(run, prompts, filling)
        show_filled(found)
    for mark in told(run.weights()):
        print(mark, file=sys.stderr)
    write_json(target, [one.as_dict() | run.weights() for one in found])
    return found


def _settings(kind: type[S], asked: Mapping[str, Any], where: str) -> S:
    """The keys of that kind; null stands for its default. Raises UserError for a key that would do nothing."""
    known = fields(kind)
    for key, parameter in {**fields(Settings), **fields(Filling)}.items():
        value = asked.get(key)
        given = tuple(value) if isinstance(value, list) else value
        if key not in known and given is not None and given != parameter.default:
            raise UserError(f"generate.{key} does nothing where {where}; leave it out")
    values = {key: asked[key] for key in known if asked.get(key) is not None}
    return kind(**typed(kind, values, "generate", "generation"))


def _place(runs: Sequence[Run], node: Mapping[str, Any]) -> Machinery:
    """The runs on the device of `runtime`, which is returned as it came out; a dtype that is emulated is told."""
    machinery = machinery_of(node)
    tell_emulated(machinery)
    put(runs, machinery)
    return machinery
