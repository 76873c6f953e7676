"""What `import zoo` offers: the same models as the command line, from Python."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from zoo.assembly import assemble, build_model
from zoo.command.compose import compose
from zoo.command.words import refuse_two_values
from zoo.config import parse_model, plain
from zoo.data.special import Special
from zoo.data.tokenizer import Tokenizer, load_tokenizer
from zoo.errors import UserError
from zoo.memory import enough_memory
from zoo.model import Model
from zoo.nearby import folders_like
from zoo.paths import as_path
from zoo.plugins import load_plugins
from zoo.probe import check_probe
from zoo.published.reading import is_published, read_published
from zoo.run import Run
from zoo.schema import convert
from zoo.training.checkpoint import Checkpoint, latest_checkpoint, open_checkpoint
from zoo.training.files import ANEW
from zoo.training.last import is_last, lost_checkpoints

BYTES = Special.after(256).mask + 1
"""The vocabulary of the bytes tokenizer: 256 bytes and three marks."""

log = logging.getLogger(__name__)


def build(model: str = "modern", *overrides: str, vocabulary: int = BYTES, seed: int | None = None) -> Model:
    """The model that `python train.py model=<model> <overrides>` trains, for a vocabulary of that size; `seed=` may be
    given as an override too. Raises UserError for what the command line would refuse."""
    for word in (model, *overrides):
        if not isinstance(word, str):
            raise UserError(f"zoo.build takes texts, as in zoo.build('llama', 'model.d_model=64'); got {word!r}")
    if type(vocabulary) is not int or vocabulary < 1:
        raise UserError(f"vocabulary={vocabulary!r} must be a whole number, at least 1")
    words = [f"model={model}", *overrides]
    refuse_two_values(words)
    node = plain(compose(words))
    load_plugins(node["plugins"])
    given = convert(node["seed"] if seed is None else seed, int, "seed")
    with enough_memory("make the model smaller"):
        return build_model(parse_model(node["model"]), vocabulary, given)


def load(path: str | Path, *, plugins: Sequence[str] = (), strict: bool = True) -> Run:
    """The trained model of a run folder (its newest whole checkpoint), of one checkpoint folder, or of a folder in a
    published layout (config.json and safetensors); its averaged weights when the run kept an average. Only registered
    parts are built and nothing in the files is executed; parts of your own must be named in `plugins`: a file cannot
    ask for them. Raises UserError for what is missing, damaged or has no counterpart, and for a model that does not fit
    into memory.

    With `strict=False` tensors may be missing or left over (one that was renamed is both), and the file of weights may
    be another one than was saved: all of that is logged and kept as `run.mismatch`. A tensor of another shape is still
    refused, and so are other logits than those that were saved, which are compared unless a tensor is missing."""
    folder = as_path("path", path)
    load_plugins(plugins)
    if not str(path):
        raise UserError("there is no run ''; give a run folder, or one of its checkpoints")
    with enough_memory("its model alone does not fit: load it on a larger machine"):
        if is_published(folder):
            run = read_published(folder, strict=strict)
        else:
            run = _of_checkpoint(_find(folder, strict), strict)
    for line in run.mismatch.lines():
        log.warning("%s: %s", path, line)
    return run


def _of_checkpoint(checkpoint: Checkpoint, strict: bool) -> Run:
    architecture = checkpoint.architecture
    tokenizer = _tokenizer(checkpoint)
    _refuse_wrong(checkpoint, tokenizer)
    config, vocabulary = parse_model(architecture["model"]), architecture["vocabulary"]
    model = assemble(config, vocabulary) if strict else build_model(config, vocabulary, seed=0)
    mismatch = checkpoint.load_model(model, strict=strict)
    saved = architecture.get("probe")
    unchecked = bool(mismatch.missing) and saved is not None
    if not unchecked:
        check_probe(model, saved, str(checkpoint.path / "model.json"))
    if checkpoint.averaged:
        mismatch = checkpoint.load_model(model, averaged=True, strict=strict)
    mismatch = replace(mismatch, unchecked=unchecked)
    last = is_last(checkpoint.path, checkpoint.step)
    return Run(model.eval(), tokenizer, architecture, checkpoint.step, mismatch, last)


def _tokenizer(checkpoint: Checkpoint) -> Tokenizer:
    file = checkpoint.path / "tokenizer.json"
    try:
        return load_tokenizer(checkpoint.tokenizer)
    except RecursionError as error:
        raise UserError(f"{file} is damaged: it nests too deep") from error


def _refuse_wrong(checkpoint: Checkpoint, tokenizer: Tokenizer) -> None:
    """Raises UserError when what a checkpoint says of its making is not of its type, or its vocabulary is not that of
    its tokenizer."""
    about, file = checkpoint.architecture, checkpoint.path / "model.json"
    for key in ("model", "objective", "data"):
        if not isinstance(about.get(key), dict):
            raise UserError(f"{file} is damaged: architecture.{key} must be a mapping")
    for key in ("vocabulary", "context"):
        if type(about.get(key)) is not int or about[key] < 1:
            raise UserError(f"{file} is damaged: architecture.{key} must be a whole number of at least 1")
    if about["vocabulary"] != tokenizer.vocabulary:
        raise UserError(
            f"{file} is damaged: its vocabulary is {about['vocabulary']}, its tokenizer has {tokenizer.vocabulary}"
        )


def _find(path: Path, strict: bool) -> Checkpoint:
    if path.is_file() or (path / "model.json").exists():
        return open_checkpoint(path, strict=strict)
    if not path.is_dir():
        raise UserError(f"no folder {path}{folders_like(path)}; give a run folder, or one of its checkpoints")
    found = latest_checkpoint(path / "checkpoints", strict=strict)
    if found is None and lost_checkpoints(path):
        raise UserError(f"the checkpoints of the finished run {path} are gone; {ANEW}")
    if found is None:
        raise UserError(f"{path} has no checkpoint yet; give a run folder that has checkpoints/step_N")
    return found
