# SPDX-License-Identifier: Apache-2.0
"""Programs that run."""

import dataclasses
import io
import os
import warnings
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from petrel import _petrel
from petrel._arguments import backend_options_of, limits_of, thread_count, words
from petrel._backend import RuntimeBackend
from petrel._data_map import NamedDataMap
from petrel._export import Program

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]


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


class Method:
    """One method of a loaded program; call it with its inputs in order."""

    def __init__(self, program: _petrel.LoadedProgram, name: str) -> None:
        self._program = program
        self.name = name
        self.inputs = [ValueInfo(*info) for info in program.inputs(name)]
        self.outputs = [ValueInfo(*info) for info in program.outputs(name)]

    @property
    def backends(self) -> List[str]:
        """The backend of each delegate, in order."""
        return self._program.backends(self.name)

    def load(self) -> None:
        """Makes the method ready ahead of its first call."""
        self._program.load_method(self.name)

    def unload(self) -> None:
        """Forgets the method, its memory and its state; the next call loads it again."""
        self._program.unload_method(self.name)

    def get_attribute(self, name: str) -> Any:
        """A weight or state by its name in the model: a copy of it as it is now.

        An Error for weights that only delegates have.
        """
        return self._program.get_attribute(self.name, name)

    def __call__(self, *args: Any, copy_outputs: bool = True) -> List[Any]:
        """The outputs, tensors as NumPy arrays (bfloat16 as petrel.Tensor).

        Inputs are arrays with the buffer protocol (NumPy) or DLPack (torch); they
        are not copied when they lie densely in the dim order of `inputs`. With
        copy_outputs=False outputs are read-only views of memory of the program,
        which the next call of any of its methods may overwrite.
        """
        return self._program.run(self.name, args, copy_outputs)

    def __repr__(self) -> str:
        return f"<petrel.Method {self.name!r}>"


class LoadedProgram(Mapping[str, Method]):
    """The methods of a program by name.

    May be used by several threads: calls of one program wait for each other,
    those of different programs run at the same time.
    """

    def __init__(self, program: _petrel.LoadedProgram) -> None:
        self._program = program
        self._names = program.method_names()

    def replace_data(self, data: Iterable[Union[Source, NamedDataMap]], keys: str = "*", *,
                     data_order: str = "refuse") -> Dict[str, int]:
        """Other data for the keys that the pattern `keys` matches, between two calls.

        In all methods, those that are loaded later included. All or nothing: after an
        Error the program is as it was. Returns how many "keys" of the data matched, how
        many "changed", and how many "delegates" and "tensors" of kernels were made anew
        for it. Warns where nothing changed, and where no method uses what did. NotFound
        if no method needs the keys.
        """
        replaced = self._program.replace_data(list_of("data", data, SOURCES), keys, data_order)
        warning = replaced.pop("warning")
        if warning:
            warnings.warn(str(warning), stacklevel=2)
        return {name: int(number) for name, number in replaced.items()}

    def get_data(self, key: str) -> Any:
        """The bytes of a key, from data or the program, as backends get them.

        A read-only array of uint8 over the data themselves, which may be kept: it also
        outlives the program and data that take its place.
        """
        return self._program.get_data(key)

    def __getitem__(self, name: str) -> Method:
        if name not in self._names:
            raise KeyError(f"there is no method {name!r}; the methods are {self._names}")
        return Method(self._program, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    # A program is itself, and no dict of what it holds.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<petrel.LoadedProgram {self._names}>"


SOURCES = (str, os.PathLike, bytes, bytearray, memoryview, io.IOBase, NamedDataMap)


def list_of(name: str, value: Iterable[Any], single: Tuple[type, ...]) -> List[Any]:
    """The list; a TypeError for one item, such as a path, which is iterable by its letters."""
    if isinstance(value, single):
        raise TypeError(f"{name} is a {type(value).__name__}, must be a list")
    return list(value)


def load(program: Union[Source, Program], *, data: Iterable[Union[Source, NamedDataMap]] = (),
         backends: Iterable[RuntimeBackend] = (), num_threads: Optional[int] = None,
         load_mode: str = "mmap", share_memory: bool = False,
         precedence: str = "refuse", data_order: str = "refuse", writable_inputs: bool = False,
         max_arena_bytes: Optional[int] = None, max_delegate_bytes: Optional[int] = None,
         max_input_bytes: Optional[int] = None, max_instructions: Optional[int] = None,
         max_element_operations: Optional[int] = None,
         backend_options: Optional[Mapping[str, Mapping[str, Union[bool, int, str]]]] = None
         ) -> LoadedProgram:
    """Loads a program: the path of a .pte, an open file, its bytes, or what export() made.

    data          .ptd files (paths, open files or bytes) and NamedDataMaps, with the data
                  that the program does not hold itself. Open files, io.BytesIO and those of
                  gzip and zipfile too, are read whole, wherever they stand; for a part of a
                  file give a memoryview of mmap
    backends      backends of Python, besides those that are built in
    num_threads   of the process, from now on; 0 is one for each processor, None
                  leaves it as it is
    load_mode     "mmap" maps files: weights stay in the page cache, and files must not be
                  truncated while they are loaded. "file" reads what is needed
    share_memory  methods compute in one memory
    precedence    of two different values for a key in data and in the program: "refuse",
                  "external" or "program"
    data_order    of two different values for a key in `data`: "refuse", or "first" for
                  that of the first in the list, where maps stand after files and bytes
    writable_inputs  the program may write arrays that it is given and does not copy;
                  read-only ones are copied for it. Without, such a method is refused
    max_arena_bytes, max_delegate_bytes, max_input_bytes
                  what a method may take for its arenas, for its delegates beyond their
                  weights, and for outputs that it does not plan; None is 16 GiB each
    max_instructions, max_element_operations
                  what one run may do; None is 10**7 and 10**14
    backend_options  what loading a method tells its backends, by their ids:
                  {"XnnpackBackend": {"packed_weights_file": "weights.packed"}}
    """
    sources = list_of("data", data, SOURCES)
    runtime_backends = list_of("backends", backends, (str, RuntimeBackend))
    if isinstance(program, Program):
        sources = [*program.external_paths, *sources]
        source: Source = program.path
    else:
        source = program
    words(load_mode=load_mode, precedence=precedence, data_order=data_order)
    limits = limits_of({
        "max_arena_bytes": max_arena_bytes,
        "max_delegate_bytes": max_delegate_bytes,
        "max_input_bytes": max_input_bytes,
        "max_instructions": max_instructions,
        "max_element_operations": max_element_operations,
    })
    return LoadedProgram(
        _petrel.load(source, sources, runtime_backends, thread_count(num_threads), load_mode,
                     share_memory, precedence, data_order, writable_inputs, limits,
                     backend_options_of(backend_options)))


def set_isa_level(level: str) -> None:
    """Up to which instruction set this process uses the processor.

    "sse2", "avx2", "avx512skx" and others; "neon", "dotprod" on arm64; "zen" and
    other processors for kernels as there; "native", as at the start, for all that
    this machine has. To be called before anything is exported or loaded. The Error
    for a level that this machine lacks names those it has.
    """
    _petrel.set_isa_level(level)
