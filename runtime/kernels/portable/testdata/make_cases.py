# SPDX-License-Identifier: Apache-2.0
"""Writes cases.txt: calls of out-variants and the results of eager torch.

Run with torch 2.13.0:  python3 make_cases.py > cases.txt

One case is a line `case NAME`, one line per argument in schema order, and one
line `out` per output with the expected elements.
"""

import math

import torch

torch.manual_seed(7)
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


special = torch.tensor([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, 80.0, -80.0])

# One operand.
for n in "exp expm1 sin cos tan atan sinh tanh asinh erf sigmoid neg abs ceil floor trunc round sign relu".split():
    call(f"aten::{n}.out", torch.cat([t(20, lo=-4, hi=4), special]))
call("aten::cosh.out", t(20))
call("aten::exp.out", t(3, 4, dtype=torch.float64), dtypes=(torch.float64,))
call("aten::exp.out", t(7, dtype=torch.float16), dtypes=(torch.float16,))
call("aten::sigmoid.out", t(7, dtype=torch.bfloat16), dtypes=(torch.bfloat16,))
call("aten::sin.out", torch.tensor([1e3, 1e5, -3e6, 12345.678]))
call("aten::sqrt.out", ints(5, lo=0, dtype=torch.int32))
for n in "log log1p log2 log10 sqrt rsqrt reciprocal".split():
    call(f"aten::{n}.out", torch.cat([t(20, lo=0.01, hi=9), special]))
for n in "asin acos atanh".split():
    call(f"aten::{n}.out", torch.cat([t(20, lo=-1, hi=1), special]))
call("aten::acosh.out", torch.cat([t(20, lo=1, hi=40), special]))
for n in "abs neg sign".split():
    call(f"aten::{n}.out", ints(12), dtypes=(torch.int64,))
call("aten::abs.out", torch.tensor([-128, 127, -1], dtype=torch.int8), dtypes=(torch.int8,))
call("aten::round.out", torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997]))
for n in "isinf isnan logical_not".split():
    call(f"aten::{n}.out", special, dtypes=(torch.bool,))
call("aten::bitwise_not.out", ints(9, dtype=torch.int32), dtypes=(torch.int32,))
call("aten::bitwise_not.out", t(9, dtype=torch.bool), dtypes=(torch.bool,))
call("aten::gelu.out", t(20, lo=-5, hi=5), "none")
call("aten::gelu.out", t(20, lo=-5, hi=5), "tanh")
call("aten::hardtanh.out", torch.cat([t(9, lo=-9, hi=9), special]), 0.0, 6.0)
call("aten::clamp.out", torch.cat([t(9), special]), -1.0, None)
call("aten::clamp.out", t(9), None, 0.5)
call("aten::clamp.out", t(9), 1.0, 0.5)
call("aten::clamp.out", ints(9), -2, 3, dtypes=(torch.int64,))
call("aten::leaky_relu.out", torch.cat([t(9), special]), 0.01)
call("aten::elu.out", t(9), 1.5, 1.0, 1.0)
call("aten::logit.out", t(9, lo=0.1, hi=0.9), None)
call("aten::logit.out", t(9, lo=-0.1, hi=1.1), 0.05)

# Two operands.
for n in "add sub".split():
    call(f"aten::{n}.out", t(2, 3), t(3), 1)
    call(f"aten::{n}.out", t(2, 1, 3), t(4, 1), 2.5)
    call(f"aten::{n}.out", ints(4), ints(4), 3, dtypes=(torch.int64,))
    call(f"aten::{n}.Scalar_out", t(5), 0.1, 1)
    call(f"aten::{n}.Scalar_out", ints(5, dtype=torch.int32), 7, 2, dtypes=(torch.int32,))
call("aten::add.out", t(2, 3), ints(3), 1)
call("aten::add.out", torch.tensor([250], dtype=torch.uint8), torch.tensor([10], dtype=torch.uint8), 1, dtypes=(torch.uint8,))
call("aten::add.out", t(1, 3, 2, 2).to(memory_format=torch.channels_last), t(1, 3, 1, 1), 1)
call("aten::add.out", t(0, 3), t(3), 1)
call("aten::add.out", t(()), t(()), 1)
call("aten::rsub.Scalar_out", t(5), 1.5, 1)
call("aten::mul.out", t(2, 3), t(2, 1))
call("aten::mul.Scalar_out", t(5), 0.3)
call("aten::mul.Scalar_out", ints(5), 3, dtypes=(torch.int64,))
call("aten::div.out", t(5), t(5))
call("aten::div.out", ints(5), ints(5, lo=1, hi=4))
call("aten::div.Scalar_out", t(5), 3.0)
for mode in ("floor", "trunc", None):
    call("aten::div.out_mode", t(9, lo=-9, hi=9), t(9, lo=0.3, hi=2), mode)
    call("aten::div.Scalar_mode_out", t(9, lo=-9, hi=9), 1.5, mode)
