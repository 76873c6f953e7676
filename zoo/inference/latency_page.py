"""Latency as a page: curves, each with its numbers. Needs no torch; reads what latency.json holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoo.mismatch import told
from zoo.number import counted
from zoo.page import Axis, Cell, Column, Figure, Page, Section, Table, band, line

One = Mapping[str, Any]
BYTES = ("state_bytes_counted", "state_bytes", "peak_bytes")


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
            *told(found),
            f"{found['machine']['processor']}, {counted(machinery['threads'], 'thread')}, {machinery['device']},"
            f" {machinery['dtype']}, attention {machinery['attention']},"
            f" steps {'compiled' if plan['compiled'] else 'eager'}, torch {machinery['torch_version']}.",
            f"{plan['new_tokens']} new tokens, greedy; median of {plan['repetitions']} repetitions after"
            f" {plan['warm_up']} for warming up; bands from the fastest to the slowest.",
        ],
        sections=figures(rows),
        kind="Latency",
    )


def figures(rows: Sequence[One]) -> list[Section]:
    """The sections of one run: a curve for each batch, or for each prompt."""
    longest = [one for one in rows if one["prompt"] == max(one["prompt"] for one in rows)]
    batches, prompts = _by("batch", rows), _by("prompt", rows)
    return [
        Section("first", "Prefill: time to the first token", [first_token("batch", batches)]),
        Section("each", "Decode: time per output token", [per_token("batch", _by("batch", longest))]),
        Section("throughput", "Throughput", [throughput("prompt", prompts)]),
        Section("memory", "Memory and state", [memory("prompt", prompts)]),
    ]


@dataclass(frozen=True)
class Group:
    """Measurements that one curve is drawn through."""

    name: str
    value: Cell
    """What stands for them in the table."""
    slot: int
    rows: Sequence[One]


def _by(key: str, rows: Sequence[One]) -> list[Group]:
    """A group for each value of a key."""
    return [
        Group(f"{key} {value}", value, slot, [one for one in rows if one[key] == value])
        for slot, value in enumerate(sorted({one[key] for one in rows}))
    ]


def first_token(by: str, groups: Sequence[Group]) -> Figure:
    """TTFT against the length of the prompt."""
    title, x, y = "Time to the first token against the length of the prompt", "prompt (tokens)", "TTFT (ms)"
    return _curves(
        by, groups, title, Axis(x, log=True), Axis(y, log=True), lambda one: one["prompt"], "first_token_seconds", 1e3
    )


def throughput(by: str, groups: Sequence[Group]) -> Figure:
    """Tokens per second against the batch."""
    title, x, y = "Tokens per second, both phases together, against the batch", "batch (rows)", "tokens/s"
    return _curves(
        by, groups, title, Axis(x, log=True), Axis(y, log=True), lambda one: one["batch"], "tokens_per_second", 1.0
    )


def _curves(
    by: str,
    groups: Sequence[Group],
    title: str,
    x: Axis,
    y: Axis,
    place: Callable[[One], int],
    key: str,
    unit: float,
) -> Figure:
    """A curve with its band for each group."""
    marks, cells = [], []
    for group in groups:
        own = sorted(group.rows, key=place)
        places = [place(one) for one in own]
        low, middle, high = ([unit * one[key][part] for one in own] for part in ("low", "median", "high"))
        marks += [
            band(group.name, places, low, high, group.slot),
            line(group.name, places, middle, group.slot, dots=True),
        ]
        cells += [[group.value, *each] for each in zip(places, middle, low, high, strict=True)]
    columns = [Column(by), Column(x.title), Column(y.title), Column("lowest"), Column("highest")]
    return Figure(title, marks, x, y, Table(columns, cells))


def per_token(by: str, groups: Sequence[Group]) -> Figure:
    """TPOT against position; a group has one measurement."""
    marks, cells = [], []
    for group in groups:
        (one,) = group.rows
        places = [at["position"] for at in one["by_position"]]
        low, middle, high = (
            [1e3 * at["seconds"][key] for at in one["by_position"]] for key in ("low", "median", "high")
        )
        marks += [band(group.name, places, low, high, group.slot), line(group.name, places, middle, group.slot)]
        cells += [[group.value, *each] for each in zip(places, middle, low, high, strict=True)]
    columns = [Column(by), Column("position"), Column("TPOT (ms)"), Column("lowest"), Column("highest")]
    title = f"Time per output token against position, after a prompt of {groups[0].rows[0]['prompt']}"
    return Figure(title, marks, Axis("position (tokens)"), Axis("TPOT (ms)"), Table(columns, cells), zero="y")


def memory(by: str, groups: Sequence[Group]) -> Figure:
    """Bytes of the state, counted and measured, and the peak, against the batch."""
    marks, cells = [], []
    for group in groups:
        own = sorted(group.rows, key=lambda one: one["batch"])
        batches = [one["batch"] for one in own]
        for offset, (key, what) in enumerate((("state_bytes", "state"), ("peak_bytes", "peak"))):
            values = [one[key] / 2**20 for one in own]
            marks.append(line(f"{what}, {group.name}", batches, values, group.slot + 8 * offset, dots=True))
        cells += [[group.value, one["batch"], *(one[key] / 2**20 for key in BYTES)] for one in own]
    columns = [Column(by), Column("batch"), Column("state, counted (MiB)"), Column("state, measured (MiB)")]
    return Figure(
        "Bytes of the state, and the most that tensors held beside the weights",
        marks,
        Axis("batch (rows)", log=True),
        Axis("MiB", log=True),
        Table([*columns, Column("peak (MiB)")], cells),
        "The state holds the prompt and all new tokens. The peak is of one prompt and one step; what a kernel takes for"
        " itself is not in it.",
    )
