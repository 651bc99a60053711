# SPDX-License-Identifier: Apache-2.0
"""Calls out-variants with eager torch and records what they took and gave.

    call("aten::mul.out", t(2, 3), t(3))
    emit("petrel::attention.out", [q, k, v], [result])   # where torch has no out-variant
"""

import torch

from writer import CaseFile, Optionals

F = torch.float32
CASES = CaseFile()
emit = CASES.call


def call(name, *arguments, dtypes=(F,)):
    """Runs the out-variant `name` and records arguments and results."""
    packet, _, overload = name.removeprefix("aten::").partition(".")
    op = getattr(getattr(torch.ops.aten, packet), overload or "default")
    inputs = [a for a in op._schema.arguments if not (a.is_out)]
    assert len(inputs) == len(arguments), (name, [a.name for a in inputs])
    positional = [v for a, v in zip(inputs, arguments) if not a.kwarg_only]
    keyword = {a.name: v for a, v in zip(inputs, arguments) if a.kwarg_only}
    names = [a.name for a in op._schema.arguments if a.is_out]
    outs = {n: torch.empty(0, dtype=d) for n, d in zip(names, dtypes)}
    op(*positional, **keyword, **outs)
    # dtype arguments reach kernels as the number of the element type.
    recorded = [6 if v is F else 4 if v is torch.int64 else v for v in arguments]
    recorded = [0 if v is torch.contiguous_format else v for v in recorded]
    recorded = [Optionals(v) if "Optional[Tensor]]" in str(a.type) else v
                for a, v in zip(inputs, recorded)]
    emit(name, recorded, list(outs.values()))


def t(*sizes, lo=-2.0, hi=2.0, dtype=F):
    if dtype.is_floating_point:
        return (torch.rand(*sizes) * (hi - lo) + lo).to(dtype)
    if dtype == torch.bool:
        return torch.rand(*sizes) > 0.5
    return torch.randint(int(lo), int(hi) + 1, sizes, dtype=dtype)


def ints(*sizes, lo=-9, hi=9, dtype=torch.int64):
    return torch.randint(lo, hi + 1, sizes, dtype=dtype)