for mode in ("floor", "trunc"):
    call("aten::div.out_mode", ints(9), torch.tensor([2, -2, 3, -3, 5, -5, 1, -1, 4]), mode, dtypes=(torch.int64,))
call("aten::floor_divide.out", ints(9), torch.tensor([2, -2, 3, -3, 5, -5, 1, -1, 4]), dtypes=(torch.int64,))
call("aten::floor_divide.out", t(9, lo=-9, hi=9), t(9, lo=0.3, hi=2))
for n in "fmod remainder".split():
    call(f"aten::{n}.Tensor_out", t(9, lo=-9, hi=9), torch.tensor([2.0, -2, 3, -3, 0.5, -0.5, 1, -1, 4]))
    call(f"aten::{n}.Tensor_out", ints(9), torch.tensor([2, -2, 3, -3, 5, -5, 1, -1, 4]), dtypes=(torch.int64,))
    call(f"aten::{n}.Scalar_out", t(9, lo=-9, hi=9), -1.5)
for n in "maximum minimum".split():
    call(f"aten::{n}.out", torch.cat([special, t(10)]), torch.cat([t(10), special]))
    call(f"aten::{n}.out", ints(6), ints(6), dtypes=(torch.int64,))
call("aten::atan2.out", t(12), t(12))
call("aten::pow.Tensor_Tensor_out", t(9, lo=0.1, hi=3), t(9))
call("aten::pow.Tensor_Tensor_out", ints(5), ints(5, lo=0, hi=5), dtypes=(torch.int64,))
for e in (2, 3.0, 0.5, -1.0, 2.3):
    call("aten::pow.Tensor_Scalar_out", t(9, lo=0.1, hi=3), e)
call("aten::pow.Tensor_Scalar_out", t(9), 2)
call("aten::pow.Scalar_out", 2.0, t(9))
for n in "eq ne lt le gt ge".split():
    call(f"aten::{n}.Tensor_out", ints(12, lo=0, hi=3), ints(12, lo=0, hi=3), dtypes=(torch.bool,))
    call(f"aten::{n}.Tensor_out", special, special.flip(0), dtypes=(torch.bool,))
    call(f"aten::{n}.Scalar_out", ints(12, lo=0, hi=3), 2, dtypes=(torch.bool,))
    call(f"aten::{n}.Scalar_out", torch.tensor([0.1, 0.2, 0.3]), 0.2, dtypes=(torch.bool,))
for n in "logical_and logical_or logical_xor".split():
    call(f"aten::{n}.out", t(8, dtype=torch.bool), t(8, dtype=torch.bool), dtypes=(torch.bool,))
for n in "bitwise_and bitwise_or bitwise_xor".split():
    call(f"aten::{n}.Tensor_out", ints(8), ints(8), dtypes=(torch.int64,))
    call(f"aten::{n}.Tensor_out", t(8, dtype=torch.bool), t(8, dtype=torch.bool), dtypes=(torch.bool,))
    call(f"aten::{n}.Scalar_out", ints(8), 5, dtypes=(torch.int64,))

for n in "bitwise_left_shift bitwise_right_shift".split():
    call(f"aten::{n}.Tensor_out", ints(8), ints(8, lo=0, hi=5), dtypes=(torch.int64,))
    call(f"aten::{n}.Tensor_Scalar_out", ints(8), 3, dtypes=(torch.int64,))

# Matrices.
call("aten::mm.out", t(3, 4), t(4, 5))
call("aten::mm.out", ints(2, 3), ints(3, 2), dtypes=(torch.int64,))
call("aten::bmm.out", t(2, 3, 4), t(2, 4, 5))
for bias in (t(5), t(3, 5), t(3, 1), t(())):
    call("aten::addmm.out", bias, t(3, 4), t(4, 5), 1, 1)
call("aten::addmm.out", t(5), t(3, 4), t(4, 5), 0.5, 2.0)
for b in (None, t(5)):
    call("aten::linear.out", t(2, 3, 4), t(5, 4), b)

