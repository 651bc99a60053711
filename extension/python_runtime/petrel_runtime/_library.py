# SPDX-License-Identifier: Apache-2.0
"""libpetrel.so: its functions and structs, as petrel.h declares them.

    call("petrel_module_run", module, b"forward")       raises Error

Every function that returns a petrel_status goes through call().
"""

import ctypes
import os
import pathlib
from typing import Any, Dict, List

from petrel_runtime._error import from_message

MAX_RANK = 16

# Numbers of petrel.h.
BORROW, COPY = 0, 1
KINDS = {0: "None", 1: "Tensor", 2: "String", 3: "Double", 4: "Int", 5: "Bool", 6: "Other"}
LOAD_MODES = {"file": 0, "mmap": 1}
PRECEDENCES = {"refuse": 0, "external": 1, "program": 2}
DATA_ORDERS = {"refuse": 0, "first": 1}
NOT_FOUND = 0x20
INTERNAL = 0x01


class Value(ctypes.Structure):
    """petrel_value"""
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int32), ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_uint32), ("is_dynamic", ctypes.c_int32),
        ("sizes", ctypes.c_int64 * MAX_RANK), ("dim_order", ctypes.c_uint8 * MAX_RANK),
        ("data", ctypes.c_void_p), ("nbytes", ctypes.c_size_t), ("int_value", ctypes.c_int64),
        ("double_value", ctypes.c_double), ("string", ctypes.c_void_p),
        ("string_size", ctypes.c_size_t)
    ]


class Levels(ctypes.Structure):
    """petrel_levels"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int32),
                ("zero_point", ctypes.c_int32), ("quant_min", ctypes.c_int32),
                ("quant_max", ctypes.c_int32), ("scale", ctypes.c_double)]


GetData = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p,
                           ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t))
FreeData = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
Destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DataMap(ctypes.Structure):
    """petrel_data_map"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("context", ctypes.c_void_p),
                ("num_keys", ctypes.c_size_t), ("keys", ctypes.POINTER(ctypes.c_char_p)),
                ("get_data", GetData), ("free_data", FreeData), ("destroy", Destroy)]


_POINTER, _TEXT, _SIZE, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32
_VALUE = ctypes.POINTER(Value)
_ANY = ctypes.c_void_p  # of an `out`

# The arguments of the functions that return a petrel_status.
ARGUMENTS: Dict[str, List[Any]] = {
    "petrel_set_isa_level": [_TEXT],
    "petrel_num_backends": [_ANY],
    "petrel_backend_name": [_SIZE, _ANY],
    "petrel_num_kernels": [_ANY],
    "petrel_kernel_name": [_SIZE, _ANY],
    "petrel_options_create": [_ANY],
    "petrel_options_set_load_mode": [_POINTER, _INT],
    "petrel_options_set_num_threads": [_POINTER, _INT],
    "petrel_options_set_share_memory": [_POINTER, _INT],
    "petrel_options_set_writable_inputs": [_POINTER, _INT],
    "petrel_options_set_limit": [_POINTER, _INT, ctypes.c_uint64],
    "petrel_options_set_data_precedence": [_POINTER, _INT],
    "petrel_options_set_data_order": [_POINTER, _INT],
    "petrel_options_add_data_path": [_POINTER, _TEXT],
    "petrel_options_add_data_buffer": [_POINTER, _POINTER, _SIZE, _INT],
    "petrel_options_add_data_fd": [_POINTER, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64],
    "petrel_options_add_data_map": [_POINTER, ctypes.POINTER(DataMap)],
    "petrel_options_set_backend_bool": [_POINTER, _TEXT, _TEXT, _INT],
    "petrel_options_set_backend_int": [_POINTER, _TEXT, _TEXT, _INT],
    "petrel_options_set_backend_text": [_POINTER, _TEXT, _TEXT, _TEXT],
    "petrel_module_load_path": [_TEXT, _POINTER, _ANY],
    "petrel_module_load_buffer": [_POINTER, _SIZE, _INT, _POINTER, _ANY],
    "petrel_module_load_fd": [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, _POINTER, _ANY],
    "petrel_module_replace_data": [_POINTER, _POINTER, _TEXT, _ANY],
    "petrel_module_get_attribute": [_POINTER, _TEXT, _TEXT, _VALUE],
    "petrel_module_num_methods": [_POINTER, _ANY],
    "petrel_module_method_name": [_POINTER, _SIZE, _ANY],
    "petrel_module_num_inputs": [_POINTER, _TEXT, _ANY],
    "petrel_module_num_outputs": [_POINTER, _TEXT, _ANY],
    "petrel_module_input_info": [_POINTER, _TEXT, _SIZE, _VALUE],
    "petrel_module_output_info": [_POINTER, _TEXT, _SIZE, _VALUE],
    "petrel_module_input_levels": [_POINTER, _TEXT, _SIZE, ctypes.POINTER(Levels)],
    "petrel_module_output_levels": [_POINTER, _TEXT, _SIZE, ctypes.POINTER(Levels)],
    "petrel_module_load_method": [_POINTER, _TEXT],
    "petrel_module_unload_method": [_POINTER, _TEXT],
    "petrel_module_set_input": [_POINTER, _TEXT, _SIZE, _VALUE],
    "petrel_module_run": [_POINTER, _TEXT],
    "petrel_module_get_output": [_POINTER, _TEXT, _SIZE, _VALUE],
    "petrel_module_output_stays": [_POINTER, _TEXT, _SIZE, ctypes.POINTER(ctypes.c_int32)],
}


def _open() -> ctypes.CDLL:
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libpetrel.so"))
    library.petrel_version.restype = ctypes.c_char_p
    library.petrel_error_text.restype = ctypes.c_char_p
    library.petrel_status_name.restype = ctypes.c_char_p
    library.petrel_status_name.argtypes = [ctypes.c_int32]
    for name in ("petrel_options_destroy", "petrel_module_destroy"):
        getattr(library, name).restype = None
        getattr(library, name).argtypes = [ctypes.c_void_p]
    for name, arguments in ARGUMENTS.items():
        getattr(library, name).restype = ctypes.c_int32
        getattr(library, name).argtypes = arguments
    return library


LIBRARY = _open()
VERSION = LIBRARY.petrel_version().decode()


def to_text(name: bytes) -> str:
    """What a file calls something; bytes that are no UTF-8 as os.fsdecode() gives them."""
    return name.decode("utf-8", "surrogateescape")


def to_bytes(name: str) -> bytes:
    """The other way."""
    return name.encode("utf-8", "surrogateescape")


def path_bytes(path: Any) -> bytes:
    """A path for C, where a zero would end it: another file would be opened."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"embedded null byte in path {name!r}")
    return name


def call(name: str, *arguments: Any) -> None:
    """Raises the Error of a function that fails."""
    status = getattr(LIBRARY, name)(*arguments)
    if status:
        code = LIBRARY.petrel_status_name(status).decode()
        text = LIBRARY.petrel_error_text().decode(errors="backslashreplace")
        raise from_message(code, text or f"{name} failed: {code}")


def set_isa_level(level: str) -> None:
    """Up to which instruction set this process uses the processor.

    "sse2", "avx2", "avx512skx" and others; "neon", "dotprod" on arm64; "native", as at the
    start, for all that this machine has. To be called before anything is loaded. The
    Error for a level that this machine lacks names those it has.
    """
    call("petrel_set_isa_level", level.encode())
