# SPDX-License-Identifier: Apache-2.0
"""Calls of operators of levels, which are this project's: what docs/int8.md says, in exact
fractions."""

import math
from fractions import Fraction

import torch

from kernels.calls import emit

I8, U8, I32 = torch.int8, torch.uint8, torch.int32
NUMBERS = {U8: 0, I8: 1}


def levels(*sizes, dtype=I8):
    return torch.randint(-128 if dtype is I8 else 0, 128 if dtype is I8 else 256, sizes,
                         dtype=dtype)


def held(fractions, like, zero_point, least, most, dtype):
    """Each fraction rounded to the nearest level, ties to even steps."""
    rounded = [min(max(round(one) + zero_point, least), most) for one in fractions]
    return torch.tensor(rounded, dtype=dtype).reshape(like)


def scaled(sums, multiplier, shift, *target):
    flat = sums.flatten().tolist()
    return held([Fraction(s * multiplier, 2**shift) for s in flat], sums.shape, *target)


def by_channel(sums, dim, multipliers, shifts, *target):
    parts = [scaled(part, m, s, *target) for part, m, s in
             zip(sums.unbind(dim), multipliers.tolist(), shifts.tolist())]
    return torch.stack(parts, dim)


def channels(count, shift):
    return (torch.randint(2**30, 2**31, (count,)).to(I32),
            torch.randint(shift - 1, shift + 2, (count,)).to(I8))


def tables():
    for dtype, result in ((I8, I8), (U8, I8), (I8, U8)):
        x, table = levels(3, 7, dtype=dtype), levels(256, dtype=result)
        first = -128 if dtype is I8 else 0
        emit("petrel::int8_table.out", [x, table], [table[x.long() - first]])


def pairs():
    """Ties in every case: shifts so small that many sums lie in the middle."""
    for sizes, other, dtype in (((3, 5), (3, 5), I8), ((2, 3, 4), (3, 1), U8), ((1,), (6,), I8)):
        x, y = levels(*sizes, dtype=dtype), levels(*other, dtype=dtype)
        a, b = x.long() - 3, y.long() + 7
        for m, n, shift in ((2**30, -2**29, 31), (1500000001, 1234567891, 33), (1, 1, 1)):
            target = (5, 0, 250, U8) if dtype is U8 else (5, -100, 127, I8)
            emit("petrel::int8_add.out", [x, y, 3, -7, m, n, shift, *target[:3],
                                          NUMBERS[target[3]]],
                 [scaled(a * m + b * n, 1, shift, *target)])
            emit("petrel::int8_mul.out", [x, y, 3, -7, m, shift + 6, *target[:3],
                                          NUMBERS[target[3]]],
                 [scaled(a * b, m, shift + 6, *target)])


def products():
    for sizes, bias, dtype in (((4, 9), True, I8), ((2, 3, 6), False, U8), ((5,), True, I8)):
        x, weight = levels(*sizes, dtype=dtype), levels(3, sizes[-1])
        b = torch.randint(-30000, 30000, (3,), dtype=I32) if bias else None
        multiplier, shift = channels(3, 39)
        sums = (x.long() + 11) @ weight.long().T + (0 if b is None else b.long())
        emit("petrel::int8_linear.out",
             [x, weight, b, multiplier, shift, -11, 4, -128, 127, NUMBERS[I8]],
             [by_channel(sums, -1, multiplier, shift, 4, -128, 127, I8)])
    for a, b in (((4, 5), (5, 3)), ((2, 3, 4), (2, 4, 2))):
        x, y = levels(*a), levels(*b)
        emit("petrel::int8_matmul.out",
             [x, y, 9, -2, 1400000000, 38, -20, -128, 127, NUMBERS[I8]],
             [scaled((x.long() - 9) @ (y.long() + 2), 1400000000, 38, -20, -128, 127, I8)])


def convolutions():
    two, one = torch.nn.functional.conv2d, torch.nn.functional.conv1d
    for function, sizes, filters, stride, padding, dilation, groups in (
            (two, (1, 3, 6, 5), (4, 3, 3, 3), [1, 1], [1, 1], [1, 1], 1),
            (two, (2, 4, 7, 7), (4, 1, 3, 3), [2, 2], [0, 1], [1, 1], 4),
            (two, (1, 4, 6, 6), (2, 2, 2, 3), [1, 2], [2, 0], [2, 1], 2),
            (one, (2, 3, 9), (4, 3, 3), [2], [1], [1], 1)):
        x, weight = levels(*sizes), levels(*filters)
        b = torch.randint(-30000, 30000, (filters[0],), dtype=I32)
        multiplier, shift = channels(filters[0], 40)
        sums = function((x.double() - 13), weight.double(), b.double(), stride, padding, dilation,
                        groups).long()
        emit("petrel::int8_convolution.out",
             [x, weight, b, multiplier, shift, stride, padding, dilation, groups, 13, -4, -128,
              120, NUMBERS[I8]],
             [by_channel(sums, 1, multiplier, shift, -4, -128, 120, I8)])


