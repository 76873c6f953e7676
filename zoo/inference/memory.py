"""How many bytes of tensors live at once."""

import weakref
from typing import Any

from torch import Tensor, UntypedStorage
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class PeakTensors(TorchDispatchMode):
    """`with PeakTensors() as peak: ...`, then `peak.bytes`: the most bytes that tensors made inside held at once, each
    storage counted once. What a kernel takes for itself is not seen. Works alike on every device."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        self._now = 0
        self._known: weakref.WeakSet[UntypedStorage] = weakref.WeakSet()

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        for one in tree_leaves((arguments, named)):
            if isinstance(one, Tensor) and one.untyped_storage() not in self._known and one.untyped_storage().nbytes():
                self._known.add(one.untyped_storage())  # from outside, such as a weight: known, and not counted
        found = function(*arguments, **(named or {}))
        for one in tree_leaves(found):
            if isinstance(one, Tensor):
                self._count(one.untyped_storage())
        return found

    def _count(self, storage: UntypedStorage) -> None:
        if storage in self._known:
            return
        self._known.add(storage)
        size = storage.nbytes()
        self._now += size
        self.bytes = max(self.bytes, self._now)
        weakref.finalize(storage, self._release, size)

    def _release(self, size: int) -> None:
        self._now -= size
