# SPDX-License-Identifier: Apache-2.0
"""Values of Python as petrel_value, and back."""

import ctypes
import dataclasses
import math
import sys
import weakref
from typing import Any, List, Optional, Tuple

import numpy

from petrel_runtime._error import Error
from petrel_runtime._library import KINDS, MAX_RANK, Value, to_bytes, to_text

# NumPy has no bfloat16: its bits are uint16 there.
_NAMES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
          7: "float64", 11: "bool", 15: "bfloat16", 27: "uint16", 28: "uint32", 29: "uint64"}
_NUMBERS = {name: number for number, name in _NAMES.items()}


@dataclasses.dataclass(frozen=True)
class ValueInfo:
    """What is known of an input or output."""
    kind: str  # "Tensor", "Int", "Double", "Bool", "String", "None", ...
    # Of tensors; None for others. The largest shape if it is dynamic.
    dtype: Optional[str] = None
    shape: Optional[Tuple[int, ...]] = None
    dim_order: Optional[Tuple[int, ...]] = None
    is_dynamic: bool = False
    # Of integers that stand for numbers: number = scale * (integer - zero_point).
    scale: Optional[float] = None
    zero_point: Optional[int] = None


class Tensor:
    """Elements that NumPy has no type for: bfloat16. numpy.asarray() gives its bits."""

    def __init__(self, bits: "numpy.ndarray[Any, Any]", dtype: str = "bfloat16") -> None:
        if dtype != "bfloat16" or bits.dtype != numpy.uint16:
            raise TypeError(f"a Tensor is bfloat16 of uint16, not {dtype} of {bits.dtype}")
        self._bits = bits
        self.dtype = dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self._bits.shape)

    @property
    def nbytes(self) -> int:
        return self._bits.nbytes

    def __array__(self, dtype: Any = None,
                  copy: Optional[bool] = None) -> "numpy.ndarray[Any, Any]":
        del copy
        return self._bits if dtype is None else self._bits.astype(dtype)


def info_of(value: Value, levels: Optional[Tuple[float, int]]) -> ValueInfo:
    kind = KINDS.get(value.kind, "Other")
    if kind != "Tensor":
        return ValueInfo(kind)
    scale, zero_point = levels or (None, None)
    return ValueInfo(kind, _NAMES.get(value.dtype, str(value.dtype)),
                     tuple(value.sizes[:value.rank]), tuple(value.dim_order[:value.rank]),
                     bool(value.is_dynamic), scale, zero_point)


def _array_of(given: Any) -> "numpy.ndarray[Any, Any]":
    if isinstance(given, (numpy.ndarray, Tensor)) or not hasattr(given, "__dlpack__"):
        return numpy.asarray(given)
    if hasattr(given, "resolve_neg"):
        # torch hands out elements that are still to be negated as they lie in memory.
        given = given.resolve_neg()
    return numpy.from_dlpack(given)


def to_value(given: Any, index: int, info: ValueInfo, is_written: bool) -> Tuple[Value, Any]:
    """Input `index` for the C interface, and what must stay as long as it is used."""
    value = Value(ctypes.sizeof(Value))
    if given is None:
        return value, None
    if isinstance(given, (bool, numpy.bool_)):
        value.kind, value.int_value = 5, int(given)
        return value, None
    if isinstance(given, (int, numpy.integer)) and info.kind != "Double":
        # ctypes would keep the lowest 64 bits.
        if not -2**63 <= int(given) < 2**63:
            raise Error(f"input {index} is an int that needs more than 64 bits", "InvalidArgument")
        value.kind, value.int_value = 4, int(given)
        return value, None
    if isinstance(given, (int, float, numpy.integer, numpy.floating)):
        value.kind, value.double_value = 3, float(given)
        return value, None
    if isinstance(given, str):
        text = to_bytes(given)
        holder = ctypes.create_string_buffer(text, max(len(text), 1))
        value.kind, value.string, value.string_size = 2, ctypes.addressof(holder), len(text)
        return value, holder
    return _tensor_value(value, given, index, info, is_written)


def _tensor_value(value: Value, given: Any, index: int, info: ValueInfo,
                  is_written: bool) -> Tuple[Value, Any]:
    if str(getattr(given, "dtype", "")) == "torch.bfloat16":
        # NumPy does not know it by DLPack, but integers that are its bits.
        bits = given.view(sys.modules["torch"].int16)
        given = Tensor(numpy.from_dlpack(bits).view(numpy.uint16))
    array = _array_of(given)
    dtype = given.dtype if isinstance(given, Tensor) else array.dtype.name
    if dtype not in _NUMBERS:
        raise TypeError(f"input {index} has elements of type {dtype}, "
                        f"must be one of {list(_NUMBERS)}")
    if array.ndim > MAX_RANK:
        raise Error(f"input {index} has {array.ndim} dims, at most {MAX_RANK} are possible",
                    "InvalidArgument")
    order = info.dim_order
    if order is None or len(order) != array.ndim:
        order = tuple(range(array.ndim))
    # As it has to lie in memory; a copy only where it does not, or must not be written.
    laid, native = array.transpose(order), array.dtype.newbyteorder("=")
    is_copied = not (laid.flags.c_contiguous and laid.flags.aligned and laid.dtype == native and
                     (laid.flags.writeable or not is_written))
    # A view may have far more elements than there is memory behind it: not to be copied.
    most = math.prod(info.shape) if info.shape is not None else None
    if is_copied and most is not None and array.size > most:
        raise Error(f"input {index} has {array.size} elements, must have at most {most}",
                    "NotSupported")
    dense = numpy.array(laid, native, order="C") if is_copied else laid
    value.kind, value.dtype, value.rank = 1, _NUMBERS[dtype], array.ndim
    for dim, size in enumerate(array.shape):
        value.sizes[dim] = size
        value.dim_order[dim] = order[dim]
    value.data, value.nbytes = dense.ctypes.data, dense.nbytes
    return value, dense


def from_value(value: Value, owner: Any, is_copied: bool, views: List[Any]) -> Any:
    """What Python gets of a value; without a copy it keeps the owner, and `views` knows it."""
    kind = KINDS.get(value.kind, "Other")
    if kind == "None":
        return None
    if kind == "Bool":
        return bool(value.int_value)
    if kind == "Int":
        return value.int_value
    if kind == "Double":
        return value.double_value
    if kind == "String":
        return to_text(ctypes.string_at(value.string, value.string_size))
    if kind == "Other":
        raise Error("an output is a list, which this package cannot give", "NotSupported")
    name = _NAMES.get(value.dtype)
    if name is None:
        raise Error(f"an output has elements of type {value.dtype}, which NumPy has none for",
                    "NotSupported")
    memory: Any = b""
    if value.nbytes:
        memory = (ctypes.c_char * value.nbytes).from_address(value.data or 0)
        memory.owner = owner
    order = list(value.dim_order[:value.rank])
    sizes = [value.sizes[dim] for dim in order]
    bits = "uint16" if name == "bfloat16" else name
    array = numpy.frombuffer(memory, bits).reshape(sizes).transpose(numpy.argsort(order))
    if is_copied:
        array = numpy.array(array, order="K")
    else:
        array.flags.writeable = False
        if value.nbytes:
            views.append(weakref.ref(memory))
    return Tensor(array) if name == "bfloat16" else array
