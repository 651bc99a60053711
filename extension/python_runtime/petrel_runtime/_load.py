# SPDX-License-Identifier: Apache-2.0
"""Programs that run: the classes of the package petrel, over the C interface."""

import ctypes
import os
import threading
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from petrel_runtime import _library
from petrel_runtime._arguments import (DEFAULT_BYTES, LIMITS, backend_options_of, limits_of,
                                       thread_count, words)
from petrel_runtime._data_map import NamedDataMap
from petrel_runtime._error import Error
from petrel_runtime._library import Levels, Value, call
from petrel_runtime._sources import Source as Source  # for runtime.py
from petrel_runtime._sources import Sources, load_module, raise_of
from petrel_runtime._value import ValueInfo as ValueInfo
from petrel_runtime._value import from_value, info_of, to_value


class _Module:
    """A petrel_module with what it needs, and a lock, since one thread at a time may use it."""

    def __init__(self, source: Any, sources: Sources, writable_inputs: bool,
                 most_copied: int) -> None:
        self.handle, self._kept = load_module(source, sources)
        self._maps = sources.close()
        self.lock = threading.Lock()
        self.writable_inputs = writable_inputs
        self.most_copied = most_copied  # bytes of the outputs of one call
        self._views: Dict[bytes, List[Any]] = {}  # of outputs, by method: weak references

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _library.LIBRARY.petrel_module_destroy(self.handle)

    def views(self, method: bytes) -> List[Any]:
        """Those of the method that are still held, to be added to."""
        self._views[method] = [view for view in self._views.get(method, []) if view() is not None]
        return self._views[method]

    def check_no_views(self, methods: Iterable[bytes], action: str) -> None:
        if any(self.views(method) for method in methods):
            raise Error(f"{action}: arrays that show its memory are still held; drop or copy them",
                        "InvalidState")

    def call(self, name: str, *arguments: Any) -> None:
        """Function petrel_module_<name>."""
        try:
            call(f"petrel_module_{name}", self.handle, *arguments)
        except Error:
            raise_of(self._maps)
            raise

    def replace_data(self, sources: Sources, keys: bytes) -> int:
        """How many keys changed. Of the sources, maps are kept as long as they are asked."""
        changed = ctypes.c_size_t()
        maps = list(sources.maps)
        self._maps += maps
        try:
            self.call("replace_data", sources.handle, keys, ctypes.byref(changed))
        finally:
            sources.close()
            self._maps = [one for one in self._maps if not one.is_dropped]
        return changed.value

    def size(self, name: str, *arguments: Any) -> int:
        size = ctypes.c_size_t()
        self.call(name, *arguments, ctypes.byref(size))
        return size.value

    def value(self, name: str, *arguments: Any) -> Value:
        value = Value(ctypes.sizeof(Value))
        self.call(name, *arguments, ctypes.byref(value))
        return value

    def levels(self, name: str, *arguments: Any) -> Optional[Tuple[float, int]]:
        levels = Levels(ctypes.sizeof(Levels))
        try:
            self.call(name, *arguments, ctypes.byref(levels))
        except Error as error:
            if error.code == "NotFound":
                return None
            raise
        return levels.scale, levels.zero_point


class Method:
    """One method of a loaded program; call it with its inputs in order."""

    def __init__(self, module: _Module, name: str) -> None:
        self._module = module
        self._word = _library.to_bytes(name)
        self.name = name
        with module.lock:
            self.inputs = self._infos("input")
            self.outputs = self._infos("output")

    def _infos(self, what: str) -> List[ValueInfo]:
        return [
            info_of(self._module.value(f"{what}_info", self._word, index),
                    self._module.levels(f"{what}_levels", self._word, index))
            for index in range(self._module.size(f"num_{what}s", self._word))
        ]

    def load(self) -> None:
        """Makes the method ready ahead of its first call."""
        with self._module.lock:
            self._module.call("load_method", self._word)

    def unload(self) -> None:
        """Forgets the method, its memory and its state; the next call loads it again."""
        with self._module.lock:
            self._module.check_no_views([self._word], "the method is not unloaded")
            self._module.call("unload_method", self._word)

    def get_attribute(self, name: str) -> Any:
        """A weight or state by its name in the model: a copy of it as it is now.

        An Error for weights that only delegates have.
        """
        with self._module.lock:
            value = self._module.value("get_attribute", self._word, _library.to_bytes(name))
            return from_value(value, None, True, [])

    def __call__(self, *args: Any, copy_outputs: bool = True) -> List[Any]:
        """The outputs, tensors as NumPy arrays (bfloat16 as petrel_runtime.Tensor).

        Inputs are arrays that NumPy understands; they are not copied when they lie
        densely in the dim order of `inputs`. With copy_outputs=False outputs are
        read-only views of memory of the program, which the next call of any of its
        methods may overwrite; an input that the program returns is a copy.
        """
        if len(args) != len(self.inputs):
            raise Error(f"method {self.name!r} takes {len(self.inputs)} inputs, {len(args)} "
                        "are given", "InvalidArgument")
        module = self._module
        with module.lock:
            kept = []
            for index, given in enumerate(args):
                value, holder = to_value(given, index, self.inputs[index],
                                         module.writable_inputs)
                kept.append((value, holder))
                module.call("set_input", self._word, index, ctypes.byref(value))
            module.call("run", self._word)
            return self._outputs(copy_outputs)

    def _outputs(self, are_copied: bool) -> List[Any]:
        values, left = [], self._module.most_copied
        for index in range(len(self.outputs)):
            stays = ctypes.c_int32()
            self._module.call("output_stays", self._word, index, ctypes.byref(stays))
            value = self._module.value("get_output", self._word, index)
            is_copied = are_copied or not stays.value
            # A program may have one tensor as many outputs.
            if is_copied and value.nbytes > left:
                raise Error(f"copying output {index} needs {value.nbytes} of max_input_bytes, "
                            f"which is {self._module.most_copied}, of which {left} are left",
                            "OutOfResources")
            left -= value.nbytes if is_copied else 0
            values.append(from_value(value, self._module, is_copied,
                                     self._module.views(self._word)))
        return values

    def __repr__(self) -> str:
        return f"<petrel_runtime.Method {self.name!r}>"


