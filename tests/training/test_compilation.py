"""What compiled code is spared: the same waves in every layer, and masks of what is kept anyway."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SHOWN = """
import json
import sys

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table

from tests.helpers import composed
from zoo.assembly import build_model
from zoo.config import parse_model
from zoo.jobs.parts import place
from zoo.training.runtime import Machinery

preset, names = sys.argv[1], sys.argv[2:]
node = composed(f"model={preset}")["model"] | {"d_model": 32, "n_layers": 2, "n_heads": 2}
model = build_model(parse_model(node), 16, seed=0)
place(model, Machinery("cpu", "float32", "products", True, 1, torch.__version__))
passes = []


def shown(graph, inputs):
    (result,) = graph.graph.find_nodes(op="output")
    kept = [str(one.meta["val"].dtype) for one in result.args[0] if one is not None and "val" in one.meta]
    passes.append({"calls": [str(one.target) for one in graph.graph.nodes if one.op == "call_function"], "kept": kept})
    return graph.forward


model.compile(backend=aot_autograd(
    fw_compiler=shown,
    bw_compiler=shown,
    partition_fn=min_cut_rematerialization_partition,
    decompositions=select_decomp_table(),
))
tokens = torch.arange(64).view(2, 32) % 16
model(**{name: tokens for name in names}).logits.sum().backward()
print(json.dumps(passes))
"""


def passes(*words: str) -> list[dict[str, Any]]:
    """Of the forward and the backward pass of two layers: what is called, and the dtypes of what comes out. In a
    process of its own: checked signatures and compiled code do not mix."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, *words], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    forward, backward = json.loads(done.stdout)
    return [forward, backward]


def test_the_waves_of_a_rotation_are_computed_once_and_kept() -> None:
    forward, backward = passes("llama", "tokens")
    assert sum(".cos" in call for call in forward["calls"]) == 1
    assert sum("kept" in call for call in forward["calls"]) == 2
    assert not any(".cos" in call or "kept" in call for call in backward["calls"])


def test_of_a_relu_no_mask_is_kept_beside_its_result() -> None:
    forward, backward = passes("transformer_2017", "tokens", "source")
    assert sum(".relu" in call for call in forward["calls"]) == 4
    assert "torch.bool" not in forward["kept"]
    assert sum(".le" in call for call in backward["calls"]) == 4