def averages():
    for rows, columns in (([0, 2, 2, 1, 4, 3], [0, 5, 5]), ([0, 4, 7], [0, 2, 2, 2, 5, 3])):
        x = levels(2, 4, 5)
        out = []
        for plane in (x.long() + 5).unbind(0):
            for r in range(0, len(rows), 3):
                for c in range(0, len(columns), 3):
                    window = plane[rows[r]:rows[r + 1], columns[c]:columns[c + 1]]
                    out.append(Fraction(int(window.sum()) * 2**30,
                                        2**31 * rows[r + 2] * columns[c + 2]))
        emit("petrel::int8_average.out",
             [x, rows, columns, -5, 2**30, 31, 1, -128, 127, NUMBERS[I8]],
             [held(out, (2, len(rows) // 3, len(columns) // 3), 1, -128, 127, I8)])


def pools():
    for dtype in (I8, U8):
        x = levels(2, 5, 7, dtype=dtype)
        out = torch.nn.functional.max_pool2d(x.double(), (2, 3), (2, 2), (0, 1), (2, 1))
        emit("petrel::int8_max_pool.out", [x, [0, 3, 2, 2, 5, 2], [0, 2, 1, 1, 4, 1, 3, 6, 1, 5, 7, 1]],
             [out.to(dtype)])


def softmaxes():
    table = torch.exp(-0.05 * torch.arange(256.0)).mul(2**24).round().to(I32)
    for sizes, dim in (((3, 8), -1), ((2, 5, 3), 1)):
        x = levels(*sizes)
        e = table[x.amax(dim, keepdim=True).long() - x.long()].long()
        sums = e.sum(dim, keepdim=True).expand(sizes)
        out = [Fraction(a * 12000000, s * 2**15)
               for a, s in zip(e.flatten().tolist(), sums.flatten().tolist())]
        emit("petrel::int8_softmax.out", [x, dim, table, 12000000, 15, -128, -128, 127, NUMBERS[I8]],
             [held(out, sizes, -128, -128, 127, I8)])


def masked_softmaxes():
    """One row is shut out whole."""
    table = torch.exp(-0.03 * torch.arange(256.0)).mul(2**24).round().to(I32)
    for sizes, masked, dim in (((2, 4, 6), (4, 6), -1), ((3, 5), (3, 5), 0)):
        x, mask = levels(*sizes), torch.rand(masked) < 0.7
        mask.select(1 if dim == -1 else 0, 0)[...] = True
        mask[2 if dim == -1 else slice(None), 0 if dim == 0 else slice(None)] = False
        allowed = mask.expand(sizes)
        largest = torch.where(allowed, x.long(), -256).amax(dim, keepdim=True)
        e = torch.where(allowed, table[(largest - x.long()).clamp(0, 255)].long(), 0)
        sums = e.sum(dim, keepdim=True).clamp(min=1).expand(sizes)
        out = [Fraction(a * 12000000, s * 2**15)
               for a, s in zip(e.flatten().tolist(), sums.flatten().tolist())]
        emit("petrel::int8_masked_softmax.out",
             [x, mask, dim, table, 12000000, 15, -128, -128, 127, NUMBERS[I8]],
             [held(out, sizes, -128, -128, 127, I8)])


def nearest_root(square):
    root = math.isqrt(square)
    return root + 1 if square - root * root > root else root


def norms():
    for sizes, size, repeat, width, dtype in (((3, 8), 8, 1, 8, I8), ((2, 4, 3), 6, 3, 4, U8),
                                              ((2, 5), 1, 1, 5, I8)):
        x = levels(*sizes, dtype=dtype)
        weight = torch.randint(-2**30, 2**30, (width,)).to(I32)
        bias = torch.randint(-200000, 200000, (width,)).to(I32)
        out = []
        for begin in range(0, x.numel(), size):
            row = x.flatten()[begin:begin + size].tolist()
            total = sum(row)
            root = max(1, nearest_root((size * sum(q * q for q in row) - total * total) * 4**15
                                       + 70000000))
            for i, q in enumerate(row):
                c = (begin + i) // repeat % width
                out.append(Fraction((size * q - total) * int(weight[c]) + root * int(bias[c]),
                                    root * 2**11))
        emit("petrel::int8_norm.out",
             [x, size, repeat, weight, bias, 70000000, 15, 11, 7, -128, 127, NUMBERS[I8]],
             [held(out, sizes, 7, -128, 127, I8)])


def averages_of_all():
    """Of as many rows as there are."""
    x = (torch.arange(24) * 7 % 50 - 20).view(2, 3, 4).to(I8)
    sums = (x.long() + 5).sum(1).flatten().tolist()
    out = [Fraction(int(s) * 2**30, 2**29 * 3) for s in sums]
    emit("petrel::int8_average.out",
         [x, [0, -1, -1], [0, 1, 1, 1, 2, 1, 2, 3, 1, 3, 4, 1], -5, 2**30, 29, 1, -128, 127,
          NUMBERS[I8]],
         [held(out, (2, 1, 4), 1, -128, 127, I8)])


def record():
    for section in (tables, pairs, products, convolutions, averages, pools, softmaxes,
                    masked_softmaxes, norms, averages_of_all):
        section()