# Convolutions: input, weight, bias, stride, padding, dilation, transposed, output padding, groups.
call("aten::convolution.out", t(2, 3, 6, 5), t(4, 3, 3, 3), t(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
call("aten::convolution.out", t(1, 4, 7, 7), t(4, 1, 3, 3), None, [2, 2], [1, 1], [1, 1], False, [0, 0], 4)
call("aten::convolution.out", t(1, 4, 7, 8), t(6, 2, 2, 3), t(6), [2, 1], [0, 2], [2, 1], False, [0, 0], 2)
call("aten::convolution.out", t(1, 3, 4, 4).to(memory_format=torch.channels_last), t(2, 3, 3, 3), t(2), [1], [1], [1], False, [0], 1)
call("aten::convolution.out", t(2, 3, 9), t(4, 3, 3), t(4), [2], [1], [1], False, [0], 1)
call("aten::convolution.out", t(1, 4, 3, 4), t(4, 3, 3, 2), t(3), [2, 3], [1, 0], [1, 2], True, [1, 0], 1)
call("aten::convolution.out", t(1, 4, 3, 4), t(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 2)
call("aten::convolution.out", t(1, 2, 5), t(2, 3, 4), t(3), [2], [1], [1], True, [1], 1)

# Windows.
for args in (([3, 3], [2, 2], [1, 1], [1, 1], False), ([2], [], [0], [1], True), ([3, 2], [2, 1], [1, 0], [2, 1], False), ([2, 2], [2, 2], [0, 0], [1, 1], True)):
    call("aten::max_pool2d_with_indices.out", t(2, 2, 7, 6), *args, dtypes=(F, torch.int64))
nan_plane = t(1, 1, 4, 4)
nan_plane[0, 0, 1, 1] = math.nan
call("aten::max_pool2d_with_indices.out", nan_plane, [2, 2], [2, 2], [0, 0], [1, 1], False, dtypes=(F, torch.int64))
for args in (([3, 3], [2, 2], [1, 1], False, True, None), ([3, 3], [2, 2], [1, 1], True, False, None), ([2], [], [0], True, True, None), ([2, 2], [2, 2], [0, 0], False, True, 3), ([3, 3], [2, 2], [1, 1], True, True, None)):
    call("aten::avg_pool2d.out", t(1, 2, 6, 7), *args)
call("aten::avg_pool2d.out", t(2, 5, 5), [2, 2], [1, 1], [0, 0], False, True, None)
call("aten::_adaptive_avg_pool2d.out", t(1, 2, 7, 5), [3, 2])
call("aten::_adaptive_avg_pool2d.out", t(2, 5, 5), [1, 1])
for align in (False, True):
    call("aten::upsample_bilinear2d.vec_out", t(1, 2, 3, 4), [5, 7], align, None)
    call("aten::upsample_bilinear2d.vec_out", t(1, 2, 3, 4), None, align, [2.0, 2.0])
call("aten::upsample_bilinear2d.vec_out", t(1, 1, 5, 5), [3, 2], False, None)
call("aten::upsample_nearest2d.vec_out", t(1, 2, 3, 4), [5, 7], None)
call("aten::upsample_nearest2d.vec_out", t(1, 2, 3, 4), None, [2.0, 1.5])

# Normalisations.
call("aten::native_layer_norm.out", t(2, 3, 4), [4], t(4), t(4), 1e-5, dtypes=(F, F, F))
call("aten::native_layer_norm.out", t(2, 3, 4), [3, 4], None, None, 1e-5, dtypes=(F, F, F))
call("aten::native_group_norm.out", t(2, 6, 3), t(6), t(6), 2, 6, 3, 3, 1e-5, dtypes=(F, F, F))
call("aten::native_group_norm.out", t(1, 4, 2, 2), None, None, 1, 4, 4, 2, 1e-3, dtypes=(F, F, F))
call("aten::_native_batch_norm_legit_no_training.out", t(2, 3, 2, 2), t(3), t(3), t(3), t(3, lo=0.5, hi=2), 0.1, 1e-5, dtypes=(F, F, F))
call("aten::_native_batch_norm_legit_no_training.out", t(2, 3), None, None, t(3), t(3, lo=0.5, hi=2), 0.1, 1e-3, dtypes=(F, F, F))

# Reductions.
for dims, keep in (([1], False), ([0, 2], True), (None, False), ([-1], True), ([], False)):
    call("aten::sum.IntList_out", t(2, 3, 4), dims, keep, None)
    call("aten::mean.out", t(2, 3, 4), dims, keep, None)
    call("aten::amax.out", t(2, 3, 4), dims or [], keep)
    call("aten::amin.out", t(2, 3, 4), dims or [], keep)
    if dims != []:
        call("aten::any.dims_out", t(2, 3, 4, dtype=torch.bool), dims, keep, dtypes=(torch.bool,))
call("aten::sum.IntList_out", ints(2, 3), [1], False, None, dtypes=(torch.int64,))
call("aten::sum.IntList_out", t(4, dtype=torch.bool), [0], False, None, dtypes=(torch.int64,))
call("aten::mean.out", t(1, 3, 4, 4).to(memory_format=torch.channels_last), [2, 3], True, None)
call("aten::var.correction_out", t(2, 3, 4), [1, 2], 1, False)
call("aten::var.correction_out", t(2, 3, 4), [1], 0, True)
call("aten::var.correction_out", t(5), None, None, False)
call("aten::var.out", t(2, 3, 4), [1], False, True)
call("aten::mean.dtype_out", t(2, 3), None)
call("aten::prod.int_out", t(2, 3, 4), 1, True, None)
call("aten::prod.out", ints(5), None, dtypes=(torch.int64,))
call("aten::any.all_out", t(2, 3, dtype=torch.bool), dtypes=(torch.bool,))
call("aten::any.out", t(2, 3, dtype=torch.bool), 1, False, dtypes=(torch.bool,))
for n in "max min".split():
    call(f"aten::{n}.unary_out", t(2, 3))
    call(f"aten::{n}.unary_out", ints(7), dtypes=(torch.int64,))
call("aten::topk.values", t(2, 5, 3), 2, 1, True, True, dtypes=(F, torch.int64))
call("aten::topk.values", t(6), 4, 0, False, True, dtypes=(F, torch.int64))
with_nan = t(3, 4)
with_nan[1, 2] = math.nan
for n in "max min".split():
    call(f"aten::{n}.dim_{n}", with_nan, 1, True, dtypes=(F, torch.int64))
    call(f"aten::{n}.dim_{n}", t(3, 4, 2), -2, False, dtypes=(F, torch.int64))
    call(f"aten::arg{n}.out", with_nan, 1, False, dtypes=(torch.int64,))
    call(f"aten::arg{n}.out", torch.tensor([1.0, 3.0, 3.0, -1.0, -1.0]), None, False, dtypes=(torch.int64,))
call("aten::cumsum.out", t(2, 3, 4), 1, None)
call("aten::cumsum.out", ints(5), 0, None, dtypes=(torch.int64,))
for n in "_softmax _log_softmax".split():
    call(f"aten::{n}.out", t(2, 3, 4, lo=-30, hi=30), -1, False)
    call(f"aten::{n}.out", t(2, 3, 4), 1, False)

# Rearrangements.
call("aten::view_copy.out", t(2, 3, 4), [4, -1])
call("aten::view_copy.out", ints(4), [2, 2], dtypes=(torch.int64,))
for n in "alias_copy detach_copy lift_fresh_copy".split():
    call(f"aten::{n}.out", t(2, 3))
call("aten::clone.out", t(2, 3), None)
call("aten::clone.out", t(1, 2, 2, 3).to(memory_format=torch.channels_last), torch.contiguous_format)
call("aten::_to_copy.out", t(5, lo=-9, hi=9), False, None, dtypes=(torch.int64,))
call("aten::_to_copy.out", ints(5), False, None)
call("aten::_to_copy.out", t(9), False, None, dtypes=(torch.float16,))
call("aten::_to_copy.out", ints(5, lo=0, hi=1), False, None, dtypes=(torch.bool,))
call("aten::copy.out", t(2, 3), t(3), False)
call("aten::permute_copy.out", t(2, 3, 4), [2, 0, -2])
call("aten::transpose_copy.int_out", t(2, 3, 4), 0, -1)
call("aten::t_copy.out", t(2, 3))
call("aten::t_copy.out", t(3))
call("aten::expand_copy.out", t(3, 1), [2, -1, 4], False)
call("aten::squeeze_copy.dim_out", t(2, 1, 3), 1)
call("aten::squeeze_copy.dim_out", t(2, 1, 3), 0)
call("aten::squeeze_copy.dims_out", t(1, 2, 1, 3), [0, 1, -2])
call("aten::unsqueeze_copy.out", t(2, 3), -1)
call("aten::unsqueeze_copy.out", t(2, 3), 0)
for dim, start, end, step in ((1, 1, 4, 1), (0, None, None, 2), (1, -3, 9223372036854775807, 2), (1, 3, 1, 1)):
    call("aten::slice_copy.Tensor_out", t(3, 5), dim, start, end, step)
call("aten::narrow_copy.out", t(3, 5), 1, 1, 3)
call("aten::select_copy.int_out", t(3, 4, 5), 1, -1)
call("aten::slice_scatter.out", t(3, 5), t(3, 2), 1, 1, 5, 2)
call("aten::select_scatter.out", t(3, 4, 2), t(3, 2), 1, -2)
call("aten::cat.out", [t(2, 3), t(1, 3), torch.empty(0)], 0)
call("aten::cat.out", [t(2, 3, 1), t(2, 2, 1)], -2)
call("aten::stack.out", [t(2, 3), t(2, 3), t(2, 3)], 1)
# Their out-variants want outputs that have their sizes already.
x = t(2, 6)
emit("aten::split_with_sizes_copy.out", [x, [1, 3, 2], 1], [x.split_with_sizes([1, 3, 2], 1)])
x = t(5, 2)
emit("aten::split_copy.Tensor_out", [x, 2, 0], [x.split(2, 0)])
x = t(3, 2)
emit("aten::unbind_copy.int_out", [x, 0], [x.unbind(0)])
call("aten::repeat.out", t(2, 3), [2, 1, 3])
call("aten::repeat.out", t(2), [0])
call("aten::flip.out", t(2, 3, 4), [0, -1])
call("aten::pixel_shuffle.out", t(1, 8, 2, 3), 2)
call("aten::pixel_unshuffle.out", t(1, 2, 4, 6), 2)
call("aten::as_strided_copy.out", t(4, 5), [2, 3], [1, 4], 2)
call("aten::diagonal_copy.out", t(3, 4, 2), 1, 0, 1)
call("aten::diagonal_copy.out", t(3, 4), -1, 1, 0)
call("aten::unfold_copy.out", t(2, 7), 1, 3, 2)
call("aten::roll.out", t(3, 4, 2), [1, -2], [0, 1])
call("aten::roll.out", t(3, 4), [5], [])
call("aten::constant_pad_nd.out", t(2, 3, 4), [1, 2, 0, 3], 1.5)
call("aten::constant_pad_nd.out", t(2, 3, 4), [-1, 2, 1, -2], 0)
call("aten::constant_pad_nd.out", ints(3), [1, 1], 7, dtypes=(torch.int64,))
call("aten::reflection_pad1d.out", t(1, 2, 5), [2, 3])
call("aten::reflection_pad2d.out", t(1, 2, 4, 5), [2, 3, 1, 0])
call("aten::replication_pad1d.out", t(1, 2, 3), [2, 4])
call("aten::replication_pad2d.out", t(1, 2, 3, 3), [1, 0, 2, 4])

# Chosen elements.
call("aten::where.self_out", t(2, 3, dtype=torch.bool), t(2, 3), t(3))
call("aten::where.self_out", t(3, dtype=torch.bool), ints(3), ints(1), dtypes=(torch.int64,))
call("aten::masked_fill.Scalar_out", t(2, 3), t(3, dtype=torch.bool), -1.5)
call("aten::embedding.out", t(5, 3), torch.tensor([[0, 4], [2, 2]]), -1, False, False)
call("aten::embedding.out", t(5, 3), torch.tensor([1, 3], dtype=torch.int32), -1, False, False)
call("aten::index_select.out", t(3, 4), 1, torch.tensor([3, 0, 0]))
call("aten::gather.out", t(3, 4), 1, torch.tensor([[0, 3], [1, 1]]), False)
call("aten::index.Tensor_out", t(3, 4, 5), [None, torch.tensor([[0, 3], [1, -1]])])
call("aten::index.Tensor_out", t(3, 4, 5), [torch.tensor([0, 2]), None, torch.tensor([4, 1])])
call("aten::index.Tensor_out", t(3, 4, 5), [torch.tensor([0, 2]), torch.tensor([[3], [1]])])

index = torch.tensor([[0, 2, 1], [2, 0, 0]])
call("aten::scatter.src_out", t(3, 4), 0, torch.tensor([[0, 2, 1], [2, 0, 0]]), t(2, 3))
call("aten::scatter.value_out", t(3, 4), 1, index, 9.5)
call("aten::scatter_add.out", t(3, 4), 1, index, t(2, 3))
call("aten::index_put.out", t(4, 5), [torch.tensor([0, 3]), torch.tensor([1, -1])], t(2), False)
call("aten::index_put.out", t(3, 4, 5), [None, torch.tensor([1, 1, 2])], t(3, 1, 5), True)
call("aten::index_put.out", t(3, 4, 5), [torch.tensor([2]), None, torch.tensor([4, 1])], t(()), False)

# Made from nothing.
call("aten::full.out", [2, 3], 1.5)
call("aten::full.out", [], 7, dtypes=(torch.int64,))
call("aten::full_like.out", t(2, 3), -2.0, None)
call("aten::fill.Scalar_out", t(2, 3), 4.0)
call("aten::zeros.out", [2, 2])
call("aten::ones.out", [3], dtypes=(torch.bool,))
call("aten::scalar_tensor.out", 2.5)
call("aten::arange.out", 5, dtypes=(torch.int64,))
call("aten::arange.start_out", 1.0, 3.0, 0.5)
call("aten::arange.start_out", 7, -2, -3, dtypes=(torch.int64,))
call("aten::tril.out", t(2, 3, 4), 0)
call("aten::tril.out", t(3, 4), -1)
call("aten::tril.out", t(3, 4), 2)

# Clamping by tensors, gates, distances.
nan_list = torch.tensor([1.0, math.nan, -3.0, 5.0])
call("aten::clamp.Tensor_out", t(3, 4), t(4), t(3, 1))
call("aten::clamp.Tensor_out", nan_list, None, torch.tensor([2.0, 1.0, math.nan, 4.0]))
call("aten::clamp.Tensor_out", ints(6), ints(6), None, dtypes=(torch.int64,))
call("aten::fill.Tensor_out", t(2, 3), torch.tensor(2.5))
call("aten::fill.Tensor_out", ints(3), torch.tensor(7), dtypes=(torch.int64,))
call("aten::glu.out", t(3, 4), -1)
call("aten::glu.out", t(2, 3, 2), 0)
call("aten::glu.out", t(2, 3, 2), 2)
for p in (0.0, 1.0, 2.0, 2.5, math.inf):
    call("aten::_cdist_forward.out", t(2, 3, 4), t(2, 5, 4), p, None)
    call("aten::_pdist_forward.out", t(5, 3), p)
call("aten::_cdist_forward.out", t(2, 1, 3, 4), t(3, 2, 4), 1.0, None)

# Masks and counts.
call("aten::masked_select.out", t(3, 4), t(4, dtype=torch.bool))
call("aten::masked_select.out", ints(2, 3), torch.zeros(2, 3, dtype=torch.bool), dtypes=(torch.int64,))
call("aten::masked_scatter.out", t(3, 4), t(3, 4, dtype=torch.bool), t(12))
call("aten::masked_scatter.out", ints(2, 3), torch.tensor([True, False, True]), ints(4), dtypes=(torch.int64,))
call("aten::nonzero.out", torch.tensor([[0.0, 1.0, 0.0], [math.nan, 0.0, -2.0]]), dtypes=(torch.int64,))
call("aten::nonzero.out", t(7, dtype=torch.bool), dtypes=(torch.int64,))
call("aten::repeat_interleave.Tensor_out", torch.tensor([2, 0, 3, 1]), None, dtypes=(torch.int64,))
call("aten::repeat_interleave.Tensor_out", torch.tensor([1, 2], dtype=torch.int32), 3, dtypes=(torch.int32,))

# Variances with their means, statistics of the batch itself.
for dims, keep in (([1], False), ([0, 2], True), (None, False)):
    x = t(3, 4, 5)
    emit("aten::var_mean.correction_out", [x, dims, 1, keep], torch.var_mean(x, dims, correction=1, keepdim=keep))
x, w, b = t(3, 4, 5, 2), t(4), t(4)
emit("aten::_native_batch_norm_legit.no_stats_out", [x, w, b, True, 0.1, 1e-5],
     torch.ops.aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5))
x = t(6, 4)
emit("aten::_native_batch_norm_legit.no_stats_out", [x, None, None, True, 0.1, 1e-3],
     torch.ops.aten._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 1e-3))

# Volumes, sampled images.
call("aten::reflection_pad3d.out", t(1, 2, 3, 4, 3), [1, 2, 0, 3, 2, 1])
call("aten::replication_pad3d.out", t(2, 2, 3, 2), [1, 2, 0, 3, 2, 1])
call("aten::_upsample_bilinear2d_aa.out", t(1, 2, 9, 7), [4, 3], False, None, None)
call("aten::_upsample_bilinear2d_aa.out", t(1, 1, 5, 6), [7, 8], False, None, None)
call("aten::_upsample_bilinear2d_aa.out", t(1, 1, 9, 8), [3, 5], True, None, None)
call("aten::_upsample_bilinear2d_aa.out", t(1, 1, 9, 8), [3, 5], False, 0.34, 0.7)
for interpolation in (0, 1, 2):
    for padding in (0, 1, 2):
        for corners in (False, True):
            x, grid = t(2, 2, 4, 5), t(2, 3, 3, 2, lo=-1.4, hi=1.4)
            # Element centers half way between two are a matter of rounding.
            emit("aten::grid_sampler_2d.out", [x, grid, interpolation, padding, corners],
                 [torch.ops.aten.grid_sampler_2d(x, grid, interpolation, padding, corners)])

# Copies of more than one block, for each size of element.
for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
    call("aten::permute_copy.out", ints(3, 33, 35, dtype=dtype), [2, 0, 1], dtypes=(dtype,))
call("aten::clone.out", ints(2, 35, 3, 33).to(memory_format=torch.channels_last), torch.contiguous_format,
     dtypes=(torch.int64,))
call("aten::expand_copy.out", ints(2, 1, 40), [2, 3, -1], False, dtypes=(torch.int64,))

# Attention, an operator of this project: heads that share keys, masks of both
# kinds, rows that see nothing, a step with a cache.
def attention(q, k, v, mask, causal, scale):
    result = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, mask, 0.0, causal, scale=scale, enable_gqa=True)
    emit("petrel::attention.out", [q, k, v, mask, causal, scale], [result])


