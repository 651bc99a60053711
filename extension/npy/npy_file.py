# SPDX-License-Identifier: Apache-2.0
"""The `.npy` files of tests that do without NumPy.

    (folder / "x.npy").write_bytes(npy_file.written("<f4", (2, 3), values))
    array = npy_file.read(folder / "output_0.npy")
    array.dtype, array.shape, array.data      # "<f4", (2, 3), bytes in row-major order
    npy_file.elements(array)                  # a tuple of numbers
"""

import ast
import collections
import math
import struct

Array = collections.namedtuple("Array", "dtype shape data")
LETTERS = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|b1": "?", "|u1": "B", "|i1": "b",
           "<i2": "h", "<f2": "e"}


def read(path):
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    assert not header["fortran_order"] or len(header["shape"]) < 2, path
    return Array(header["descr"].replace("|V2", "<V2"), header["shape"], data[start:])


def elements(array):
    count = math.prod(array.shape)
    if array.dtype == "<V2":  # bfloat16: the upper half of a float
        wide = (bytes(2) + array.data[i:i + 2] for i in range(0, 2 * count, 2))
        return struct.unpack(f"<{count}f", b"".join(wide))
    return struct.unpack(f"<{count}{LETTERS[array.dtype]}", array.data)


def read_elements(path):
    return elements(read(path))


def written(dtype, shape, values):
    """The bytes of a file."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{LETTERS[dtype]}", *values))
