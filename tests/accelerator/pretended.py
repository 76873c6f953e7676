"""An accelerator that is pretended. Its tensors lie in the processor's memory and its numbers are the processor's, but
a tensor of the processor that meets one of them is refused, as a GPU refuses it, and only `.to` brings one across.

Torch knows one such device a process and calls it the accelerator from then on, so that a process has to have ended
before others go on as they are.
"""

from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend


class Backend(_DummyBackendModule):
    """What torch asks of a device before autocast."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


_setup_privateuseone_for_python_backend("pretended", Backend())
DEVICE = torch.device("pretended", 0)


class There(Tensor):
    """A tensor on the device, which is `held` by one of the processor."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Self:
        made = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        made.held = held
        return made

    def __repr__(self) -> str:  # type: ignore[override]
        return f"There({self.held})"

    def tolist(self) -> Any:
        return self.held.tolist()

    @classmethod
    def __torch_dispatch__(cls, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(func, args, kwargs or {})


class Pretended(TorchDispatchMode):
    """`with Pretended():` the device is there."""

    def __torch_dispatch__(self, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(func, args, kwargs or {})

    def __enter__(self) -> Self:
        torch._C._set_only_lift_cpu_tensors(True)  # `torch.tensor(…, device=…)` then passes through here
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        torch._C._set_only_lift_cpu_tensors(False)
        super().__exit__(kind, error, traceback)


def compute(func: OpOverload, args: Any, kwargs: dict[str, Any]) -> Any:
    """Do on the processor what the device is told. Raises RuntimeError where tensors of both meet; as on a GPU, numbers
    without axes may, and so may indices of the processor into a tensor of the device."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    there = [tensor for tensor in tensors if isinstance(tensor, There)]
    here = [tensor for tensor in tensors if not isinstance(tensor, There) and tensor.ndim]
    name = func._schema.name
    indexed = name.startswith("aten::index") and isinstance(args[0], There) and isinstance(args[1], list | tuple)
    if there and here and name != "aten::copy_" and not (indexed and all(isinstance(t, Tensor) for t in here)):
        raise RuntimeError(f"{name} got tensors on pretended and on cpu, of {[tuple(t.shape) for t in here]}")
    asked = None if kwargs.get("device") is None else torch.device(kwargs["device"])
    goes_there = bool(there) if asked is None else asked.type == DEVICE.type
    outside = {id(tensor.held): tensor for tensor in there}
    moved: Any = {**kwargs, "device": torch.device("cpu")} if asked is not None else kwargs
    args, moved = tree_map(lambda leaf: leaf.held if isinstance(leaf, There) else leaf, (args, moved))

    def brought(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return outside[id(leaf)] if id(leaf) in outside else There(leaf) if goes_there else leaf

    return tree_map(brought, func(*args, **moved))


def move(model: nn.Module) -> None:
    """What `model.to(DEVICE)` does on a GPU: a weight that two places share stays one."""
    moved: dict[int, Tensor] = {}
    kept = []  # else the id of one that is gone could be that of the next
    for module in model.modules():
        for held in (module._parameters, module._buffers):
            for name, old in held.items():
                if old is not None:
                    kept.append(old)
                    data = old.data.to(DEVICE)
                    new = nn.Parameter(data, old.requires_grad) if isinstance(old, nn.Parameter) else data
                    held[name] = moved.setdefault(id(old), new)  # type: ignore[assignment]
