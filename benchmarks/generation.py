"""How fast text is generated, beside transformers and x-transformers: one process, the same shapes, greedy, by turns.

    python benchmarks/generation.py [threads=2] [rounds=5] [new=128] [batches=1,32] [clock=wall] [json=generation.json]
        [peers=transformers,x-transformers]

Width 128, 4 layers, 4 heads, vocabulary 256; a prompt of 16 tokens; float32; untrained weights. A turn is one call of
each library; medians over the turns, the spread, and the median ratio to transformers are shown. `ours, compiled` is
`zoo.generate(compiled=True)`; its program is made in the first call, which is no turn. Where other work keeps the
machine busy, `threads=1 clock=cpu` counts the processor time of the one thread in place of what passes on the wall.
Needs the extra `dev`.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor

GIVEN = dict(word.split("=", 1) for word in sys.argv[1:])
THREADS, ROUNDS, NEW = (int(GIVEN.get(key, value)) for key, value in (("threads", 2), ("rounds", 5), ("new", 128)))
BATCHES = [int(rows) for rows in GIVEN.get("batches", "1,32").split(",")]
PEERS = {"transformers", *GIVEN.get("peers", "transformers,x-transformers").split(",")}
CLOCK = {"wall": time.perf_counter, "cpu": time.thread_time}[GIVEN.get("clock", "wall")]
WIDTH, LAYERS, HEADS, FEATURES, VOCABULARY, PROMPT = 128, 4, 4, 340, 256, 16

Contestant = Callable[[Tensor], Tensor]
"""A prompt (B, T) in, the new tokens (B, N) out."""


def ours(*, compiled: bool) -> Contestant:
    import zoo

    sizes = (f"model.d_model={WIDTH}", f"model.n_layers={LAYERS}", f"model.n_heads={HEADS}")
    model = zoo.build("llama", *sizes, f"model.ffn.d_ff={FEATURES}", vocabulary=VOCABULARY).eval()
    model.attention = "fused"
    return lambda prompt: zoo.generate(model, prompt, max_new_tokens=NEW, temperature=0, compiled=compiled)


def hugging_face() -> Contestant:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=FEATURES,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=PROMPT + NEW,
        eos_token_id=None,
        pad_token_id=0,
    )
    model = LlamaForCausalLM(config).eval()
    return lambda prompt: model.generate(prompt, max_new_tokens=NEW, do_sample=False)[:, PROMPT:]


def x_transformers() -> Contestant:
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    layers = Decoder(
        dim=WIDTH,
        depth=LAYERS,
        heads=HEADS,
        attn_dim_head=WIDTH // HEADS,
        rotary_pos_emb=True,
        use_rmsnorm=True,
        ff_glu=True,
        ff_swish=True,
        ff_no_bias=True,
        ff_mult=FEATURES / WIDTH,
        attn_flash=True,
    )
    inner = TransformerWrapper(
        num_tokens=VOCABULARY, max_seq_len=PROMPT + NEW, attn_layers=layers, use_abs_pos_emb=False, tie_embedding=False
    )
    model = AutoregressiveWrapper(inner).eval()
    return lambda prompt: model.generate(prompt, NEW, temperature=0.0, cache_kv=True)


def seconds(call: Contestant, prompt: Tensor) -> float:
    """One call, whose result must be whole."""
    start = CLOCK()
    found = call(prompt)
    taken = CLOCK() - start
    assert found.shape == (len(prompt), NEW), found.shape
    return taken


def race(rows: int, contestants: dict[str, Contestant]) -> dict[str, dict[str, float]]:
    """Tokens per second of each, by turns; `first` is the seconds of its first call."""
    prompt = torch.randint(VOCABULARY, (rows, PROMPT), generator=torch.Generator().manual_seed(0))
    first = {name: seconds(call, prompt) for name, call in contestants.items()}
    turns = [{name: rows * NEW / seconds(call, prompt) for name, call in contestants.items()} for _ in range(ROUNDS)]
    return {
        name: {
            "best": max(turn[name] for turn in turns),
            "median": median(turn[name] for turn in turns),
            "worst": min(turn[name] for turn in turns),
            "ratio": median(turn[name] / turn["transformers"] for turn in turns),
            "first_call_seconds": first[name],
        }
        for name in contestants
    }


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(THREADS)
    contestants = {"ours, compiled": ours(compiled=True), "ours, eager": ours(compiled=False)}
    peers = {"transformers": hugging_face, "x-transformers": x_transformers}
    contestants |= {name: make() for name, make in peers.items() if name in PEERS}
    found = {}
    print(f"{PROMPT} + {NEW} tokens, {THREADS} threads, {ROUNDS} turns, {CLOCK.__name__}, torch {torch.__version__}")
    print(f"{'batch':>5}  {'':16}{'median tokens/s':>16}{'worst':>9}{'best':>9}{'ratio':>8}{'first call':>12}")
    for rows in BATCHES:
        found[str(rows)] = race(rows, contestants)
        for name, one in found[str(rows)].items():
            numbers = f"{one['median']:16,.0f}{one['worst']:9,.0f}{one['best']:9,.0f}{one['ratio']:8.2f}"
            print(f"{rows:5}  {name:16}{numbers}{one['first_call_seconds']:10.1f} s", flush=True)
    if "json" in GIVEN:
        with open(GIVEN["json"], "w", encoding="utf-8") as file:
            how = {"threads": THREADS, "rounds": ROUNDS, "new": NEW, "clock": CLOCK.__name__}
            json.dump({**how, "tokens_per_second": found}, file, indent=1)


if __name__ == "__main__":
    main()
