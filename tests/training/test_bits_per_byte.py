"""Bits per byte are what a plain count over the text gives: each predicted token alone, after what stands before it."""

import math
from pathlib import Path

import pytest
import torch

from tests.helpers import model_node
from zoo.assembly import build_model
from zoo.config import parse_model
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.tokenizer import Tokenizer, tokenizers
from zoo.model import Model
from zoo.objective import objectives
from zoo.option import Option
from zoo.topology.decoder_only import DecoderOnly
from zoo.training.evaluate import Scores
from zoo.training.feed import Feed
from zoo.training.runtime import Machinery
from zoo.training.scoring import score

MACHINERY = Machinery("cpu", "float32", "plain", False, 1, torch.__version__)
TEXTS = [b"the caf\xc3\xa9 opens, the caf\xc3\xa9 closes", b"tea and the tea", b"x", b"a naive tea opens the tea"]
OPTIONS = [Option("bytes"), Option("chars"), Option("bpe", {"vocabulary": 270}), Option("words")]


def trained(option: Option, texts: list[bytes]) -> Tokenizer:
    tokenizer = tokenizers.build(option)
    tokenizer.train(texts)
    return tokenizer


def scores(corpus: Corpus, objective: str, context: int) -> tuple[Model, Scores]:
    vocabulary = corpus.tokenizer.vocabulary
    model = build_model(parse_model(model_node("llama", n_layers=1)), vocabulary, 0).eval()
    torch.nn.init.normal_(next(model.parameters()), generator=torch.Generator().manual_seed(0))
    built = objectives.build(Option(objective))
    feed = Feed(corpus, built, DecoderOnly.traits, batch_size=3, context=context, splits=["test"])
    return model, score(model, feed, "test", MACHINERY)


@torch.no_grad()
def bits(model: Model, before: list[int], token: int) -> float:
    """Of one token after those, which are all that the model reads."""
    logits = model(torch.tensor([before])).logits[0, -1].double()
    return float(torch.logsumexp(logits, 0) - logits[token]) / math.log(2)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_the_first_token_of_a_document_is_in_neither_sum(option: Option, several: bool, tmp_path: Path) -> None:
    texts, context = TEXTS if several else [b" ".join(TEXTS)], 7
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / "texts" / f"{number}.txt").write_bytes(text)
    tokenizer = trained(option, texts)
    data = Option("text", {"path": str(tmp_path / "texts"), "split": (0.0, 0.0, 1.0)})
    model, found = scores(load_corpus(data, tokenizer, str(tmp_path / "cache")), "causal", context)

    total, size, first = 0.0, 0, 0
    for text in texts:
        ids = tokenizer.encode(text).tolist()
        closed = [*ids, tokenizer.special.end] if several else ids
        size += len(text) - len(tokenizer.to_bytes(ids[:1]))
        for place in range(1, len(ids)):
            window = (first + place - 1) // context * context - first  # where the one begins that predicts this token
            total += bits(model, closed[max(window, 0) : place], closed[place])
        first += len(closed)
    assert found.bits_per_byte == pytest.approx(total / size, rel=1e-6)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_of_pairs_all_bytes_of_the_targets_count_and_none_of_the_sources(option: Option, tmp_path: Path) -> None:
    pairs = [(b"tea", b"the tea"), (b"caf\xc3\xa9", b"the caf\xc3\xa9"), (b"the tea opens", b"x")]
    (tmp_path / "pairs.tsv").write_bytes(b"".join(b"%s\t%s\n" % pair for pair in pairs))
    tokenizer = trained(option, [text for pair in pairs for text in pair])
    data = Option("pairs", {"path": str(tmp_path / "pairs.tsv"), "split": (0.0, 0.0, 1.0)})
    model, found = scores(load_corpus(data, tokenizer, str(tmp_path / "cache")), "seq2seq", 32)

    total = 0.0
    for source, target in pairs:
        before = [*tokenizer.encode(source).tolist(), tokenizer.special.start]
        for token in tokenizer.encode(target).tolist():
            total += bits(model, before, token)
            before.append(token)
    size = sum(len(target) for _, target in pairs)
    assert found.bits_per_byte == pytest.approx(total / size, rel=1e-6)
