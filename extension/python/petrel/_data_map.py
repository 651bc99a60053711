# SPDX-License-Identifier: Apache-2.0
"""Named data from wherever an application has it."""

import dataclasses
from typing import Any, Iterable, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class TensorLayout:
    """What the bytes of a tensor mean; dim_order None is 0, 1, 2, ..."""
    dtype: str  # NumPy's word: "float32"
    shape: Tuple[int, ...]
    dim_order: Optional[Tuple[int, ...]] = None


class NamedDataMap:
    """Bytes by key, for load(data=[...]): defines get_data and keys.

    Methods may be called from any thread that runs a program. What they raise
    comes out of the call that wanted the data.
    """

    def get_data(self, key: str) -> Any:
        """The bytes of a key: bytes, a memoryview, an array. KeyError if there is none.

        They must not change as long as a program uses them. Memory that begins at
        a multiple of 16 is used as it is, other is copied.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define get_data")

    def keys(self) -> Iterable[str]:
        raise NotImplementedError(f"{type(self).__name__} does not define keys")

    def get_num_keys(self) -> int:
        return len(list(self.keys()))

    def get_key(self, index: int) -> str:
        return list(self.keys())[index]

    def get_tensor_layout(self, key: str) -> Optional[TensorLayout]:
        """None when it is not known: sizes in bytes then have to do."""
        del key
        return None