class LoadedProgram(Mapping[str, Method]):
    """The methods of a program by name.

    May be used by several threads: calls of one program wait for each other,
    those of different programs run at the same time.
    """

    def __init__(self, module: _Module) -> None:
        self._module = module
        self._names = []
        for index in range(module.size("num_methods")):
            name = ctypes.c_char_p()
            module.call("method_name", index, ctypes.byref(name))
            self._names.append(_library.to_text(name.value or b""))

    def replace_data(self, data: Iterable[Union[Source, NamedDataMap]], keys: str = "*", *,
                     data_order: str = "refuse") -> Dict[str, int]:
        """Other data for the keys that the pattern `keys` matches, between two calls.

        In all methods, those that are loaded later included. All or nothing: after an
        Error the program is as it was. Returns how many keys "changed". NotFound if no
        method needs the keys.
        """
        sources = _sources_of(data, "mmap", data_order)
        with self._module.lock:
            self._module.check_no_views([_library.to_bytes(name) for name in self._names],
                                        "the data is not replaced")
            return {"changed": self._module.replace_data(sources, _library.to_bytes(keys))}

    def __getitem__(self, name: str) -> Method:
        if name not in self._names:
            raise KeyError(f"there is no method {name!r}; the methods are {self._names}")
        return Method(self._module, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    # A program is itself, and no dict of what it holds.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<petrel_runtime.LoadedProgram {self._names}>"


_SINGLE = (str, os.PathLike, bytes, bytearray, memoryview, NamedDataMap)


def _one_of(name: str, value: str, known: Dict[str, int]) -> int:
    if value not in known:
        raise Error(f"{name} is {value!r}, must be one of {', '.join(known)}", "InvalidArgument")
    return known[value]


def _sources_of(data: Iterable[Any], load_mode: str, data_order: str) -> Sources:
    if isinstance(data, _SINGLE) or hasattr(data, "read"):
        raise TypeError(f"data is a {type(data).__name__}, must be a list")
    sources = Sources()
    sources.set("set_load_mode", _one_of("load_mode", load_mode, _library.LOAD_MODES))
    sources.set("set_data_order", _one_of("data_order", data_order, _library.DATA_ORDERS))
    for source in data:
        sources.add_data(source)
    return sources


def load(program: Source, *, data: Iterable[Union[Source, NamedDataMap]] = (),
         num_threads: Optional[int] = None, load_mode: str = "mmap", share_memory: bool = False,
         precedence: str = "refuse", data_order: str = "refuse", writable_inputs: bool = False,
         max_arena_bytes: Optional[int] = None, max_delegate_bytes: Optional[int] = None,
         max_input_bytes: Optional[int] = None, max_instructions: Optional[int] = None,
         max_element_operations: Optional[int] = None,
         backend_options: Optional[Mapping[str, Mapping[str, Union[bool, int, str]]]] = None
         ) -> LoadedProgram:
    """Loads a program: the path of a .pte, an open file or its bytes.

    The keywords are those of petrel.load(), where `help` tells them; backends written in
    Python need the package petrel.
    """
    words(load_mode=load_mode, precedence=precedence, data_order=data_order)
    sources = _sources_of(data, load_mode, data_order)
    threads = thread_count(num_threads)
    if threads is not None:
        sources.set("set_num_threads", threads)
    sources.set("set_share_memory", int(bool(share_memory)))
    sources.set("set_writable_inputs", int(bool(writable_inputs)))
    sources.set("set_data_precedence", _one_of("precedence", precedence, _library.PRECEDENCES))
    limits = limits_of({
        "max_arena_bytes": max_arena_bytes,
        "max_delegate_bytes": max_delegate_bytes,
        "max_input_bytes": max_input_bytes,
        "max_instructions": max_instructions,
        "max_element_operations": max_element_operations,
    })
    for name, limit in limits.items():
        sources.set("set_limit", LIMITS.index(name), limit)
    sources.set_backend_options(backend_options_of(backend_options))
    return LoadedProgram(_Module(program, sources, writable_inputs,
                                 limits.get("max_input_bytes", DEFAULT_BYTES)))
