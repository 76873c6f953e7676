"""Values that a command sets and that cannot act: with each of them the same model would be another run.

Only what the command says is refused. An option file may set such a value (`tie: all` in a decoder alone), so that one
part of a preset can be swapped without the others.
"""

from collections.abc import Callable, Sequence

from zoo.code import says
from zoo.command.overrides import key_of
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.option import Choice, Option
from zoo.registry import FAMILIES
from zoo.schema import defaults, fields

Rule = Callable[[list[str], Experiment], str | None]
"""Why the value at that key, cut at its dots, says nothing; None when it acts."""


def refuse_idle(experiment: Experiment, overrides: Sequence[str]) -> None:
    """Raises UserError for the first override of the command that changes nothing in that experiment."""
    for override in overrides:
        key = key_of(override).split(".")
        for rule in RULES:
            reason = rule(key, experiment)
            if reason:
                raise UserError(f"{override} would change nothing: {reason}; leave it out")


def _depth(key: list[str], experiment: Experiment) -> str | None:
    topology = experiment.model.topology
    kind = FAMILIES["topology"].get(topology.name)
    own = kind.own_depths if says(kind, "own_depths") else ()
    if key != ["model", "n_layers"] or not own or any(topology.values.get(one) is None for one in own):
        return None
    return f"{' and '.join(f'model.topology.{one}' for one in own)} are set"


def _beside(key: list[str], experiment: Experiment) -> str | None:
    """A key of an ffn, or of one inside it, beside one that takes its place."""
    option = _inside(experiment.model.ffn, key[2:-1]) if key[:2] == ["model", "ffn"] and len(key) > 2 else None
    if option is None:
        return None
    kind = FAMILIES["ffn"].get(option.name)
    other = kind.instead.get(key[-1]) if says(kind, "instead") else None
    if other is None or option.values.get(other) is None:
        return None
    default = fields(kind)[key[-1]].default
    if option.values.get(key[-1], default) == default:
        return None
    return f"{'.'.join([*key[:-1], other])}={option.values[other]} is set"


def _inside(choice: Choice, path: list[str]) -> Option | None:
    """The option at that path of entries and of options inside options."""
    for name in path:
        found = choice.values.get(name) if isinstance(choice, Option) else choice.distinct.get(name)
        if not isinstance(found, Option):
            return None
        choice = found
    return choice if isinstance(choice, Option) else None


def _tie(key: list[str], experiment: Experiment) -> str | None:
    model = experiment.model
    reads = FAMILIES["topology"].get(model.topology.name).traits.reads_source
    if key != ["model", "embedding", "tie"] or model.embedding.values.get("tie") != "all" or reads:
        return None
    return f"topology '{model.topology.name}' has no source, so that all is output"


def _norm(key: list[str], experiment: Experiment) -> str | None:
    model = experiment.model
    norm = model.norm.at(0)
    if key != ["model", "embedding", "norm"] or not model.embedding.values.get("norm"):
        return None
    return f"it is the model's norm, which is '{norm.name}'" if FAMILIES["norm"].get(norm.name).absent else None


def _text(key: list[str], experiment: Experiment) -> str | None:
    kind, asker = FAMILIES["data"].get(experiment.data.name).kind, FAMILIES["objective"].get(experiment.objective.name)
    if key[0] != "objective" or kind == "text" or key[-1] not in asker.of_text:
        return None
    if experiment.objective.values.get(key[-1]) == fields(asker)[key[-1]].default:
        return None
    return f"it is for texts, and the data is {kind}"


def _decay(key: list[str], experiment: Experiment) -> str | None:
    optimizer = experiment.optimizer
    if key != ["optimizer", "decay_embeddings"] or not optimizer.values.get("decay_embeddings"):
        return None
    values = {**defaults(FAMILIES["optimizer"].get(optimizer.name)), **optimizer.values}
    if values.get("weight_decay", True):  # a plugin may name its decay otherwise
        return None
    return f"optimizer.weight_decay is {values['weight_decay']}"


RULES: tuple[Rule, ...] = (_depth, _beside, _tie, _norm, _text, _decay)
