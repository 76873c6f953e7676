"""Study folders without training: what a runner and its runs would have written, with losses that are known."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Loss = Callable[[str, Mapping[str, Any], int], float | None]
"""Final test loss of (variant, tuning, seed); None for a run that diverged."""

SKILLS = ("grammar", "agreement", "recall")
DISTANCES = ("1", "2–3", "4–7", "8–15")


def science(seed: int, **changes: Any) -> dict[str, Any]:
    """What a record says of a run; `changes` reach into it by dotted keys written with __."""
    found: dict[str, Any] = {
        "model": {"d_model": 16, "n_layers": 2, "norm": {"name": "rmsnorm"}},
        "objective": {"name": "causal"},
        "tokenizer": {"name": "bytes"},
        "optimizer": {"name": "adamw", "lr": 0.001, "betas": [0.9, 0.99]},
        "schedule": {"name": "cosine", "warmup": 0.1},
        "budget": {"steps": 300, "batch_size": 4, "context": 32, "accumulate": 1},
        "seed": seed,
        "data": "b3f9",
    }
    for key, value in changes.items():
        *path, last = key.split("__")
        node = found
        for part in path:
            node = node[part]
        node[last] = value
    return found


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


def write_run(
    folder: Path,
    loss: float | None,
    seed: int,
    *,
    overrides: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    costs: Mapping[str, float] | None = None,
    machinery: Mapping[str, Any] | None = None,
    state: str = "",
    lines: int = 20,
    rich: bool = True,
    speed: float = 1.0,
    scored: int = 4000,
) -> None:
    """A run folder that ended with that test loss."""
    folder.mkdir(parents=True)
    about = science(seed, **(changes or {}))
    steps = about["budget"]["steps"]
    write(
        folder / "record.json",
        {
            "choices": {},
            "overrides": [*overrides, f"seed={seed}"],
            "science": about,
            "machinery": {
                "device": "cpu",
                "dtype": "float32",
                "attention": "fused",
                "compile": False,
                "threads": 1,
                "torch_version": "2.13.0",
                **(machinery or {}),
            },
            "costs": {
                "parameters": 1000,
                "embedding_parameters": 400,
                "active_parameters": 1000,
                "context": 32,
                "flops_per_token": 2000.0,
                "state_elements": 512,
                **(costs or {}),
            },
            "commit": "0123456789abcdef",
            "dirty": False,
            "python": "3.11.2",
            "packages": {"torch": "2.13.0"},
            "machine": {"system": "Linux", "processor": "a processor", "cores": 2},
        },
    )
    end = 2.0 if loss is None else loss
    out = []
    flops = 3 * 128 * (costs or {}).get("flops_per_token", 2000.0)
    for number in range(1, lines + 1):
        step = number * steps // lines
        base = {"step": step, "tokens": 128 * step, "flops": flops * step, "seconds": round(step * 0.01 / speed, 4)}
        value = end + 3 * math.exp(-4 * number / lines) - 3 * math.exp(-4)
        train = {"lr": 0.001, "grad_norm": 1 / number, "tokens_per_second": 9000.0 * speed}
        out.append({**base, "split": "train", "loss": value, **train})
        if rich and number % 5 == 0:
            out[-1]["gradients"] = {f"stack.layers.{layer}.mixer": 1 / number / (layer + 1) for layer in range(2)}
        if number % 5 == 0:
            out.append({**base, "split": "validation", "loss": value, "scored": 4000})
    done = loss is not None
    scores: dict[str, Any] = {}
    if done:
        plain = {"bits_per_byte": end / math.log(2) / 4, "accuracy": 0.3, "scored": scored}
        if rich:
            plain |= {"floor": 1.5, "skills": _skills(end)}
        scores = {split: {"loss": end + shift, **plain} for split, shift in (("validation", 0.01), ("test", 0.0))}
        out += [{**base, "split": split, **one} for split, one in scores.items()]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in out))
    if done and rich:
        lengths = [{"context": context, "loss": end + context / 1000, "floor": 1.5} for context in (32, 64, 128)]
        norms = {f"stack.layers.{layer}.{part}": 0.5 / (layer + 1) for layer in range(2) for part in ("mixer", "ffn")}
        write(folder / "latency.json", latency(0.002 / speed))
        write(folder / "translation.json", translation(0.5, 70.0))
        write(folder / "scores.json", {**scores, "lengths": lengths, "gradients": {"initial": norms, "final": norms}})
    write(folder / "status.json", {"state": state or ("done" if done else "diverged"), "step": steps, "reason": ""})


def latency(seconds: float, threads: int = 1) -> dict[str, Any]:
    """What latency.json holds of a model with that time per token; it reads a prompt token by token."""

    def spread(value: float) -> dict[str, float]:
        return {"median": value, "low": value / 2, "high": 2 * value}

    rows = [
        {
            "batch": batch,
            "prompt": prompt,
            "first_token_seconds": spread(prompt * seconds),
            "token_seconds": spread(seconds),
            "by_position": [{"position": prompt + 2, "seconds": spread(seconds)}],
            "tokens_per_second": spread(batch / seconds),
            "state_bytes_counted": 1024 * batch,
            "state_bytes": 1024 * batch,
            "peak_bytes": 4096 * batch,
        }
        for prompt in (8, 16)
        for batch in (1, 4)
    ]
    return {
        "plan": {"new_tokens": 4, "repetitions": 3, "compiled": False},
        "machinery": {"threads": threads, "device": "cpu", "dtype": "float32"},
        "machine": {"processor": "a processor"},
        "measurements": rows,
    }


def translation(exact: float, chrf: float, pairs: int = 500) -> dict[str, Any]:
    """What translation.json holds of a model with those scores, on a language whose synonyms are known."""
    synonyms = {"exact": exact + 0.1, "best": 0.9}
    splits = [
        {"split": split, "pairs": pairs, "too_long": 0, "exact": exact, "chrf": chrf, "synonyms": synonyms}
        for split in ("validation", "test")
    ]
    machinery = {"device": "cpu", "dtype": "float32"}
    return {"asked": pairs, "sacrebleu": "2.6.0", "signature": "nc:6", "machinery": machinery, "splits": splits}


def _skills(loss: float) -> dict[str, Any]:
    return {
        skill: {
            "tokens": 100,
            "loss": loss + place,
            "floor": 1.0,
            "accuracy": 0.4,
            "determined": 10,
            "determined_accuracy": 0.5,
            "determined_by_distance": {distance: 0.9 - far / 10 for far, distance in enumerate(DISTANCES)},
            "lines": {"chance": {"accuracy": 0.125, "nats": 2.08}},
            "by_distance": {distance: loss - 1 + far / 10 for far, distance in enumerate(DISTANCES)},
        }
        for place, skill in enumerate(SKILLS)
    }


def write_study(
    root: Path,
    loss: Loss,
    variants: Sequence[str] = ("base", "other"),
    seeds: Sequence[int] = range(8),
    *,
    tuning: Mapping[str, Sequence[Any]] | None = None,
    run: Mapping[str, Mapping[str, Any]] | None = None,
    **about: Any,
) -> Path:
    """A study in root/studies/simulated, its runs in root. `run` has further arguments of `write_run` by variant."""
    folder = root / "studies" / "simulated"
    folder.mkdir(parents=True)
    tunings: list[dict[str, Any]] = [{}]
    for key, values in (tuning or {}).items():
        tunings = [{**one, key: value} for one in tunings for value in values]
    jobs = []
    for variant in variants:
        for chosen in tunings:
            for seed in seeds:
                number = len(jobs)
                words = [f"model/norm={variant}", *(f"{key}={value}" for key, value in chosen.items())]
                place = root / f"run-{number}"
                extra = dict((run or {}).get(variant, {}))
                extra["changes"] = {"model__norm": {"name": variant}, **extra.get("changes", {})}
                write_run(place, loss(variant, chosen, seed), seed, overrides=words, **extra)
                jobs.append(
                    {
                        "job": number,
                        "variant": variant,
                        "tuning": chosen,
                        "seed": seed,
                        "overrides": [*words, f"seed={seed}"],
                    }
                )
                state = json.loads((place / "status.json").read_text())["state"]
                write(
                    folder / f"{number}.json", {"job": number, "state": state, "folder": os.path.relpath(place, folder)}
                )
    write(
        folder / "study.json",
        {
            "format": 1,
            "name": "simulated",
            "question": "Which norm?",
            "reference": variants[0],
            "chain": False,
            "metric": "test loss",
            "match": "none",
            "variants": [{"name": one, "overrides": [f"model/norm={one}"], "says": ""} for one in variants],
            "tuning": {key: list(values) for key, values in (tuning or {}).items()},
            "seeds": list(seeds),
            "fixed": ["data=toy"],
            "jobs": jobs,
            **about,
        },
    )
    return folder


def noisy(effects: Mapping[str, float], sd: float = 0.01, shared: float = 0.05, base: float = 2.0) -> Loss:
    """Losses with an effect for each variant, noise of each run and noise that the runs of a seed share."""

    def loss(variant: str, tuning: Mapping[str, Any], seed: int) -> float:
        common = np.random.default_rng([seed, 1]).standard_normal() * shared
        own = np.random.default_rng([seed, *variant.encode()]).standard_normal() * sd
        return float(base + effects[variant] + common + own)

    return loss
