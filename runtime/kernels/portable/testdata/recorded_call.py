# SPDX-License-Identifier: Apache-2.0
"""Calls out-variants with eager torch and prints what they took and gave.

One case is a line `case NAME`, one line per argument in schema order, and one
line `out` per output with the expected elements:

    case aten::mul.out
    tensor f32 2 - 0.5 1.5
    tensor f32 2 - 2.0 3.0
    out f32 2 - 1.0 4.5
"""

import math

import torch

WORDS = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16",
    torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
    torch.int8: "i8", torch.uint8: "u8", torch.int16: "i16", torch.bool: "bool",
}
F = torch.float32


class Optionals(list):
    """A list of type Tensor?[], even when no item is None."""


def number(value):
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    return str(int(value))


def tensor_words(tensor):
    sizes = ",".join(map(str, tensor.shape)) or "-"
    order = "-"
    if tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(
            memory_format=torch.channels_last):
        order = "nhwc"
    elements = tensor.contiguous().flatten().tolist()
    return " ".join([WORDS[tensor.dtype], sizes, order] + [number(e) for e in elements])


def argument_line(value):
    if value is None:
        return "none"
    if isinstance(value, torch.Tensor):
        return "tensor " + tensor_words(value)
    if isinstance(value, bool):
        return f"bool {int(value)}"
    if isinstance(value, int):
        return f"int {value}"
    if isinstance(value, float):
        return f"double {number(value)}"
    if isinstance(value, str):
        return f"string {value}"
    if value and (isinstance(value, Optionals) or isinstance(value[0], torch.Tensor)):
        word = "optionals" if isinstance(value, Optionals) else "tensors"
        return "\n".join([f"{word} {len(value)}"] + [argument_line(v) for v in value])
    if any(isinstance(v, float) for v in value):
        return "doubles " + " ".join(map(number, value))
    return "ints " + " ".join(map(str, value))


def emit(name, arguments, outputs):
    print(f"case {name}")
    for argument in arguments:
        print(argument_line(argument))
    for output in outputs:
        if isinstance(output, (list, tuple)):
            print(f"outs {len(output)}")
            for item in output:
                print("out " + tensor_words(item))
        else:
            print("out " + tensor_words(output))


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
