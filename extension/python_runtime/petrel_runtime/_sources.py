# SPDX-License-Identifier: Apache-2.0
"""Where programs and data come from, as options of the C interface.

Maps are kept by the program that asks them; C has copies of all else.
"""

import ctypes
import os
from typing import Any, BinaryIO, Dict, List, Mapping, Optional, Tuple, Union

import numpy

from petrel_runtime import _library
from petrel_runtime._data_map import NamedDataMap
from petrel_runtime._error import Error
from petrel_runtime._library import call
from petrel_runtime._open_file import descriptor_or_bytes, is_open_file

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]

_ALIGNMENT = 16


def _aligned(data: Any) -> "numpy.ndarray[Any, Any]":
    """The bytes at a multiple of 16: those given where they lie so, else a copy."""
    given = numpy.frombuffer(memoryview(data).cast("B"), numpy.uint8)
    if given.ctypes.data % _ALIGNMENT == 0:
        return given
    room = numpy.empty(given.nbytes + _ALIGNMENT, numpy.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    room[start:start + given.nbytes] = given
    return room[start:start + given.nbytes]


def _opened(source: Any) -> "Tuple[Optional[numpy.ndarray[Any, Any]], Optional[int]]":
    """The bytes of a source that has them in memory, or the descriptor of an open file; neither
    of a path."""
    if isinstance(source, (str, os.PathLike)):
        return None, None
    if is_open_file(source) and not _is_buffer(source):
        source = descriptor_or_bytes(source)
        if isinstance(source, int):
            return None, source
    return numpy.frombuffer(memoryview(source).cast("B"), numpy.uint8), None


def _is_buffer(source: Any) -> bool:
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


class _MapCalls:
    """A NamedDataMap as the functions of a petrel_data_map."""

    def __init__(self, data_map: NamedDataMap) -> None:
        self._map = data_map
        self._lent: Dict[int, List[Any]] = {}
        self.error: Optional[BaseException] = None
        self.is_dropped = False  # by all modules: nothing is asked of it any more
        keys = [_library.to_bytes(key) for key in data_map.keys()]
        for index, key in enumerate(keys):
            if b"\0" in key:
                raise ValueError(f"key {index} of a petrel.NamedDataMap has a NUL")
        self._keys = (ctypes.c_char_p * max(len(keys), 1))(*keys)
        self.struct = _library.DataMap(
            ctypes.sizeof(_library.DataMap), None, len(keys),
            ctypes.cast(self._keys, ctypes.POINTER(ctypes.c_char_p)),
            _library.GetData(self._get), _library.FreeData(self._free),
            _library.Destroy(self._drop))

    def _drop(self, context: Any) -> None:
        del context
        self.is_dropped = True

    def _get(self, context: Any, key: bytes, data: Any, size: Any) -> int:
        del context
        try:
            got = _aligned(self._map.get_data(_library.to_text(key)))
        except KeyError:
            return _library.NOT_FOUND
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
            return _library.INTERNAL
        self._lent.setdefault(got.ctypes.data, []).append(got)
        data[0], size[0] = got.ctypes.data, got.nbytes
        return 0

    def _free(self, context: Any, data: int, size: int) -> None:
        del context, size
        lent = self._lent.get(data or 0, [])
        if lent:
            lent.pop()
        if not lent:
            self._lent.pop(data or 0, None)


class Sources:
    """petrel_options, which go when the object goes."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        self.maps: List[_MapCalls] = []
        call("petrel_options_create", ctypes.byref(self.handle))

    def __del__(self) -> None:
        self.close()

    def close(self) -> List[_MapCalls]:
        """The maps, which who loaded by them keeps; all else goes, copies of data too."""
        _library.LIBRARY.petrel_options_destroy(self.handle)
        self.handle = ctypes.c_void_p()
        return self.maps

    def set(self, name: str, *arguments: Any) -> None:
        # ctypes would keep the lowest 32 bits, and C text up to a zero.
        for kind, argument in zip(_library.ARGUMENTS[f"petrel_options_{name}"][1:], arguments):
            if kind is ctypes.c_int32 and not -2**31 <= argument < 2**31:
                raise Error(f"{name} is given {argument}, which needs more than 32 bits",
                            "InvalidArgument")
            if isinstance(argument, bytes) and b"\0" in argument:
                raise ValueError(f"embedded null byte in {argument!r}")
        call(f"petrel_options_{name}", self.handle, *arguments)

    def add_data(self, source: Any) -> None:
        if isinstance(source, NamedDataMap):
            calls = _MapCalls(source)
            self.maps.append(calls)
            self.set("add_data_map", ctypes.byref(calls.struct))
            return
        buffer, descriptor = _opened(source)
        if buffer is not None:
            self.set("add_data_buffer", buffer.ctypes.data, buffer.nbytes, _library.COPY)
        elif descriptor is not None:
            self.set("add_data_fd", descriptor, 0, os.fstat(descriptor).st_size)
        else:
            self.set("add_data_path", _library.path_bytes(source))

    def set_backend_options(self, options: Mapping[str, Mapping[str, Union[bool, int, str]]]
                            ) -> None:
        for backend, pairs in options.items():
            for key, value in pairs.items():
                words = (backend.encode(), key.encode())
                if isinstance(value, bool):
                    self.set("set_backend_bool", *words, int(value))
                elif isinstance(value, int):
                    self.set("set_backend_int", *words, value)
                else:
                    self.set("set_backend_text", *words, _library.to_bytes(value))


def raise_of(maps: List[_MapCalls]) -> None:
    """What a NamedDataMap raised comes out of the call that wanted its data."""
    for calls in maps:
        error, calls.error = calls.error, None
        if error is not None:
            raise error


def load_module(source: Any, sources: Sources) -> Tuple[ctypes.c_void_p, Any]:
    """The handle of a module, and what must stay as long as it."""
    module = ctypes.c_void_p()
    buffer, descriptor = _opened(source)
    try:
        if buffer is not None:
            is_fixed = isinstance(source, bytes)
            call("petrel_module_load_buffer", buffer.ctypes.data, buffer.nbytes,
                 _library.BORROW if is_fixed else _library.COPY, sources.handle,
                 ctypes.byref(module))
            return module, buffer if is_fixed else None
        if descriptor is not None:
            call("petrel_module_load_fd", descriptor, 0, os.fstat(descriptor).st_size,
                 sources.handle, ctypes.byref(module))
        else:
            call("petrel_module_load_path", _library.path_bytes(source), sources.handle,
                 ctypes.byref(module))
    except RuntimeError:
        raise_of(sources.maps)
        raise
    return module, None
