# SPDX-License-Identifier: Apache-2.0
"""Petrel's runtime for every Python 3: runs programs, compiles none.

    import petrel_runtime

    forward = petrel_runtime.load("model.pte")["forward"]
    scores, = forward(image)                      # NumPy arrays

Loading and running are those of the package petrel, over the C interface in place of a
module that belongs to one version of Python. `petrel export` and the other verbs of the
command are installed beside it.
"""

from petrel_runtime._data_map import NamedDataMap, TensorLayout
from petrel_runtime._error import Error
from petrel_runtime._library import VERSION as __version__
from petrel_runtime._library import set_isa_level
from petrel_runtime._load import LoadedProgram, Method, load
from petrel_runtime._value import Tensor, ValueInfo

__all__ = [
    "Error", "LoadedProgram", "Method", "NamedDataMap", "Tensor", "TensorLayout", "ValueInfo",
    "load", "set_isa_level"
]