for dtype in (F, torch.float16, torch.bfloat16, torch.float64):
    attention(t(1, 2, 3, 4, dtype=dtype), t(1, 2, 5, 4, dtype=dtype), t(1, 2, 5, 6, dtype=dtype), None, False, 0.5)
attention(t(2, 4, 3, 8), t(2, 2, 5, 8), t(2, 2, 5, 8), None, True, 0.3)
attention(t(1, 4, 9, 8), t(1, 1, 9, 8), t(1, 1, 9, 8), None, True, 0.3)
attention(t(1, 2, 1, 8), t(1, 2, 20, 8), t(1, 2, 20, 8), torch.arange(20)[None] < 7, False, 0.25)
attention(t(1, 2, 1, 8), t(1, 2, 20, 8), t(1, 2, 20, 8), torch.where(torch.arange(20)[None] < 7, 0.0, -math.inf), False, 0.25)
seen = t(4, 6, dtype=torch.bool)
seen[2] = False
attention(t(2, 2, 4, 8), t(2, 2, 6, 8), t(2, 2, 6, 8), seen, False, 0.25)
attention(t(2, 2, 4, 8), t(2, 2, 6, 8), t(2, 2, 6, 8), t(2, 1, 4, 6), False, 0.25)
attention(t(2, 2, 4, 8), t(2, 2, 6, 8), t(2, 2, 6, 8), t(2, 4, 1), False, 0.25)
attention(t(1, 1, 12, 4), t(1, 1, 6, 4), t(1, 1, 6, 4), t(12, 6, dtype=torch.bool), False, 0.5)
broken = t(1, 1, 3, 4)
broken[0, 0, 1, 2] = math.nan
# Eager's fused kernel makes a row of NaN scores 0; its plain one, as here, NaN.
key, value = t(1, 1, 5, 4), t(1, 1, 5, 4)
emit("petrel::attention.out", [broken, key, value, None, False, 0.5],
     [torch.softmax(broken @ key.transpose(-1, -2) * 0.5, -1) @ value])
