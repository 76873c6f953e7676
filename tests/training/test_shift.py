"""Inputs and targets are shifted against each other once: a model that learns "abcabc…" says b after a."""

from pathlib import Path

import pytest

from tests.helpers import composed, model_node
from zoo.config import parse
from zoo.data.corpus import load_corpus
from zoo.inference.complete import complete
from zoo.jobs.parts import build_parts
from zoo.jobs.updates import updates
from zoo.option import Option
from zoo.run import Run
from zoo.training.runtime import Machinery

MACHINERY = Machinery("cpu", "float32", "plain", False, 1, "")
CONTEXT = 8
"""Not a multiple of three, so that rows begin with each letter."""


@pytest.mark.parametrize(
    ("objective", "topology"),
    [
        ("causal", "decoder_only"),
        ("seq2seq", "decoder_only"),
        ("seq2seq", "prefix_lm"),
        ("seq2seq", "encoder_decoder"),
    ],
)
def test_what_follows_a_is_b(tmp_path: Path, objective: str, topology: str) -> None:
    (tmp_path / "abc.txt").write_text("abc" * 400)
    corpus = load_corpus(Option("text", {"path": str(tmp_path / "abc.txt")}), Option("bytes"), str(tmp_path / "cache"))
    node = dict(composed()) | {"model": model_node(topology=topology), "objective": {"name": objective}}
    node |= {"optimizer": {"name": "adamw", "lr": 0.01}, "schedule": {"name": "constant", "warmup": 0}}
    node |= {"budget": node["budget"] | {"context": CONTEXT, "batch_size": 8, "steps": 60}}
    experiment = parse(node)
    parts = build_parts(experiment, corpus, MACHINERY)
    *_, last = updates(experiment, parts, MACHINERY)
    assert last.loss is not None
    assert last.loss < 0.1
    run = Run(parts.model.eval(), corpus.tokenizer, {"objective": node["objective"], "context": CONTEXT}, last.step)
    said = complete(run, ["abca", "bcab", "cabc"], max_new_tokens=3, temperature=0)
    assert said == ["bca", "cab", "abc"]
    if objective == "causal":
        assert complete(run, ["a", "b", "c"], max_new_tokens=1, temperature=0) == ["b", "c", "a"]
