# SPDX-License-Identifier: Apache-2.0
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

class Tensor:
    """Elements in memory: what NumPy has no type for, such as bfloat16.

    Has the buffer protocol (bfloat16 as its bits, uint16) and DLPack.
    """

    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def is_writable(self) -> bool: ...
    def __dlpack__(self, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...

class Value:
    """A value of a graph: an input, a constant or a result of a node."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str:
        """ "tensor", "int", "float" or "bool"."""
    @property
    def dtype(self) -> Optional[str]:
        """NumPy's word, or "bfloat16"; None if it is not a tensor."""
    @property
    def shape(self) -> Optional[Tuple[int, ...]]: ...
    @property
    def is_input(self) -> bool: ...
    @property
    def is_constant(self) -> bool: ...
    @property
    def is_state(self) -> bool:
        """True for a buffer that the program changes; data is its first value."""
    @property
    def fqn(self) -> Optional[str]:
        """Of a constant: "features.0.weight"."""
    @property
    def data(self) -> Union[None, numpy.ndarray[Any, Any], Tensor]:
        """Of a constant: its elements, read-only and not copied."""
    @property
    def producer(self) -> Optional[Node]: ...
    @property
    def users(self) -> List[Node]: ...
    def __hash__(self) -> int: ...

class Node:
    """An operator applied to values."""

    @property
    def name(self) -> str:
        """That of its first result."""
    @property
    def op(self) -> str:
        """ "aten.add.Tensor", "aten.conv2d.default"."""
    @property
    def args(self) -> Dict[str, Any]:
        """By schema name, all of them: Values, numbers, strings, None, lists of these."""
    @property
    def inputs(self) -> List[Value]:
        """The Values in args, in order."""
    @property
    def outputs(self) -> List[Value]: ...
    @property
    def traits(self) -> List[str]:
        """Of "pure", "elementwise", "view", "reduction", "identity"."""
    @property
    def source(self) -> str:
        """The line of the model: "model.py:12, in forward"."""
    @property
    def module(self) -> str: ...
    @property
    def graph(self) -> Graph: ...
    def __hash__(self) -> int: ...

class Graph:
    """Nodes in an order in which they can run. str() is its text form."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> List[Value]: ...
    @property
    def outputs(self) -> List[Value]: ...
    @property
    def nodes(self) -> List[Node]: ...
    @property
    def constants(self) -> List[Value]: ...

class NamedBlobStore:
    """Where backends put data that payloads share. Usable during preprocess."""

    def add_named_blob(self, key: str, blob: Any, alignment: int = 16,
                       external_file: str = "") -> bool:
        """True when the key has these bytes now, False when it has others.

        Bytes that nobody can change (bytes, read-only arrays) are not copied.
        """
    def add_weight(self, constant: Value, data: Any = None, alignment: int = 16,
                   form: str = "") -> str:
        """The key of the constant, or of `data` made from it: for the payload.

        The options of the export decide the key and the file. `form` says how
        data differs from the constant, such as "transposed".
        """
    def add_derived(self, name: str, constants: Sequence[Value], data: Any, recipe: str = "",
                    alignment: int = 16) -> str:
        """The key of `data`, which was made of several constants, such as all of them packed.

        `recipe` tells one way of making it from another. All weights among the constants
        must go to one file.
        """
    def keys(self) -> List[str]: ...

class NamedData:
    """Named data of a program, as init of a runtime backend sees it."""

    def get_data(self, key: str, *, copy: bool = True) -> Any:
        """bytes; with copy=False a read-only array of uint8 over the data themselves, which
        may be kept. KeyError if there is none."""
    def keys(self) -> List[str]: ...

class LoadedProgram:
    def method_names(self) -> List[str]: ...
    def load_method(self, method: str) -> None: ...
    def unload_method(self, method: str) -> None: ...
    def replace_data(self, data: List[Any], keys: str, data_order: str) -> Dict[str, int]: ...
    def get_attribute(self, method: str, name: str) -> Any: ...
    def get_data(self, key: str) -> Any: ...
    def inputs(self, method: str) -> List[Tuple[Any, ...]]: ...
    def outputs(self, method: str) -> List[Tuple[Any, ...]]: ...
    def backends(self, method: str) -> List[str]: ...
    def run(self, method: str, args: Tuple[Any, ...], copy_outputs: bool) -> List[Any]: ...

class CompiledModule:
    def __init__(self, path: Any) -> None: ...
    def name(self) -> str: ...
    def sha256(self) -> str: ...
    def method_names(self) -> List[str]: ...
    def inputs(self, method: str) -> List[Tuple[Any, ...]]: ...
    def outputs(self, method: str) -> List[Tuple[Any, ...]]: ...
    def run(self, method: str, args: Tuple[Any, ...]) -> List[Any]: ...
    def reset_state(self) -> None: ...

def load(source: Any, data: List[Any], backends: List[Any], num_threads: Optional[int],
         load_mode: str, share_memory: bool, precedence: str, data_order: str,
         writable_inputs: bool, limits: Mapping[str, int],
         backend_options: Mapping[str, Mapping[str, Union[bool, int, str]]]
         ) -> LoadedProgram: ...
def export_files(methods: Mapping[str, str], output: str, *,
                 backends: Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]],
                 method_backends: Mapping[str, Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]]],
                 options: Mapping[str, Sequence[Union[str, bytes]]]
                 ) -> Tuple[str, str, List[str]]: ...
def gen_c_files(*, methods: Mapping[str, str], output: str,
                backends: Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]],
                method_backends: Mapping[str, Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]]],
                options: Mapping[str, Sequence[str]]) -> List[str]: ...
class QuantizeWords:
    def __init__(
            self, *, methods: Mapping[str, str], samples: Sequence[Tuple[str, Sequence[str]]],
            backends: Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]],
            method_backends: Mapping[str, Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]]],
            options: Mapping[str, Sequence[Union[str, bytes]]], keep_float: Sequence[str],
            ranges: str, scheme: str, group: int, rounding: str, equalise: bool,
            correct_bias: bool, min_sqnr: Optional[float], labels: str, labels_method: str, max_drop: float) -> None: ...

def calibrate(words: QuantizeWords) -> str: ...
def report_quantization(words: QuantizeWords, record: str, written_bytes: int,
                        paths: Sequence[str]) -> List[str]: ...
def diff(*, first: Tuple[str, Sequence[str]], second: Tuple[str, Sequence[str]], method: str,
         inputs: Mapping[str, str], atol: Optional[float], rtol: Optional[float],
         min_sqnr: Optional[float]) -> Tuple[str, str]: ...
def set_isa_level(level: str) -> None: ...
def copy_files(copies: Sequence[Tuple[str, str, bool]]) -> None: ...
def list_data(path: str, max_arena_bytes: Optional[int]) -> str: ...
def split_data(program: str, output: str, data_file: str, keys: str,
               max_arena_bytes: Optional[int]) -> Dict[str, Any]: ...
def merge_data(program: str, data: List[str], output: str,
               max_arena_bytes: Optional[int]) -> Dict[str, Any]: ...
def build_data(*, methods: Mapping[str, str], program: str, output: str, keys: str,
               renames: Sequence[Tuple[str, str]],
               backends: Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]],
               method_backends: Mapping[str, Sequence[Tuple[Any, Sequence[Tuple[str, bytes]]]]],
               words: Mapping[str, Sequence[Union[str, bytes]]],
               max_arena_bytes: Optional[int]) -> Dict[str, Any]: ...
def version() -> str: ...
def close() -> None: ...
def after_fork_in_child() -> None: ...
def is_main_interpreter() -> bool: ...