attention(t(1, 1, 3, 4), t(1, 1, 5, 4), torch.full((1, 1, 5, 4), math.inf), None, False, 0.5)

# Other element types, where kernels have loops of their own for them.
for dtype in (torch.float16, torch.bfloat16):
    def n(*sizes, lo=-2.0, hi=2.0):
        return t(*sizes, lo=lo, hi=hi, dtype=dtype)

    same = dict(dtypes=(dtype,))
    for name in "exp tanh sigmoid erf sqrt abs neg relu floor reciprocal".split():
        call(f"aten::{name}.out", n(19, lo=0.1, hi=3), **same)
    call("aten::gelu.out", n(19), "none", **same)
    call("aten::clamp.out", n(19), -1.0, 1.0, **same)
    call("aten::hardtanh.out", n(19), -1.0, 1.0, **same)
    for name in "add sub".split():
        call(f"aten::{name}.out", n(3, 5), n(5), 2, **same)
        call(f"aten::{name}.out", n(3, 5), n(3, 1), 1, **same)
    for name in "mul div maximum minimum".split():
        call(f"aten::{name}.out", n(3, 5), n(5, lo=0.5, hi=2), **same)
    for name in "eq lt ge".split():
        call(f"aten::{name}.Tensor_out", n(3, 5), n(5), dtypes=(torch.bool,))
        call(f"aten::{name}.Scalar_out", n(3, 5), 0.5, dtypes=(torch.bool,))
    call("aten::where.self_out", t(3, 5, dtype=torch.bool), n(3, 5), n(5), **same)
    for dim in (0, 1):
        call("aten::sum.IntList_out", n(4, 9), [dim], False, None, **same)
        call("aten::mean.out", n(4, 9), [dim], True, None, **same)
        call("aten::amax.out", n(4, 9), [dim], False, **same)
        call("aten::_softmax.out", n(4, 9), dim, False, **same)
        call("aten::_log_softmax.out", n(4, 9), dim, False, **same)
        call("aten::cumsum.out", n(4, 5), dim, None, **same)
        call("aten::argmax.out", n(4, 9), dim, False, dtypes=(torch.int64,))
    call("aten::native_layer_norm.out", n(2, 3, 7), [7], n(7), n(7), 1e-5, dtypes=(dtype,) * 3)
    call("aten::native_group_norm.out", n(1, 4, 3), n(4), n(4), 1, 4, 3, 2, 1e-5, dtypes=(dtype,) * 3)
    call("aten::mm.out", n(3, 20), n(20, 5), **same)
    call("aten::bmm.out", n(2, 3, 20), n(2, 20, 5), **same)
    call("aten::addmm.out", n(5), n(3, 20), n(20, 5), 1, 1, **same)
    call("aten::embedding.out", n(5, 3), torch.tensor([[0, 4], [2, 2]]), -1, False, False, **same)
