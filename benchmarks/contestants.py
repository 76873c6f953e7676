"""What is timed: for each job, our model and its peers of other libraries, each as one whole training step.

A step is forward, loss, backward, clipping the gradient norm to 1 and AdamW. Every library gets the same tokens and an
architecture of the same widths; only that of the job itself is asked for, so parameters differ by a few percent.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.ffn.dense import hidden_width

ROWS, LENGTH, VOCABULARY, LAYERS, HEADS, EXPERTS = 32, 128, 256, 4, 4, 8


@dataclass(frozen=True)
class Size:
    """What grows: every job is built at a size."""

    width: int = 128
    layers: int = LAYERS
    length: int = LENGTH
    vocabulary: int = VOCABULARY
    experts: int = EXPERTS
    rows: int = ROWS

    def tokens(self, seed: int) -> Tensor:
        """Uniform tokens (rows, length); the marks of a byte vocabulary are none of them."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(self.vocabulary, (self.rows, self.length), generator=generator)


Loss = Callable[[], Tensor]
"""One forward pass on fixed tokens."""


def ours(job: str, size: Size, overrides: list[str]) -> tuple[Iterator[Any], int]:
    """Our training loop as `train.py` runs it, and the FLOPs of one of its steps: three forward passes."""
    from zoo.assembly import build_model
    from zoo.command.compose import compose
    from zoo.config import parse, plain
    from zoo.experiment import Experiment
    from zoo.jobs.parts import forward_of, place
    from zoo.objective import Task
    from zoo.training.loop import fit
    from zoo.training.optimizer import optimizers
    from zoo.training.runtime import Work, resolve
    from zoo.training.schedule import schedules

    preset = {"causal": "llama", "translation": "transformer_2017", "masked": "bert", "experts": "mixtral"}[job]
    sizes = [f"model.d_model={size.width}", f"model.n_layers={size.layers}", f"model.n_heads={HEADS}"]
    sizes += ["optimizer=adamw"]  # the peers' own
    sizes += [f"model.ffn.experts={size.experts}"] * (job == "experts")
    node = plain(compose([f"model={preset}", *sizes, f"budget.context={size.length}", *overrides]))
    experiment = parse({key: node[key] for key in Experiment.__dataclass_fields__})
    logits, scored = size.rows * size.length * size.vocabulary, 0.15 if job == "masked" else 1.0
    work = Work(size.length, flops=0.0, logits=logits, scored=scored)
    machinery = resolve(experiment.runtime, experiment.cache, work)
    torch.set_num_threads(machinery.threads)
    model = build_model(experiment.model, size.vocabulary, seed=0)
    flops = 3 * size.rows * model.flops(size.length, size.length if job == "translation" else None)
    place(model, machinery)
    optimizer = optimizers.build(experiment.optimizer, model)
    tokens, targets = size.tokens(0), size.tokens(1)
    inputs = {"tokens": tokens, **({"source": size.tokens(2)} if job == "translation" else {})}
    weights = torch.ones(tokens.shape) if job != "masked" else (size.tokens(3) < 0.15 * size.vocabulary).float()
    steps = fit(
        model,
        optimizer,
        schedules.build(experiment.schedule),
        lambda step: [Task(inputs, targets, weights)],
        steps=10**6,
        seed=0,
        device=torch.device(machinery.device),
        autocast=machinery.autocast,
        forward=forward_of(model, machinery),
    )
    return steps, flops


