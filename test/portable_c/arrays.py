# SPDX-License-Identifier: Apache-2.0
"""Arrays of .npy files as bytes, and what the interpreter computes from them."""

import ast
import collections
import itertools
import math
import struct

import command

Array = collections.namedtuple("Array", "dtype shape data")
LETTERS = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|b1": "?", "|u1": "B", "|i1": "b",
           "<i2": "h"}


def read(path):
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    assert not header["fortran_order"] or len(header["shape"]) < 2, path
    return Array(header["descr"], header["shape"], data[start:])


def elements(array):
    count = math.prod(array.shape)
    return struct.unpack(f"<{count}{LETTERS[array.dtype]}", array.data)


def interpreted(folder, model, inputs):
    """The outputs of method forward with kernels alone, the reference ones."""
    command.done([command.PETREL, "export", model, "-o", "m.pte", "--backend", "none"], folder)
    words = [w for file in inputs for w in ("--input", file)]
    command.done([command.PETREL, "run", "m.pte", *words, "--kernels", "reference",
                  "--output-dir", "out"], folder)
    count = len(list((folder / "out").iterdir()))
    return [read(folder / "out" / f"output_{i}.npy") for i in range(count)]


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
    if not expected.dtype.startswith("<f") or len(actual) != len(expected.data):
        return False
    pairs = zip(elements(Array(expected.dtype, expected.shape, actual)), elements(expected))
    size = {"<f4": 4, "<f8": 8}[expected.dtype]
    return all((a != a and e != e) or
               actual[i * size:(i + 1) * size] == expected.data[i * size:(i + 1) * size]
               for i, (a, e) in enumerate(pairs))