for dtype in (torch.int64, torch.int32):
    def i(*sizes, lo=-9, hi=9):
        return ints(*sizes, lo=lo, hi=hi, dtype=dtype)

    same = dict(dtypes=(dtype,))
    for name in "abs neg sign relu".split():
        call(f"aten::{name}.out", i(19), **same)
    for name in "add sub".split():
        call(f"aten::{name}.out", i(3, 5), i(5), 3, **same)
    for name in "mul maximum minimum".split():
        call(f"aten::{name}.out", i(3, 5), i(3, 1), **same)
    call("aten::clamp.out", i(19), -3, 4, **same)
    call("aten::clamp.out", i(19), None, 4, **same)
    for name in "eq ne lt le gt ge".split():
        call(f"aten::{name}.Tensor_out", i(3, 5), i(5), dtypes=(torch.bool,))
    for dim in (0, 1):
        if dtype is torch.int64:  # sums of others are int64
            call("aten::cumsum.out", i(4, 5), dim, None, **same)
        call("aten::amax.out", i(4, 5), [dim], False, **same)
    call("aten::gather.out", i(3, 4), 1, torch.tensor([[0, 3], [1, 1]]), False, **same)
call("aten::arange.out", 5, dtypes=(torch.int32,))
kinds = [F, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]
for source in kinds:
    for target in kinds:
        if source is not target:
            x = t(17, lo=0 if torch.uint8 in (source, target) else -9, hi=9, dtype=source)
            call("aten::_to_copy.out", x, False, None, dtypes=(target,))

# Rolling by rows, by whole pieces and not at all; padding that crops.
call("aten::roll.out", t(2, 3, 4), [-2], [2])
call("aten::roll.out", t(3, 2, 2), [4, 0], [0, 2])
call("aten::roll.out", t(2, 3), [3], [1])
call("aten::replication_pad2d.out", t(1, 2, 3, 4), [-1, 2, 1, -2])
call("aten::reflection_pad2d.out", t(1, 2, 3, 4), [2, -1, 0, 1])
# All of many elements in order, along the middle.
call("aten::topk.values", t(2, 40, 3), 40, 1, False, True, dtypes=(F, torch.int64))
call("aten::topk.values", t(2, 40), 17, 1, True, True, dtypes=(F, torch.int64))