def peer(name: str, job: str, size: Size, dtype: torch.dtype, compiled: bool, device: torch.device) -> Iterator[Any]:
    """The usual loop around a model of another library, all of it on the device."""
    model, (texts, named), logits = PEERS[job, name](size)
    model.train().to(device)
    texts, named = tuple(text.to(device) for text in texts), {key: value.to(device) for key, value in named.items()}
    targets = size.tokens(1)
    if job == "masked":
        targets = targets.masked_fill(size.tokens(3) >= 0.15 * size.vocabulary, -100)
    targets = targets.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, fused=compiled)
    forward = torch.compile(model) if compiled else model
    autocast = nullcontext() if dtype is torch.float32 else torch.autocast(device.type, dtype)
    while True:
        optimizer.zero_grad()
        with autocast:
            output = logits(forward(*texts, **named))
            loss = F.cross_entropy(output.flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


Built = tuple[nn.Module, tuple[tuple[Tensor, ...], dict[str, Tensor]], Callable[[Any], Tensor]]
"""A model, the arguments of a call, and how its output becomes logits."""


def _gated(width: int) -> int:
    return hidden_width(width, None, 8 / 3, 4)


def _hf(name: str, size: Size, **values: Any) -> nn.Module:
    """A model of Hugging Face, by the name of its class, with the sizes that all of its configs share."""
    import transformers

    sizes = {"hidden_size": size.width, "num_hidden_layers": size.layers, "num_attention_heads": HEADS}
    model = getattr(transformers, name)
    config = model.config_class(vocab_size=size.vocabulary, pad_token_id=None, **{**sizes, **values})
    return model(config)


def llama(size: Size) -> Built:
    model = _hf("LlamaForCausalLM", size, intermediate_size=_gated(size.width), use_cache=False)
    return model, ((size.tokens(0),), {}), lambda output: output.logits


def mixtral(size: Size) -> Built:
    own = {"intermediate_size": _gated(size.width), "num_key_value_heads": 2, "num_local_experts": size.experts}
    model = _hf("MixtralForCausalLM", size, **own, use_cache=False, output_router_logits=False)
    return model, ((size.tokens(0),), {}), lambda output: output.logits


def bert(size: Size) -> Built:
    own = {"intermediate_size": 4 * size.width, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return _hf("BertForMaskedLM", size, **own), ((size.tokens(0),), {}), lambda output: output.logits


def marian(size: Size) -> Built:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=size.vocabulary,
        d_model=size.width,
        max_position_embeddings=size.length,
        pad_token_id=0,
        decoder_start_token_id=1,
        dropout=0.0,
        use_cache=False,
        **{f"{side}_layers": size.layers for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": HEADS for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 4 * size.width for side in ("encoder", "decoder")},
    )
    source, target = size.tokens(2), size.tokens(0)
    return MarianMTModel(config), ((), {"input_ids": source, "decoder_input_ids": target}), lambda output: output.logits


class TorchTransformer(nn.Module):
    """`nn.Transformer` with a table and a head around it, as its tutorial has them."""

    def __init__(self, size: Size):
        super().__init__()
        self.table = nn.Embedding(size.vocabulary, size.width)
        self.core = nn.Transformer(
            size.width, HEADS, size.layers, size.layers, 4 * size.width, dropout=0.0, batch_first=True
        )
        self.head = nn.Linear(size.width, size.vocabulary)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(size.length))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        hidden = self.core(self.table(source), self.table(target), tgt_mask=self.mask, tgt_is_causal=True)
        return self.head(hidden)


def torch_transformer(size: Size) -> Built:
    return TorchTransformer(size), ((size.tokens(2), size.tokens(0)), {}), lambda output: output


def x_transformers(size: Size) -> Built:
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(
        dim=size.width,
        depth=size.layers,
        heads=HEADS,
        attn_dim_head=size.width // HEADS,
        rotary_pos_emb=True,
        use_rmsnorm=True,
        ff_glu=True,
        ff_swish=True,
        ff_mult=8 / 3,
        ff_no_bias=True,
    )
    model = TransformerWrapper(
        num_tokens=size.vocabulary, max_seq_len=size.length, attn_layers=layers, use_abs_pos_emb=False
    )
    return model, ((size.tokens(0),), {}), lambda output: output


PEERS: dict[tuple[str, str], Callable[[Size], Built]] = {
    ("causal", "transformers Llama"): llama,
    ("causal", "x-transformers"): x_transformers,
    ("translation", "transformers Marian"): marian,
    ("translation", "torch nn.Transformer"): torch_transformer,
    ("masked", "transformers BERT"): bert,
    ("experts", "transformers Mixtral"): mixtral,
}
