"""Latency as a page: curves, each with its numbers. Needs no torch; reads what latency.json holds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zoo.page import Axis, Column, Figure, Page, Section, Table, band, line

One = Mapping[str, Any]


def latency_page(found: Mapping[str, Any]) -> Page:
    """Both phases, throughput and memory of one run."""
    rows: Sequence[One] = found["measurements"]
    machinery, plan = found["machinery"], found["plan"]
    fastest = max(rows, key=lambda one: one["tokens_per_second"]["median"])
    quickest = min(rows, key=lambda one: one["token_seconds"]["median"])
    return Page(
        title=f"What generating costs: {found['run']}",
        answer=f"{fastest['tokens_per_second']['median']:,.0f} tokens/s at batch {fastest['batch']};"
        f" {1e3 * quickest['token_seconds']['median']:.2f} ms per token at batch {quickest['batch']}.",
        facts=[
            f"{found['machine']['processor']}, {machinery['threads']} threads, {machinery['device']},"
            f" {machinery['dtype']}, attention {machinery['attention']},"
            f" steps {'compiled' if plan['compiled'] else 'eager'}, torch {machinery['torch_version']}.",
            f"{plan['new_tokens']} new tokens, greedy; median of {plan['repetitions']} repetitions after"
            f" {plan['warm_up']} for warming up; bands from the fastest to the slowest.",
        ],
        sections=figures(rows),
        kind="Latency",
    )


def figures(rows: Sequence[One]) -> list[Section]:
    """The sections, which a report of several runs can take over."""
    return [
        Section("first", "Prefill: time to the first token", [_first(rows)]),
        Section("each", "Decode: time per output token", [_each(rows)]),
        Section("throughput", "Throughput", [_throughput(rows)]),
        Section("memory", "Memory and state", [_memory(rows)]),
    ]


def _first(rows: Sequence[One]) -> Figure:
    return _curves(
        rows,
        "Time to the first token against the length of the prompt",
        lambda one: (one["prompt"], one["first_token_seconds"]),
        "batch",
        Axis("prompt (tokens)", log=True),
        Axis("TTFT (ms)", log=True),
        1e3,
    )


def _throughput(rows: Sequence[One]) -> Figure:
    return _curves(
        rows,
        "Tokens per second, both phases together, against the batch",
        lambda one: (one["batch"], one["tokens_per_second"]),
        "prompt",
        Axis("batch (rows)", log=True),
        Axis("tokens/s", log=True),
        1.0,
    )


def _curves(
    rows: Sequence[One],
    title: str,
    point: Callable[[One], tuple[int, Mapping[str, float]]],
    by: str,
    x: Axis,
    y: Axis,
    unit: float,
) -> Figure:
    """A curve with its band for each value of `by`."""
    marks, cells = [], []
    for slot, value in enumerate(sorted({one[by] for one in rows})):
        points = sorted((point(one) for one in rows if one[by] == value), key=lambda one: one[0])
        places = [place for place, _ in points]
        low, middle, high = ([unit * spread[key] for _, spread in points] for key in ("low", "median", "high"))
        marks += [
            band(f"{by} {value}", places, low, high, slot),
            line(f"{by} {value}", places, middle, slot, dots=True),
        ]
        cells += [[value, *each] for each in zip(places, middle, low, high, strict=True)]
    columns = [Column(by), Column(x.title), Column(y.title), Column("lowest"), Column("highest")]
    return Figure(title, marks, x, y, Table(columns, cells))


def _each(rows: Sequence[One]) -> Figure:
    longest = max(one["prompt"] for one in rows)
    marks, cells = [], []
    for slot, one in enumerate(one for one in rows if one["prompt"] == longest):
        name, places = f"batch {one['batch']}", [at["position"] for at in one["by_position"]]
        low, middle, high = (
            [1e3 * at["seconds"][key] for at in one["by_position"]] for key in ("low", "median", "high")
        )
        marks += [band(name, places, low, high, slot), line(name, places, middle, slot)]
        cells += [[one["batch"], *each] for each in zip(places, middle, low, high, strict=True)]
    columns = [Column("batch"), Column("position"), Column("TPOT (ms)"), Column("lowest"), Column("highest")]
    title = f"Time per output token against position, after a prompt of {longest}"
    return Figure(title, marks, Axis("position (tokens)"), Axis("TPOT (ms)"), Table(columns, cells), zero="y")


def _memory(rows: Sequence[One]) -> Figure:
    marks, cells = [], []
    for slot, prompt in enumerate(sorted({one["prompt"] for one in rows})):
        own = sorted((one for one in rows if one["prompt"] == prompt), key=lambda one: one["batch"])
        batches = [one["batch"] for one in own]
        for offset, (key, what) in enumerate((("state_bytes", "state"), ("peak_bytes", "peak"))):
            values = [one[key] / 2**20 for one in own]
            marks.append(line(f"{what}, prompt {prompt}", batches, values, slot + 8 * offset, dots=True))
        cells += [
            [prompt, one["batch"], *(one[key] / 2**20 for key in ("state_bytes_counted", "state_bytes", "peak_bytes"))]
            for one in own
        ]
    columns = [Column("prompt"), Column("batch"), Column("state, counted (MiB)"), Column("state, measured (MiB)")]
    return Figure(
        "Bytes of the state, and the most that tensors held beside the weights",
        marks,
        Axis("batch (rows)", log=True),
        Axis("MiB", log=True),
        Table([*columns, Column("peak (MiB)")], cells),
        "The state holds the prompt and all new tokens. The peak is of one prompt and one step; what a kernel takes for"
        " itself is not in it.",
    )
