"""The tasks of a step are a function of (data, objective, seed, step), those of an evaluation of the data alone."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.helpers import PRESETS, SERVED, TOPOLOGIES, composed, model_node, option
from zoo.assembly import build_model
from zoo.config import parse, parse_model
from zoo.data.batches import Loader
from zoo.data.building.store import Split
from zoo.data.corpus import Corpus
from zoo.data.tokenizer import tokenizers
from zoo.jobs.parts import Parts, build_parts
from zoo.objective import Task, objectives
from zoo.option import Option
from zoo.topology import topologies
from zoo.training.evaluate import evaluate
from zoo.training.feed import Feed
from zoo.training.loop import fit
from zoo.training.runtime import Machinery
from zoo.training.scoring import score

ROWS, CONTEXT, ACCUMULATE = 4, 24, 3
MACHINERY = Machinery("cpu", "float32", "plain", False, 1, torch.__version__)


def corpus(kind: str) -> Corpus:
    """Bytes, several documents: texts of 130 tokens, or pairs of up to 8 and 6."""
    tokenizer = tokenizers.build(Option("bytes"))
    rng = np.random.default_rng(0)
    splits = {}
    for name, documents in (("train", 60), ("validation", 14)):
        sizes = np.full(documents, 130) if kind == "text" else np.tile([8, 6], documents) - rng.integers(3)
        tokens = rng.integers(256, size=sizes.sum()).astype("<u2")
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        if kind == "text":
            tokens[offsets[1:] - 1] = tokenizer.special.end
        splits[name] = Split(name, tokens, offsets, int(sizes.sum()), True, None)
    return Corpus(kind, tokenizer, "", {"split": []}, splits)


CORPORA = {kind: corpus(kind) for kind in ("text", "pairs")}


def serves(objective: str, topology: str) -> bool:
    return objectives.get(objective).serves(topologies.get(option("topology", topology)["name"]).traits)


def feed(objective: str, kind: str, topology: str, batch_size: int = ROWS) -> Feed:
    traits = topologies.get(option("topology", topology)["name"]).traits
    built = objectives.build(Option(objective))
    splits = ["train", "validation"]
    return Feed(CORPORA[kind], built, traits, batch_size=batch_size, context=CONTEXT, splits=splits)


def plain(tasks: list[Task]) -> list[Any]:
    """All numbers of some tasks."""
    values = [[*task.inputs.values(), task.targets, task.weights] for task in tasks]
    return [one.tolist() for some in values for one in some]


def scored(tasks: list[Task]) -> list[list[int]]:
    """The scored targets of each row."""
    rows = [(row, weight) for task in tasks for row, weight in zip(task.targets, task.weights, strict=True)]
    return [row[weight > 0].tolist() for row, weight in rows]


@pytest.mark.parametrize(("objective", "kind", "topology"), SERVED)
def test_a_step_of_a_seed_has_its_own_tasks_and_always_those(objective: str, kind: str, topology: str) -> None:
    one = feed(objective, kind, topology)
    first = plain(one.tasks(5, ACCUMULATE, seed=1))
    list(one.evaluation("validation"))
    assert first == plain(feed(objective, kind, topology).tasks(5, ACCUMULATE, seed=1))
    assert first != plain(one.tasks(5, ACCUMULATE, seed=2))
    assert first != plain(one.tasks(6, ACCUMULATE, seed=1))


@pytest.mark.parametrize(("objective", "kind", "topology"), SERVED)
def test_a_micro_batch_is_the_next_batch_of_the_loader(objective: str, kind: str, topology: str) -> None:
    """However the same rows are cut into micro-batches and steps: rows and masks stay."""
    one = feed(objective, kind, topology)
    straight = [one.tasks(index, 1, seed=3)[0] for index in range(12)]
    assert plain([task for step in range(4) for task in one.tasks(step, 3, seed=3)]) == plain(straight)
    loader = Loader(CORPORA[kind], "train", *one.objective.window(CONTEXT), ROWS, CONTEXT)
    for index in (0, 4, 11):
        step, micro = divmod(index, 3)
        asked = one.objective.prepare(loader.train_batch(index, 3), one.special, one.traits, no_draws)
        assert asked.targets.tolist() == one.tasks(step, 3, seed=3)[micro].targets.tolist()


def no_draws(length: int, each: int) -> Tensor:
    return torch.zeros(ROWS, length, each)


@pytest.mark.parametrize(("objective", "kind"), sorted({(objective, kind) for objective, kind, _ in SERVED}))
def test_every_topology_has_the_same_rows_and_scores_the_same_tokens(objective: str, kind: str) -> None:
    found = [feed(objective, kind, topology) for topology in TOPOLOGIES if serves(objective, topology)]
    train = [[scored(one.tasks(step, ACCUMULATE, seed=1)) for step in (0, 7)] for one in found]
    held_out = [scored(list(one.evaluation("validation"))) for one in found]
    assert all(one == train[0] for one in train)
    assert all(one == held_out[0] for one in held_out)
    assert all(row for row in train[0][0]) or objective == "masked"


@pytest.mark.parametrize("topology", [name for name in TOPOLOGIES if serves("seq2seq", name)])
def test_an_evaluation_of_pairs_scores_every_target_and_its_end(topology: str) -> None:
    split, end = CORPORA["pairs"].splits["validation"], CORPORA["pairs"].tokenizer.special.end
    targets = np.split(split.tokens, split.offsets[1:-1])[1::2]
    found = scored(list(feed("seq2seq", "pairs", topology).evaluation("validation")))
    assert found == [[*one.tolist(), end] for one in targets]


def test_masks_differ_between_steps_rows_and_seeds_where_the_text_is_the_same() -> None:
    """A text of one letter, so that only masks can differ."""
    tokens = np.full(CONTEXT * ROWS * 20, 65, dtype="<u2")
    split = Split("train", tokens, np.array([0, len(tokens)]), len(tokens), False, None)
    same = Corpus("text", CORPORA["text"].tokenizer, "", {"split": []}, {"train": split, "validation": split})
    one = Feed(
        same,
        objectives.build(Option("masked", {"rate": 0.5})),
        topologies.get("encoder_only").traits,
        batch_size=ROWS,
        context=CONTEXT,
        splits=["train", "validation"],
    )
    asked = [task for seed in (0, 1) for step in (0, 1, 20) for task in one.tasks(step, 2, seed)]
    asked += list(one.evaluation("validation", 2))
    chosen = [tuple(row.tolist()) for task in asked for row in task.weights]
    assert len(set(chosen)) == len(chosen) == 2 * 3 * 2 * ROWS + 2 * ROWS
    hidden = [tuple(row.tolist()) for task in asked for row in task.inputs["tokens"]]
    assert len(set(hidden)) == len(hidden)


@pytest.mark.parametrize("batch_size", [1, 3, 7, 400])
@pytest.mark.parametrize(("objective", "kind"), [("masked", "text"), ("causal", "text"), ("tagging", "pairs")])
def test_an_evaluation_is_the_same_whatever_its_batch_size(objective: str, kind: str, batch_size: int) -> None:
    (topology, *_) = [name for name in TOPOLOGIES if serves(objective, name)]
    usual = list(feed(objective, kind, topology).evaluation("validation"))
    other = list(feed(objective, kind, topology, batch_size).evaluation("validation"))
    assert scored(usual) == scored(other)
    if kind == "text":
        assert by_row(usual) == by_row(other)


def by_row(tasks: list[Task]) -> list[list[int]]:
    return [row.tolist() for task in tasks for row in task.inputs["tokens"]]


@pytest.mark.parametrize("batch_size", [1, 3, 400])
@pytest.mark.parametrize(("objective", "kind", "topology"), SERVED)
def test_what_is_scored_is_what_an_evaluation_has(objective: str, kind: str, topology: str, batch_size: int) -> None:
    one = feed(objective, kind, topology, batch_size)
    for batches in (None, 2):
        usual, fast = (list(tasks("validation", batches)) for tasks in (one.evaluation, one.scoring))
        assert sorted(map(repr, content(fast))) == sorted(map(repr, content(usual)))
        assert len(fast) < len(usual) or batch_size > 3


def content(tasks: list[Task]) -> list[list[Any]]:
    """All that is in each row, without its padding."""
    rows = []
    for task in tasks:
        real = task.inputs.get("padding", torch.ones_like(task.targets, dtype=torch.bool))
        read = task.inputs.get("source_padding")
        for i, kept in enumerate(real):
            named = ((key, value) for key, value in task.inputs.items() if "padding" not in key)
            inputs = [value[i, read[i] if key == "source" else kept] for key, value in named]
            weights = task.weights[i, kept]
            rows.append([one.tolist() for one in (*inputs, task.targets[i, kept] * (weights > 0), weights)])
    return rows


# --- through the parts of a run ------------------------------------------------------------------------------------


def parts(base: str = "bert", optimizer: str = "sgd", **changes: Any) -> Parts:
    """Those of a masked model."""
    node = dict(composed())
    node |= {"model": model_node(base, **({"topology": "encoder_only"} | changes)), "objective": {"name": "masked"}}
    node |= {"optimizer": {"name": optimizer}, "schedule": {"name": "constant", "warmup": 0}}
    node |= {"budget": node["budget"] | {"context": CONTEXT, "batch_size": ROWS}}
    return build_parts(parse(node), CORPORA["text"], MACHINERY)


def batches(of: Parts, seed: int = 0) -> list[Any]:
    """All numbers of the batches of some steps, the last of them after training and scoring have drawn their luck."""
    found = [task for step in range(2) for task in of.feed.tasks(step, ACCUMULATE, seed)]
    source = partial(of.feed.tasks, accumulate=1, seed=seed)
    for _ in fit(of.model, of.optimizer, of.schedule, source, steps=1, seed=seed, device=of.device):
        found += of.feed.evaluation("validation", 1)
    return plain([*found, *of.feed.tasks(2, ACCUMULATE, seed)])


@pytest.mark.parametrize("topology", ["encoder_decoder", "decoder_only", "prefix_lm"])
def test_scores_are_those_of_an_evaluation(topology: str) -> None:
    of = feed("seq2seq", "pairs", topology)
    model = build_model(parse_model(model_node(topology=topology)), 300, 0)
    lengths = torch.from_numpy(of.corpus.tokenizer.byte_lengths)
    plain = evaluate(model, of.evaluation("validation"), lengths, device=torch.device("cpu"))
    called: list[str] = []
    model.register_forward_hook(lambda *given: called.append("forward"))
    found = score(model, of, "validation", MACHINERY)
    assert not called  # which would make the logits of all positions
    assert (found.tokens, found.accuracy) == (plain.tokens, plain.accuracy)
    assert found.loss == pytest.approx(plain.loss, rel=1e-6)
    assert found.bits_per_byte == pytest.approx(plain.bits_per_byte, rel=1e-6)


def test_scores_are_computed_in_the_dtype_of_the_machinery() -> None:
    of = feed("causal", "text", "decoder_only")
    model = build_model(parse_model(model_node()), 300, 0)
    lengths = torch.from_numpy(of.corpus.tokenizer.byte_lengths)
    half = {"device": torch.device("cpu"), "autocast": torch.bfloat16}
    wanted = evaluate(model, of.scoring("validation"), lengths, **half).loss
    exact, found = (
        score(model, of, "validation", replace(MACHINERY, dtype=dtype)).loss for dtype in ("float32", "bfloat16")
    )
    assert found == pytest.approx(wanted, rel=1e-6)
    assert exact != pytest.approx(wanted, rel=1e-5)


def test_nothing_about_a_model_moves_its_batches() -> None:
    usual = batches(parts())
    for other in (
        *(parts(base) for base in PRESETS if base != "bert"),
        parts(dropout=0.3),
        parts(d_model=32, n_layers=1),
        parts(mixer="gqa", position="alibi"),
        parts(optimizer="adamw"),
    ):
        assert batches(other) == usual
    assert batches(parts(), seed=1) != usual
