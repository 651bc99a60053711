# SPDX-License-Identifier: Apache-2.0
"""Programs as scripts load them with ExecuTorch's bindings, below its Python runtime.

    from petrel.portable_lib import _load_for_executorch

    module = _load_for_executorch("model.pte")
    outputs = module.forward([image])

For scripts that are being ported, as petrel.runtime is, whose words hold: the import is what
changes. Every call gets all of its inputs, and outputs belong to the caller, whatever
`clone_outputs` says.
"""

from typing import Any, List, Optional, Sequence

from petrel._error import Error
from petrel._load import load
from petrel.runtime import Method, MethodMeta, Program, Runtime, TensorInfo, Verification

__all__ = ["ExecuTorchMethod", "ExecuTorchModule", "ExecuTorchProgram", "MethodMeta", "TensorInfo",
           "Verification"]


def _program(source: Any, data: Any, enable_etdump: bool) -> Program:
    if enable_etdump:
        raise Error("enable_etdump is True, but Petrel writes no ETDump", "NotSupported")
    return Program(load(source, data=[] if data is None else [data]))


class ExecuTorchMethod:
    """A method that is loaded."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._inputs: Optional[Sequence[Any]] = None
        self._outputs: Optional[List[Any]] = None

    def set_inputs(self, inputs: Sequence[Any]) -> None:
        self._inputs = list(inputs)

    def execute(self) -> None:
        if self._inputs is None:
            raise Error(f"inputs of method {self._method.metadata.name()!r} have not been set",
                        "InvalidState")
        self._outputs = self._method.execute(self._inputs)

    def get_outputs(self, clone_outputs: bool = True) -> List[Any]:
        del clone_outputs
        if self._outputs is None:
            raise Error(f"method {self._method.metadata.name()!r} has not been run", "InvalidState")
        return self._outputs

    def call(self, inputs: Sequence[Any] = (), clone_outputs: bool = True) -> List[Any]:
        self.set_inputs(inputs)
        self.execute()
        return self.get_outputs(clone_outputs)

    __call__ = call

    def method_meta(self) -> MethodMeta:
        return self._method.metadata


class ExecuTorchProgram:
    """A program whose methods are loaded one by one."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names = list(program.method_names)

    def num_methods(self) -> int:
        return len(self._names)

    def get_method_name(self, method_index: int) -> str:
        if not 0 <= method_index < len(self._names):
            raise Error(f"method index is {method_index}, must be in [0, {len(self._names)})",
                        "InvalidArgument")
        return self._names[method_index]

    def load_method(self, method_name: str) -> ExecuTorchMethod:
        return ExecuTorchMethod(self._program.load_method(method_name))

    def method_meta(self, method_name: str) -> MethodMeta:
        return self._program.metadata(method_name)

    def has_etdump(self) -> bool:
        return False


class ExecuTorchModule:
    """A program whose methods are loaded when they are called."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def run_method(self, method_name: str, inputs: Sequence[Any] = (),
                   clone_outputs: bool = True) -> List[Any]:
        del clone_outputs
        return self._program.load_method(method_name).execute(inputs)

    def forward(self, inputs: Sequence[Any] = (), clone_outputs: bool = True) -> List[Any]:
        return self.run_method("forward", inputs, clone_outputs)

    __call__ = forward

    def method_names(self) -> List[str]:
        return sorted(self._program.method_names)

    def method_meta(self, method_name: str) -> MethodMeta:
        return self._program.metadata(method_name)

    def has_etdump(self) -> bool:
        return False


def _load_for_executorch(
        program_path: str, data_path: Optional[str] = None, enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        program_verification: Verification = Verification.InternalConsistency) -> ExecuTorchModule:
    del debug_buffer_size, program_verification
    return ExecuTorchModule(_program(program_path, data_path, enable_etdump))


def _load_for_executorch_from_buffer(
        buffer: bytes, data_map_buffer: Optional[bytes] = None, enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        program_verification: Verification = Verification.InternalConsistency) -> ExecuTorchModule:
    del debug_buffer_size, program_verification
    return ExecuTorchModule(_program(buffer, data_map_buffer, enable_etdump))


def _load_program(
        path: str, enable_etdump: bool = False, debug_buffer_size: int = 0,
        program_verification: Verification = Verification.Minimal,
        data_path: Optional[str] = None) -> ExecuTorchProgram:
    del debug_buffer_size, program_verification
    return ExecuTorchProgram(_program(path, data_path, enable_etdump))


def _load_program_from_buffer(
        buffer: bytes, enable_etdump: bool = False, debug_buffer_size: int = 0,
        program_verification: Verification = Verification.Minimal,
        data_path: Optional[str] = None) -> ExecuTorchProgram:
    del debug_buffer_size, program_verification
    return ExecuTorchProgram(_program(buffer, data_path, enable_etdump))


def _get_operator_names() -> List[str]:
    return sorted(Runtime.get().operator_registry.operator_names)


def _get_registered_backend_names() -> List[str]:
    return Runtime.get().backend_registry.registered_backend_names


def _is_available(backend_name: str) -> bool:
    return Runtime.get().backend_registry.is_available(backend_name)
