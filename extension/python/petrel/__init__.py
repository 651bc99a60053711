# SPDX-License-Identifier: Apache-2.0
"""Petrel: compiles PyTorch programs and runs them.

    import petrel

    program = petrel.export("model.pt2")          # or an ExportedProgram, or a
    print(program.report())                       # Module with args=(...)
    program.save("model.pte")

    forward = petrel.load("model.pte")["forward"]
    scores, = forward(image)                      # NumPy arrays or DLPack tensors

Needs no torch, but to export what is not a file yet; running needs NumPy.
Backends are subclasses of Backend, Partitioner and RuntimeBackend; weights from
elsewhere come through subclasses of NamedDataMap.
"""

import atexit
import os

from petrel import _petrel
from petrel._backend import (Backend, GroupCosts, Partitioner, PreprocessResult,
                             RuntimeBackend, Subprogram)
from petrel._compiled import (CompiledMethod, CompiledModule, Device, TensorInfo, load_compiled,
                              open_device)
from petrel._data import build_data, list_data, merge_data, split_data
from petrel._data_map import NamedDataMap, TensorLayout
from petrel._diff import diff
from petrel._error import Error
from petrel._export import Program, Report
from petrel._export_call import export
from petrel._gen_c_call import gen_c
from petrel._load import LoadedProgram, Method, ValueInfo, load, set_isa_level
from petrel._petrel import Graph, NamedBlobStore, NamedData, Node, Tensor, Value
from petrel._quantize import quantize

if not _petrel.is_main_interpreter():
    raise ImportError("petrel works in the main interpreter only, not in sub-interpreters")

__version__ = _petrel.version()

__all__ = [
    "Backend", "CompiledMethod", "CompiledModule", "Device", "Error", "Graph", "GroupCosts",
    "LoadedProgram", "Method", "NamedBlobStore", "NamedData", "NamedDataMap", "Node",
    "Partitioner", "PreprocessResult", "Program", "Report", "RuntimeBackend", "Subprogram",
    "Tensor", "TensorInfo", "TensorLayout", "Value", "ValueInfo", "build_data", "diff",
    "export", "gen_c", "list_data", "load", "load_compiled", "merge_data", "open_device",
    "quantize", "set_isa_level", "split_data"
]

atexit.register(_petrel.close)
os.register_at_fork(after_in_child=_petrel.after_fork_in_child)
