# SPDX-License-Identifier: Apache-2.0
"""What the interpreter computes, and arrays as they lie in memory."""

import itertools
import math

import command
import npy_file

# Of floating types, "<V2" being bfloat16.
SIZES = {"<f2": 2, "<V2": 2, "<f4": 4, "<f8": 8}


def interpreted(folder, model, inputs):
    """The outputs of method forward with kernels alone, the reference ones."""
    command.done([command.PETREL, "export", model, "-o", "m.pte", "--backend", "none",
                  *command.QUICK_PLAN], folder)
    words = [w for file in inputs for w in ("--input", file)]
    command.done([command.PETREL, "run", "m.pte", *words, "--kernels", "reference",
                  "--output-dir", "out"], folder)
    count = len(list((folder / "out").iterdir()))
    return [npy_file.read(folder / "out" / f"output_{i}.npy") for i in range(count)]


def reordered(data, shape, order, back=False):
    """Elements in row-major order as they lie in memory when `order` names the dims from
    the outermost on, or `back` from there."""
    if list(order) == sorted(order) or 0 in shape or not data:
        return data
    size = len(data) // math.prod(shape)
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim], step = step, step * shape[dim]
    out = bytearray(len(data))
    for i, index in enumerate(itertools.product(*map(range, shape))):
        at = sum(a * s for a, s in zip(index, strides))
        a, b = (at, i) if back else (i, at)
        out[b * size:(b + 1) * size] = data[a * size:(a + 1) * size]
    return bytes(out)


def same(actual, expected):
    """Bit for bit; of a NaN only that it is one."""
    if actual == expected.data:
        return True
    if expected.dtype not in SIZES or len(actual) != len(expected.data):
        return False
    pairs = zip(npy_file.elements(npy_file.Array(expected.dtype, expected.shape, actual)), npy_file.elements(expected))
    size = SIZES[expected.dtype]
    return all((a != a and e != e) or
               actual[i * size:(i + 1) * size] == expected.data[i * size:(i + 1) * size]
               for i, (a, e) in enumerate(pairs))
