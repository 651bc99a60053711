# SPDX-License-Identifier: Apache-2.0
"""The kernels that the ExecuTorch wheel registers, each with the names of its
arguments and the number of its out tensors.

    aten::add.out 1 self other alpha
"""

import executorch.kernels.quantized  # noqa: F401
import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from executorch.extension.pybindings import portable_lib


def signature(name):
    """The line of a kernel; none without out tensors or schema."""
    base, _, overload = name.partition(".")
    try:
        schema = torch._C._get_schema(base, overload)
    except RuntimeError:
        return ""
    outs = [a.name for a in schema.arguments if a.is_out]
    names = [a.name for a in schema.arguments if not a.is_out]
    return " ".join([name, str(len(outs))] + names) + "\n" if outs else ""


class Signatures:

    def text(self):
        return "".join(map(signature, sorted(portable_lib._get_operator_names())))


def record():
    return Signatures()
