# SPDX-License-Identifier: Apache-2.0
"""Programs as ExecuTorch's Python runtime loads and runs them.

    from petrel.runtime import Runtime, Verification

    runtime = Runtime.get()
    program = runtime.load_program("model.pte")
    method = program.load_method("forward")
    outputs = method.execute([image])

For scripts that are being ported: the import is what changes. Outputs are tensors of
torch where the script has imported it, else arrays of NumPy. New scripts are better
served by petrel.load(). docs/porting.md says what differs.
"""

import enum
import math
import os
import sys
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy

from petrel._error import Error
from petrel._linked import backend_names, operator_names
from petrel._load import LoadedProgram, Source, ValueInfo, load
from petrel._load import Method as LoadedMethod

# Element types as numbers, which are PyTorch's.
_DTYPES = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6,
           "float64": 7, "bool": 11, "bfloat16": 15, "uint16": 27, "uint32": 28, "uint64": 29}


class Verification(enum.Enum):
    """How much loading checks: everything, always."""
    Minimal = 0
    InternalConsistency = 1


class MissingMethod(Error, KeyError):
    """There is no method of that name."""

    __str__ = Error.__str__


class MissingValue(Error, IndexError):
    """There is no input or output with that index."""


class TensorInfo:
    """What a program says of an input or output."""

    def __init__(self, info: ValueInfo) -> None:
        self._info = info

    def sizes(self) -> Tuple[int, ...]:
        return self._info.shape or ()

    def dtype(self) -> int:
        """The number of PyTorch's ScalarType: 6 for float32."""
        return _DTYPES[self._info.dtype or ""]

    def nbytes(self) -> int:
        item = 2 if self._info.dtype == "bfloat16" else numpy.dtype(self._info.dtype).itemsize
        return item * math.prod(self.sizes())

    def __repr__(self) -> str:
        return f"TensorInfo(sizes={list(self.sizes())}, dtype={self._info.dtype})"


class MethodMeta:
    """What is known of a method without running it."""

    def __init__(self, method: LoadedMethod) -> None:
        self._method = method

    def name(self) -> str:
        return self._method.name

    def num_inputs(self) -> int:
        return len(self._method.inputs)

    def num_outputs(self) -> int:
        return len(self._method.outputs)

    def input_tensor_meta(self, index: int) -> TensorInfo:
        return self._tensor("input", self._method.inputs, index)

    def output_tensor_meta(self, index: int) -> TensorInfo:
        return self._tensor("output", self._method.outputs, index)

    def _tensor(self, what: str, values: List[ValueInfo], index: int) -> TensorInfo:
        if not 0 <= index < len(values):
            raise MissingValue(f"method {self.name()!r} has {len(values)} {what}s, none with "
                               f"index {index}", "InvalidArgument")
        if values[index].kind != "Tensor":
            raise Error(f"{what} {index} of method {self.name()!r} is a {values[index].kind}, "
                        "no Tensor", "InvalidType")
        return TensorInfo(values[index])

    def __repr__(self) -> str:
        return f"MethodMeta(name={self.name()!r})"


def _from_caller(value: Any) -> Any:
    """An input as the program takes it: not as a part of what torch derives."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return value
    return value.detach()


def _to_caller(value: Any) -> Any:
    """An output as the script expects it."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(value, "dtype"):
        return value
    if not hasattr(value, "__dlpack__"):
        # NumPy knows bfloat16 as bits alone.
        return torch.from_numpy(numpy.asarray(value).view(numpy.int16)).view(torch.bfloat16)
    return torch.from_dlpack(value)


class Method:
    """A method that is loaded."""

    def __init__(self, method: LoadedMethod) -> None:
        self._method = method

    def execute(self, inputs: Sequence[Any]) -> List[Any]:
        """The outputs; inputs in order, tensors of torch or arrays of NumPy."""
        outputs = self._method(*[_from_caller(value) for value in inputs])
        return [_to_caller(value) for value in outputs]

    @property
    def metadata(self) -> MethodMeta:
        return MethodMeta(self._method)


class Program:
    """A program that is loaded. Its methods share state that they name alike."""

    def __init__(self, program: LoadedProgram) -> None:
        self._program = program
        self._methods: Dict[str, Method] = {}

    @property
    def method_names(self) -> Set[str]:
        return set(self._program)

    def load_method(self, name: str) -> Method:
        """The method; the same one whenever it is asked for."""
        if name not in self._methods:
            method = self._find(name)
            method.load()
            self._methods[name] = Method(method)
        return self._methods[name]

    def metadata(self, method_name: str) -> MethodMeta:
        return MethodMeta(self._find(method_name))

    def _find(self, name: str) -> LoadedMethod:
        if name not in self._program:
            raise MissingMethod(f"there is no method {name!r}; the methods are "
                                f"{sorted(self._program)}", "NotFound")
        return self._program[name]


class BackendRegistry:
    """The backends that are built in."""

    @property
    def registered_backend_names(self) -> List[str]:
        return backend_names()

    def is_available(self, backend_name: str) -> bool:
        return backend_name in self.registered_backend_names


class OperatorRegistry:
    """The kernels that are built in."""

    @property
    def operator_names(self) -> Set[str]:
        return set(operator_names())


class Runtime:
    """What loads programs; there is one."""

    _only: Optional["Runtime"] = None

    @staticmethod
    def get() -> "Runtime":
        if Runtime._only is None:
            Runtime._only = Runtime()
        return Runtime._only

    def __init__(self) -> None:
        self.backend_registry = BackendRegistry()
        self.operator_registry = OperatorRegistry()

    def load_program(self, data: Source, *,
                     verification: Verification = Verification.InternalConsistency,
                     enable_etdump: bool = False, debug_buffer_size: int = 0,
                     data_path: Optional[Union[str, "os.PathLike[str]"]] = None) -> Program:
        """A program from a path, bytes or an open file, with the data file that it needs."""
        del verification, debug_buffer_size
        if enable_etdump:
            raise Error("enable_etdump is True, but Petrel writes no ETDump", "NotSupported")
        return Program(load(data, data=[] if data_path is None else [data_path]))
