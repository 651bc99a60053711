# SPDX-License-Identifier: Apache-2.0
"""Writes infer_cases.txt: calls of operators and what eager PyTorch gives.

Each case is a method in the text form of the IR whose result types are those
of the tensors that PyTorch returned. Run with torch 2.13:

    python make_infer_cases.py > infer_cases.txt
"""

import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import torch  # noqa: E402
import torch.ao.quantization.fx._decomposed  # noqa: E402,F401

DTYPES = {
    "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16,
    "i32": torch.int32, "i64": torch.int64, "f16": torch.float16,
    "f32": torch.float32, "f64": torch.float64, "bool": torch.bool,
    "bf16": torch.bfloat16,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FORMATS = {
    torch.contiguous_format: "contiguous_format",
    torch.preserve_format: "preserve_format",
    torch.channels_last: "channels_last",
}


class T:
    """A tensor argument: sizes and dtype, with elements of one value."""

    def __init__(self, *sizes, dt="f32", fill=0):
        self.sizes, self.dt, self.fill = sizes, dt, fill

    def make(self):
        return torch.full(self.sizes, self.fill, dtype=DTYPES[self.dt])

    def text(self):
        return f"{self.dt}[{','.join(map(str, self.sizes))}]"


def I(*sizes, fill=0):  # noqa: E743
    return T(*sizes, dt="i64", fill=fill)


def B(*sizes):
    return T(*sizes, dt="bool", fill=True)


def type_text(value):
    if isinstance(value, torch.Tensor):
        return f"{NAMES[value.dtype]}[{','.join(map(str, value.shape))}]"
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "float"


def float_text(value):
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


class Case:
    def __init__(self, op):
        namespace, name, overload = op.split(".")
        packet = getattr(getattr(torch.ops, namespace), name)
        self.op, self.function = op, getattr(packet, overload)
        self.inputs = []

    def argument(self, value, kind):
        """The value for PyTorch and its text."""
        if isinstance(value, T):
            name = f"x{len(self.inputs)}"
            self.inputs.append(f"%{name}: {value.text()}")
            return value.make(), f"%{name}"
        if value is None:
            return None, "none"
        if isinstance(value, torch.dtype):
            return value, NAMES[value]
        if isinstance(value, torch.memory_format):
            return value, FORMATS[value]
        if isinstance(value, torch.device):
            return value, "none"
        if isinstance(value, (list, tuple)):
            inner = kind[kind.index("List[") + 5:] if "List[" in kind else ""
            pairs = [self.argument(item, inner) for item in value]
            return ([pair[0] for pair in pairs],
                    "[" + ", ".join(pair[1] for pair in pairs) + "]")
        if isinstance(value, bool):
            return value, "true" if value else "false"
        if isinstance(value, str):
            return value, '"' + value + '"'
        if isinstance(value, float) or "float" in kind:
            return value, float_text(value)
        return value, str(value)

    def run(self, args, kwargs):
        values, texts = [], []
        keyword = {}
        args = list(args)
        for spec in self.function._schema.arguments:
            kind = str(spec.type)
            if spec.name in kwargs:
                given = kwargs[spec.name]
            elif args and not spec.kwarg_only:
                given = args.pop(0)
            else:
                assert spec.has_default_value(), (self.op, spec.name)
                given = spec.default_value
                if spec.name in ("dtype", "layout", "device", "pin_memory"):
                    given = None
                if spec.name == "memory_format" and isinstance(given, int):
                    given = torch.contiguous_format
            if isinstance(given, (int, float)) and "List[int]" in kind:
                given = [given]
            value, text = self.argument(given, kind)
            texts.append(text)
            if spec.kwarg_only:
                keyword[spec.name] = value
            else:
                values.append(value)
        assert not args, self.op
        result = self.function(*values, **keyword)
        if result is None:
            results = []
        elif isinstance(result, (list, tuple)):
            results = list(result)
        else:
            results = [result]
        names = [f"%r{i}" for i in range(len(results))]
        head = ", ".join(names) + " = " if names else ""
        types = ", ".join(type_text(value) for value in results)
        tail = " : " + types if types else ""
        return (f"method @case({', '.join(self.inputs)}) {{\n"
                f"  {head}{self.op}({', '.join(texts)}){tail}\n"
                f"  return {', '.join(names)}".rstrip() + "\n}\n")


cases = []
failures = []


def call(op, *args, optional=False, **kwargs):
    """One case; `optional` ones may be refused by PyTorch."""
    if op.count(".") == 0:
        op += ".default"
    if op.count(".") == 1:
        op = "aten." + op
    try:
        cases.append(Case(op).run(args, kwargs))
    except Exception as error:  # noqa: BLE001
        if not optional:
            failures.append(f"{op}: {error}")


def in_place(op):
    name, _, overload = op.partition(".")
    return f"{name}_.{overload or 'default'}"


UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad rad2deg
erf erfc erfinv exp exp2 expm1 floor frac lgamma log log10 log1p log2
logical_not logit nan_to_num neg reciprocal round rsqrt sgn sign sin sinc sinh
sqrt square tan trunc sigmoid tanh""".split()
for op in UNARY:
    call(op, T(2, 3))
    for dtype in ("i64", "f16", "bool", "u8"):
        call(op, T(2, 3, dt=dtype), optional=True)
    call(op, T())
    call(op + "_", T(2, 3))
for op in ("isfinite isinf isnan isneginf isposinf signbit positive "
           "relu silu hardswish hardsigmoid mish selu log_sigmoid gelu relu6 "
           "elu celu leaky_relu hardtanh softplus softshrink hardshrink "
           "alias detach clone lift_fresh_copy lift_fresh contiguous "
           "resolve_conj resolve_neg lift alias_copy detach_copy").split():
    call(op, T(2, 3))
    call(op, T(4, dt="i32"), optional=True)
for op in ("relu_ silu_ hardswish_ hardsigmoid_ mish_ selu_ relu6_ elu_ celu_ "
           "leaky_relu_ hardtanh_ detach_").split():
    call(op, T(2, 3))
call("requires_grad_", T(2))
call("round.decimals", T(2, 3), decimals=2)
call("bitwise_not", T(3, dt="i32"))
call("bitwise_not", B(3))
call("bitwise_not_", T(3, dt="i32"))
call("gelu", T(2, 3), approximate="tanh")

# Promotion.
PAIRS = [(T(2, 3), T(2, 3)), (T(2, 3), T(3)), (T(4, 1), T(1, 5)),
         (T(2, 3, dt="f16", fill=1), T(fill=1)),
         (T(3, dt="i32", fill=1), I(fill=1)),
         (T(3, dt="i32", fill=1), T(3, dt="f16", fill=1)),
         (T(3, dt="u8", fill=1), T(3, dt="i8", fill=1)),
         (T(3, dt="f16", fill=1), T(3, dt="bf16", fill=1)),
         (B(3), I(3, fill=1)), (I(fill=1), T(dt="i32", fill=1)), (B(2), B(2)),
         (I(2, fill=1), T(dt="f64", fill=1)), (T(0, 3), T(1, 3))]
BINARY = """add.Tensor sub.Tensor mul.Tensor div.Tensor true_divide.Tensor
divide.Tensor multiply.Tensor subtract.Tensor rsub.Tensor floor_divide
fmod.Tensor remainder.Tensor maximum minimum max.other min.other fmax fmin
atan2 hypot copysign.Tensor logaddexp logaddexp2 xlogy.Tensor
pow.Tensor_Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor
greater.Tensor less.Tensor not_equal.Tensor isclose logical_and logical_or
logical_xor bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor
__and__.Tensor __or__.Tensor __xor__.Tensor __lshift__.Tensor
__rshift__.Tensor bitwise_left_shift.Tensor
bitwise_right_shift.Tensor""".split()
for op in BINARY:
    for a, b in PAIRS:
        call(op, a, b, optional=True)
    for mode in (None, "floor", "trunc"):
        if op == "div.Tensor":
            for a, b in PAIRS:
                call("div.Tensor_mode", a, b, rounding_mode=mode,
                     optional=True)
for op in """add.Tensor sub.Tensor mul.Tensor div.Tensor fmod.Tensor
remainder.Tensor atan2 hypot copysign.Tensor xlogy.Tensor logical_and
logical_or logical_xor""".split():
    call(in_place(op), T(2, 3), T(3))
for op in ("bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor"):
    call(in_place(op), B(2, 3), B(3))
    call(in_place(op.replace("Tensor", "Scalar")), I(2, 3), 3)
call("pow_.Tensor", T(2), T(2))
call("pow_.Scalar", T(2), 2)
call("floor_divide_.Tensor", T(2, fill=1), T(2, fill=1))
call("div_.Tensor_mode", T(2, fill=1), T(2, fill=1), rounding_mode="floor")
call("div_.Scalar_mode", T(2, fill=1), 2, rounding_mode="floor")
for op in """add.Scalar sub.Scalar mul.Scalar div.Scalar rsub.Scalar
fmod.Scalar remainder.Scalar pow.Tensor_Scalar copysign.Scalar
floor_divide.Scalar eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar
bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar __and__.Scalar
__or__.Scalar __xor__.Scalar __lshift__.Scalar __rshift__.Scalar
bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar""".split():
    for a in (T(2, 3), I(3, fill=1), B(3), T(3, dt="f16"), T(3, dt="u8"),
              I()):
        for number in (2, 1.5, True):
            call(op, a, number, optional=True)
for op in "add sub mul div fmod remainder copysign".split():
    call(op + "_.Scalar", T(2), 2.0)
for mode in (None, "floor", "trunc"):
    call("div.Scalar_mode", I(2), 3, rounding_mode=mode)
call("remainder.Scalar_Tensor", 5, I(2, fill=3))
call("pow.Scalar", 2, T(3))
call("pow.Scalar", 2.0, I(3))
for op in ("lerp.Tensor", "lerp_.Tensor"):
    call(op, T(2, 3), T(2, 3), T(3))
for op in ("lerp.Scalar", "lerp_.Scalar"):
    call(op, T(2, 3), T(3), 0.5)
for op in ("addcmul", "addcmul_", "addcdiv", "addcdiv_"):
    call(op, T(2, 3), T(3), T(2, 1), value=2)
call("addcmul", I(3), I(3), I(3))
for op in ("clamp", "clamp_", "clip"):
    call(op, T(2, 3), 0.0, 6.0)
    call(op, T(2, 3), None, 1)
call("clamp", I(3), 0, 5)
call("clamp", I(3), 0.5)
call("clamp", B(3), 1, optional=True)
for op in ("clamp.Tensor", "clamp_.Tensor"):
    call(op, T(2, 3), T(3), T(2, 1, fill=1))
for name in ("clamp_min", "clamp_max"):
    call(name, T(2, 3), 0.5)
    call(name, I(2, 3), 0.5)
    call(name + "_", T(2, 3), 0.5)
    call(name + ".Tensor", T(2, 3), T(3))
    call(name + "_.Tensor", T(2, 3), T(3))
call("where.self", B(2, 3), T(3), T(2, 1))
call("where.self", B(3), I(3), T())
call("where.self", B(3), T(3, dt="f16"), T(3))
call("where.ScalarOther", B(2), T(2, dt="f16"), -1e4)
call("where.ScalarOther", B(2), I(2), 1.5)
call("where.ScalarSelf", B(2), 1, T(2))
call("where.Scalar", B(2), 1, 2)
call("where.Scalar", B(2), 1.0, 2)

# Activations.
call("glu", T(2, 6, 3), 1)
call("prelu", T(1, 4, 3), T(4))
call("_prelu_kernel", T(1, 4, 3), T(1, 4, 1))
for op in ("threshold", "threshold_"):
    call(op, T(2), 0.5, 1.0)
for op in ("softmax.int", "log_softmax.int"):
    call(op, T(2, 3), -1)
    call(op, T(2, 3, dt="f16"), 1, torch.float32)
    call(op, I(2, 3), 0, torch.float32)
for op in ("_softmax", "_log_softmax"):
    call(op, T(2, 3), -1, False)
    call(op, T(), 0, False)
for op in ("dropout", "dropout_", "feature_dropout", "feature_dropout_",
           "alpha_dropout"):
    call(op, T(2, 3, 4), 0.5, False)
call("native_dropout", T(2, 3), 0.5, False)

# Views.
for op in ("view", "reshape", "_unsafe_view", "view_copy"):
    call(op, T(2, 3, 4), [6, 4])
    call(op, T(2, 3, 4), [2, -1])
    call(op, T(), [1, 1])
    call(op, T(0, 3), [3, 0])
call("_reshape_alias", T(2, 3), [3, 2], [2, 1])
call("view.dtype", T(3), torch.int32)
for op in ("view_as", "reshape_as"):
    call(op, T(2, 6), I(3, 4))
call("flatten.using_ints", T(2, 3, 4, 5), 1)
call("flatten.using_ints", T(2, 3, 4, 5), 1, 2)
call("flatten.using_ints", T())
call("unflatten.int", T(2, 12), 1, [3, -1])
call("ravel", T(2, 3))
for op in ("permute", "permute_copy"):
    call(op, T(2, 3, 4), [2, 0, -2])
for op in ("transpose.int", "transpose_.default", "swapaxes", "swapdims",
           "transpose_copy.int"):
    call(op, T(2, 3, 4), 0, -1)
for op in ("t", "t_", "t_copy"):
    call(op, T(2, 3))
    call(op, T(3))
call("numpy_T", T(2, 3, 4))
call("mT", T(2, 3, 4))
call("adjoint", T(2, 3, 4))
call("movedim.int", T(2, 3, 4, 5), 0, -2)
call("movedim.intlist", T(2, 3, 4, 5), [0, 1], [3, 0])
call("moveaxis.int", T(2, 3, 4), 2, 0)
for op in ("squeeze", "squeeze_", "squeeze_copy"):
    call(op, T(1, 3, 1))
    call(op + ".dim", T(1, 3, 1), -1)
    call(op + ".dim", T(1, 3, 1), 1)
    call(op + ".dims", T(1, 3, 1), [0, 1, 2])
for op in ("unsqueeze", "unsqueeze_", "unsqueeze_copy"):
    call(op, T(2, 3), -1)
    call(op, T(), 0)
for op in ("expand", "expand_copy"):
    call(op, T(1, 3), [4, 2, -1])
    call(op, T(1), [0])
call("broadcast_to", T(1, 3), [4, 2, 3])
call("expand_as", T(1, 3), T(2, 3))
for op in ("slice.Tensor", "slice_copy.Tensor"):
    call(op, T(5, 3), 0, 1, 9223372036854775807)
    call(op, T(5, 3), 0, -3, -1)
    call(op, T(5, 3), 0, None, None, 2)
    call(op, T(5, 3), -1, 2, 1)
    call(op, T(5, 3), 0, -100, 100, 3)
for op in ("select.int", "select_copy.int"):
    call(op, T(5, 3), 0, -1)
    call(op, T(5), 0, 2)
for op in ("narrow", "narrow_copy"):
    call(op, T(5, 3), 0, 1, 3)
call("narrow", T(5, 3), 0, -2, 2)
for op in ("diagonal", "diagonal_copy"):
    call(op, T(3, 4))
    call(op, T(3, 4, 5), 1, 0, 2)
    call(op, T(3, 4), -2)
    call(op, T(3, 4), 9)
for op in ("unfold", "unfold_copy"):
    call(op, T(2, 9), 1, 3, 2)
    call(op, T(), 0, 1, 1)
for op in ("as_strided", "as_strided_copy"):
    call(op, T(12), [2, 3], [6, 1], 3)
for op in ("split.Tensor", "split_copy.Tensor", "unsafe_split.Tensor"):
    call(op, T(5, 3), 2)
    call(op, T(5, 4), 9, -1)
call("split.Tensor", T(0, 3), 2)
call("split.Tensor", T(0, 3), 0)
for op in ("split.sizes", "split_with_sizes", "split_with_sizes_copy",
           "unsafe_split_with_sizes"):
    call(op, T(5, 3), [2, 3])
    call(op, T(5, 3), [1, 0, 2], 1)
for op in ("chunk", "unsafe_chunk"):
    call(op, T(5, 3), 3)
    call(op, T(6, 3), 4)
    call(op, T(0, 3), 4)
call("tensor_split.sections", T(7), 3)
call("tensor_split.indices", T(7, 2), [2, 5])
call("tensor_split.indices", T(7, 2), [5, 2, -1])
for op in ("unbind.int", "unbind_copy.int"):
    call(op, T(3, 2))
    call(op, T(3, 2), -1)

# Casts and copies.
call("_to_copy", T(2))
call("_to_copy", T(2), dtype=torch.int64)
call("to.dtype", T(2), torch.float16)
call("to.dtype_layout", T(2), dtype=torch.int32)
call("to.device", T(2), torch.device("cpu"), torch.float64)
call("to.other", T(2), I(1))
call("type_as", T(2), I(1))
for op in ("copy", "copy_"):
    call(op, T(2, 3), I(3))

# Shapes.
for op in ("cat", "concat", "concatenate"):
    call(op, [T(2, 3), T(4, 3)])
    call(op, [T(2, 3), T(2, 1)], -1)
    call(op, [T(2, 3), I(2, 3), T(0)], 0)
    call(op, [T(0), T(0)])
call("stack", [T(2, 3), T(2, 3)], -1)
call("stack", [T(), I()])
call("hstack", [T(2, 3), T(2, 1)])
call("hstack", [T(2), T(3)])
call("hstack", [T(), T(3)])
call("vstack", [T(3), T(2, 3)])
for op in ("repeat", "tile"):
    call(op, T(2, 3), [4, 1, 2])
call("tile", T(2, 3), [2])
call("repeat_interleave.self_int", T(2, 3), 2)
call("repeat_interleave.self_int", T(2, 3), 2, 1)
call("roll", T(2, 3), [1], [0])
call("flip", T(2, 3), [0])
call("rot90", T(2, 3))
call("rot90", T(2, 3), 2)
for op in ("tril", "triu", "tril_", "triu_"):
    call(op, T(3, 3))
call("meshgrid", [T(2), T(3)])
call("meshgrid.indexing", [T(2), T(3), T()], indexing="xy")
call("meshgrid.indexing", [T(2), T(3)], indexing="ij")
call("broadcast_tensors", [T(2, 1), I(3)])
call("pixel_shuffle", T(1, 8, 2, 3), 2)
call("pixel_unshuffle", T(1, 2, 4, 6), 2)
call("channel_shuffle", T(1, 4, 2, 2), 2)
call("native_channel_shuffle", T(1, 4, 2, 2), 2)
call("diag_embed", T(2, 3))
call("diag_embed", T(2, 3), -1, 0, 2)
call("constant_pad_nd", T(2, 3), [1, 2], 0)
call("constant_pad_nd", T(2, 3), [-1, 0, 1, 1], 1.0)
for mode in ("constant", "reflect", "replicate", "circular"):
    call("pad", T(1, 2, 5, 6), [1, 2, 0, 1], mode)
call("reflection_pad1d", T(2, 5), [1, 2])
call("reflection_pad2d", T(2, 5, 6), [1, 2, 3, 0])
call("reflection_pad3d", T(1, 2, 5, 6, 7), [1, 2, 3, 0, 1, 1])
call("replication_pad1d", T(2, 5), [1, 2])
call("replication_pad2d", T(2, 5, 6), [9, 2, 3, 0])
call("replication_pad3d", T(1, 2, 5, 6, 7), [1, 2, 3, 0, 1, 1])

# Reductions.
for op in ("sum", "prod"):
    for dtype in ("f32", "f16", "i32", "bool"):
        call(op, T(2, 3, dt=dtype))
    call(op, I(2), dtype=torch.float32)
call("sum.dim_IntList", T(2, 3, 4), [1, -1])
call("sum.dim_IntList", I(2, 3), [0], True)
call("sum.dim_IntList", T(2, 3), None)
call("sum.dim_IntList", T(2, 3), [], True)
call("sum.dim_IntList", T(), [0])
call("prod.dim_int", T(2, 3), 1, True)
call("mean", T(2, 3))
call("mean", I(2, 3), dtype=torch.float32)
call("mean.dim", T(2, 3, 4), [-1, -2], True)
call("mean.dim", T(2, 3), None)
for op in ("amax", "amin"):
    call(op, T(2, 3))
    call(op, I(2, 3), [1], True)
call("aminmax", T(2, 3))
call("aminmax", T(2, 3), dim=0, keepdim=True)
for op in ("max", "min", "median"):
    call(op, T(2, 3))
    call(op + ".dim", T(2, 3), 1)
    call(op + ".dim", I(2, 3), 0, True)
for op in ("argmax", "argmin"):
    call(op, T(2, 3))
    call(op, T(2, 3), 1)
    call(op, T(2, 3), -1, True)
    call(op, T(2, 3), None, True)
for op in ("any", "all"):
    call(op, B(2, 3))
    call(op, T(2, dt="u8"))
    call(op + ".dim", T(2, 3), 1, True)
    call(op + ".dims", T(2, 3), [0, 1])
    call(op + ".dims", T(2, 3), None)
for op in ("var", "std"):
    call(op, T(2, 3))
    call(op + ".dim", T(2, 3), [1], False, True)
    call(op + ".correction", T(2, 3), [1], correction=0)
    call(op + ".correction", T(2, 3))
call("var_mean.correction", T(2, 3), [1], correction=0, keepdim=True)
call("var_mean.dim", T(2, 3), [1])
call("std_mean.correction", T(2, 3), [0])
call("logsumexp", T(2, 3), [1], True)
call("logsumexp", I(2, 3), [1])
call("norm.ScalarOpt_dim", T(2, 3), 2, [1], True)
call("norm.Scalar", T(2, 3))
call("frobenius_norm.dim", T(2, 3), [0, 1])
call("linalg_vector_norm", T(2, 3), 2, [1], True)
call("linalg_vector_norm", T(2, 3), 2.0, None)
call("linalg_vector_norm", T(2, 3, dt="f16"), 2, [0], dtype=torch.float32)
call("count_nonzero.dim_IntList", T(2, 3), [1])
for op in ("cumsum", "cumprod"):
    call(op, T(2, 3), 1)
    call(op, T(2, 3, dt="i32"), -1)
    call(op, B(2), 0, dtype=torch.float32)
call("cumsum_", T(2, 3), 1)
call("logcumsumexp", T(2, 3), 1)
for op in ("cummax", "cummin"):
    call(op, T(2, 3), 1)
call("topk", T(2, 5), 3)
call("topk", T(2, 5), 1, 0)
call("topk", T(), 1)
call("sort", T(2, 5))
call("sort.stable", T(2, 5), stable=True, dim=0)
call("argsort", T(2, 5))
call("argsort.stable", T(2, 5), stable=True)

# Products.
call("linear", T(2, 3, 4), T(5, 4), T(5))
call("linear", T(4), T(5, 4))
call("linear", T(2, 4), T(4))
for a, b in [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)),
             ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)),
             ((5, 2, 3), (3,))]:
    call("matmul", T(*a), T(*b))
call("mm", T(2, 3), T(3, 4))
call("bmm", T(5, 2, 3), T(5, 3, 4))
call("mv", T(2, 3), T(3))
call("dot", T(3), T(3))
call("outer", T(3), T(4))
for op in ("addmm", "addmm_"):
    call(op, T(2, 4), T(2, 3), T(3, 4))
call("addmm", T(4), T(2, 3), T(3, 4), beta=2, alpha=1.5)
call("baddbmm", T(5, 1, 4), T(5, 2, 3), T(5, 3, 4))
call("addmv", T(2), T(2, 3), T(3))
for equation, sizes in [
        ("ij,jk->ik", [(2, 3), (3, 4)]), ("bhid,bhjd->bhij",
                                          [(1, 2, 3, 4), (1, 2, 5, 4)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]), ("ij,jk",
                                                      [(2, 3), (3, 4)]),
        ("ii->i", [(3, 3)]), ("i,j->ij", [(2,), (3,)]), ("ij->", [(2, 3)]),
        ("b c h w -> b h w c".replace(" ", ""), [(1, 2, 3, 4)])]:
    call("einsum", equation, [T(*s) for s in sizes])
ATTENTION = "scaled_dot_product_attention"
call(ATTENTION, T(2, 3, 5, 4), T(2, 3, 6, 4), T(2, 3, 6, 7))
call(ATTENTION, T(2, 5, 4), T(2, 6, 4), T(2, 6, 4), T(5, 6))
call(ATTENTION, T(2, 3, 5, 4), T(2, 3, 5, 4), T(2, 3, 5, 4), is_causal=True)
call(ATTENTION, T(1, 8, 5, 4), T(1, 2, 6, 4), T(1, 2, 6, 4), enable_gqa=True)
call("_scaled_dot_product_flash_attention_for_cpu", T(2, 3, 5, 4),
     T(2, 3, 6, 4), T(2, 3, 6, 4))
for op in ("_cdist_forward", "cdist"):
    call(op, T(5, 2, 3), T(1, 4, 3), 2.0, None)
call("_pdist_forward", T(4, 3))

# Convolutions and pools.
call("conv1d", T(1, 4, 9), T(6, 4, 3), T(6), [2], [1])
call("conv1d.padding", T(1, 4, 9), T(6, 4, 3), None, [1], "same")
call("conv2d", T(1, 4, 9, 8), T(6, 2, 3, 3), T(6), [2, 1], [1, 0], [1, 2], 2)
call("conv2d", T(4, 9, 8), T(6, 4, 1, 1))
call("conv2d.padding", T(1, 4, 9, 8), T(4, 1, 3, 2), None, [1, 1], "same",
     [2, 2], 4)
call("conv2d.padding", T(1, 4, 9, 8), T(4, 4, 3, 2), None, [2, 2], "valid")
call("conv3d", T(1, 2, 5, 6, 7), T(3, 2, 2, 2, 2))
call("conv3d.padding", T(1, 2, 5, 6, 7), T(3, 2, 2, 2, 2), None, [1, 1, 1],
     "same")
call("conv_transpose1d", T(1, 4, 5), T(4, 3, 3), T(3), [2], [1], [1])
call("conv_transpose2d.input", T(1, 4, 5, 6), T(4, 2, 3, 3), T(4), [2, 2],
     [1, 1], [1, 0], 2, [1, 2])
call("conv_transpose3d.input", T(1, 4, 5, 6, 7), T(4, 2, 2, 2, 2))
call("convolution", T(1, 4, 9, 8), T(6, 2, 3, 3), T(6), [2, 2], [1, 1], [1, 1],
     False, [0, 0], 2)
call("convolution", T(1, 4, 5, 6), T(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1],
     True, [1, 1], 2)
for op in ("max_pool2d", "max_pool2d_with_indices", "avg_pool2d"):
    call(op, T(1, 2, 9, 8), [3, 3], [2, 2], [1, 1])
    call(op, T(2, 9, 8), [3, 2])
    call(op, T(1, 2, 7, 7), [3, 3], [2, 2], [0, 0], ceil_mode=True)
    call(op, T(1, 2, 8, 8), [3, 3], [2, 2], [1, 1], ceil_mode=True)
    call(op, T(1, 2, 5, 5), [2, 2], [4, 4], [1, 1], ceil_mode=True)
for op in ("max_pool1d", "max_pool1d_with_indices", "avg_pool1d"):
    call(op, T(1, 2, 9), [3], [2], [1])
for op in ("max_pool3d", "max_pool3d_with_indices", "avg_pool3d"):
    call(op, T(1, 2, 9, 8, 7), [3, 3, 3], [2, 2, 2], [1, 1, 1])
call("max_pool2d", T(1, 2, 9, 8), [2, 2], [1, 1], [0, 0], [3, 2])
call("adaptive_avg_pool1d", T(1, 2, 9), [4])
for op in ("adaptive_avg_pool2d", "_adaptive_avg_pool2d",
           "adaptive_max_pool2d"):
    call(op, T(1, 2, 9, 8), [4, 1])
for op in ("adaptive_avg_pool3d", "_adaptive_avg_pool3d",
           "adaptive_max_pool3d"):
    call(op, T(1, 2, 9, 8, 7), [4, 1, 2])
call("adaptive_max_pool1d", T(1, 2, 9), [4])

# Resampling.
for kind, sizes in [("linear1d", (7,)), ("bilinear2d", (7, 5)),
                    ("bicubic2d", (7, 5)), ("trilinear3d", (7, 5, 3))]:
    name = "upsample_" + kind
    factors = [1.5] * len(sizes)
    call(name, T(1, 2, *sizes), [3] * len(sizes), True)
    call(name + ".vec", T(1, 2, *sizes), [3] * len(sizes), False, None)
    call(name + ".vec", T(1, 2, *sizes), None, False, factors)
for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
    call(name, T(1, 2, 7, 5), [3, 3], True)
    call(name + ".vec", T(1, 2, 7, 5), None, False, [0.7, 0.5])
for prefix in ("upsample_nearest", "_upsample_nearest_exact"):
    for n in (1, 2, 3):
        call(f"{prefix}{n}d", T(1, 2, *[5] * n), [8] * n)
        call(f"{prefix}{n}d.vec", T(1, 2, *[5] * n), None, [2.0] * n)
for op in ("grid_sampler", "grid_sampler_2d"):
    call(op, T(1, 2, 5, 6), T(1, 3, 4, 2), 0, 0, False)
call("grid_sampler_3d", T(1, 2, 5, 6, 7), T(1, 3, 4, 2, 3), 0, 0, False)
call("affine_grid_generator", T(2, 2, 3), [2, 1, 4, 5], False)
call("affine_grid_generator", T(2, 3, 4), [2, 1, 4, 5, 6], False)

# Normalisation.
call("batch_norm", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1), False, 0.1,
     1e-5, True)
call("batch_norm", T(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, True)
call("instance_norm", T(2, 3, 4), None, None, None, None, True, 0.1, 1e-5,
     True)
call("_native_batch_norm_legit_no_training", T(2, 3, 4), T(3), T(3), T(3),
     T(3, fill=1), 0.1, 1e-5)
call("_native_batch_norm_legit", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1),
     False, 0.1, 1e-5)
call("_native_batch_norm_legit", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1),
     True, 0.1, 1e-5)
call("_native_batch_norm_legit.no_stats", T(2, 3, 4), None, None, True, 0.0,
     1e-5)
call("native_batch_norm", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1), False,
     0.1, 1e-5)
call("native_batch_norm", T(2, 3, 4), T(3), T(3), None, None, True, 0.1, 1e-5)
call("layer_norm", T(2, 3, 4), [3, 4], T(3, 4), T(3, 4))
call("layer_norm", T(2, 4), [4])
call("native_layer_norm", T(2, 3, 4), [4], T(4), T(4), 1e-5)
call("native_layer_norm", T(2, 3, 4), [3, 4], None, None, 1e-5)
call("group_norm", T(2, 6, 4), 3, T(6), T(6))
call("native_group_norm", T(2, 6, 4), T(6), T(6), 2, 6, 4, 3, 1e-5)
call("rms_norm", T(2, 4), [4], T(4))
call("_fused_rms_norm", T(2, 3, 4), [4], T(4), 1e-5)
call("_weight_norm", T(4, 3), T(4, 1))
call("_weight_norm_interface", T(4, 3), T(4, 1))

# Indexing.
for op in ("index.Tensor", "_unsafe_index.Tensor"):
    call(op, T(5, 6, 7), [I(2, 3)])
    call(op, T(5, 6, 7), [None, I(4), I(2, 1)])
    call(op, T(5, 6, 7), [I(4), None, I(4)])
    call(op, T(5, 6, 7), [I(), I(3)])
call("index.Tensor", T(5, 6, 7), [None, T(4, dt="i32")])
for op in ("index_put", "index_put_", "_unsafe_index_put"):
    call(op, T(5, 6), [I(3)], T(6))
    call(op, T(5, 6), [None, I(3)], T(5, 3))
call("index_put", T(5, 6), [B(5, 6)], T())
call("index_select", T(5, 6), 1, I(3))
call("index_select", T(5, 6), -1, I())
for op in ("index_copy", "index_add"):
    call(op, T(5, 6), 0, I(2), T(2, 6))
    call(op + "_", T(5, 6), 0, I(2), T(2, 6))
for op in ("index_fill", "index_fill_"):
    call(op + ".int_Scalar", T(5, 6), 0, I(2), 1.0)
call("gather", T(5, 6), 1, I(5, 2))
for name in ("scatter", "scatter_"):
    call(name + ".src", T(5, 6), 1, I(5, 2), T(5, 2))
    call(name + ".value", T(5, 6), 1, I(5, 2), 1.0)
for op in ("scatter_add", "scatter_add_"):
    call(op, T(5, 6), 1, I(5, 2), T(5, 2))
call("scatter_reduce.two", T(5, 6), 1, I(5, 2), T(5, 2), "sum")
call("masked_fill.Scalar", T(3), B(2, 3), 1.0)
call("masked_fill.Scalar", T(2, 3), B(3), float("-inf"))
call("masked_fill.Tensor", T(2, 3), B(3), T())
call("masked_fill_.Scalar", T(2, 3), B(3), 1.0)
call("masked_fill_.Tensor", T(2, 3), B(3), T())
for op in ("masked_scatter", "masked_scatter_"):
    call(op, T(2, 3), B(3), T(6))
call("select_scatter", T(5, 6), T(6), 0, 1)
call("slice_scatter", T(5, 6), T(2, 6), 0, 1, 3)
call("diagonal_scatter", T(3, 4), T(3))
call("as_strided_scatter", T(3, 4), T(3), [3], [1])
call("embedding", T(10, 4), I(2, 3))
call("embedding", T(10, 4), T(2, dt="i32"), 3)
call("take", T(2, 3), I(4))
call("take_along_dim", T(2, 3), I(2, 1), 1)
call("take_along_dim", T(2, 3), I(1, 5), 1)
call("take_along_dim", T(2, 3), I(4))
call("one_hot", I(2, 3), 5)
for op in ("bucketize.Tensor",):
    call(op, T(2, 3), T(4))
    call(op, T(2, 3), T(4), out_int32=True)
call("searchsorted.Tensor", T(4), T(2, 3))
call("isin.Tensor_Tensor", I(2, 3), I(4))

# Factories.
call("arange", 5)
call("arange", 5.0)
call("arange", 2.5)
call("arange", 5, dtype=torch.float32)
call("arange.start", 2, 9)
call("arange.start_step", 0, 9, 2)
call("arange.start_step", 9, 0, -2)
call("arange.start_step", 0, 1, 0.3)
for fill in (1, 1.0, True):
    call("full", [2, 3], fill)
call("full", [], 1, dtype=torch.float16)
call("full_like", I(2), 1.5)
call("full_like", I(2), 1.5, dtype=torch.float32)
for op in ("zeros", "ones", "empty.memory_format", "rand", "randn"):
    call(op, [2, 3])
    call(op, [2], dtype=torch.float16)
for op in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
    call(op, T(2, 3))
    call(op, T(2, 3), dtype=torch.float16)
call("empty_permuted", [2, 3], [1, 0])
for op in ("new_empty", "new_zeros", "new_ones"):
    call(op, I(2), [3, 4])
call("new_full", I(2), [3], 1.5)
call("new_full", I(2), [3], 1.5, dtype=torch.float32)
call("eye", 3)
call("eye.m", 3, 4)
call("linspace", 0, 1, 5)
call("scalar_tensor", 3)
call("scalar_tensor", 3, dtype=torch.int64)
call("hann_window", 8)
call("hamming_window", 8)
for op in ("fill.Scalar", "fill_.Scalar"):
    call(op, T(2), 1.0)
for op in ("fill.Tensor", "fill_.Tensor"):
    call(op, T(2), T())
call("zero", T(2))
call("zero_", T(2))

# Recurrence.
for directions in (1, 2):
    for batch_first in (False, True):
        x = T(2, 5, 3) if batch_first else T(5, 2, 3)
        states = [T(directions, 2, 4), T(directions, 2, 4)]
        for gates, op, hx in [(4, "lstm.input", states),
                              (3, "gru.input", states[0]),
                              (1, "rnn_tanh.input", states[0]),
                              (1, "rnn_relu.input", states[0])]:
            weights = [T(4 * gates, 3), T(4 * gates, 4)] * directions
            call(op, x, hx, weights, False, 1, 0.0, False, directions == 2,
                 batch_first)

# Composites.
call("lstm_cell", T(2, 3), [T(2, 4), T(2, 4)], T(16, 3), T(16, 4))
call("gru_cell", T(2, 3), T(2, 4), T(12, 3), T(12, 4), T(12), T(12))
for op in ("rnn_tanh_cell", "rnn_relu_cell"):
    call(op, T(2, 3), T(2, 4), T(4, 3), T(4, 4))
for op in ("fliplr", "flipud", "msort"):
    call(op, T(3, 4))
call("kthvalue", T(3, 4), 2)
call("kthvalue", T(3, 4), 2, 0, True)
call("kthvalue", T(), 1)
call("im2col", T(2, 3, 7, 8), [3, 2], [1, 2], [1, 0], [2, 1])
call("im2col", T(3, 7, 8), [3, 2], [1, 1], [0, 0], [1, 1])
call("col2im", T(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])
call("col2im", T(12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])
for shift in (0, 1, -2, 9):
    call("diag", T(3, 4), shift)
    call("diag", T(3), shift)
call("cosine_similarity", T(2, 3), T(2, 3))
call("cosine_similarity", T(2, 3, 4), T(4), -1)
call("pairwise_distance", T(2, 3), T(2, 3))
call("pairwise_distance", T(2, 3), T(3), 1.0, 1e-6, True)
call("diff", T(3, 4))
call("diff", T(3, 4), 2, 0)
call("diff", B(2, 5), 1, -1, B(2, 1), B(2, 2))
call("trace", T(3, 4))
call("trace", I(3, 3))
call("linalg_cross", T(2, 3), T(2, 3))
call("linalg_cross", T(3, 4), T(3, 1), dim=0)
call("bilinear", T(2, 5, 3), T(2, 5, 4), T(6, 3, 4), T(6))
call("count_nonzero", T(2, 3))
call("count_nonzero", T(2, 3), 1)
for op in ("std_mean", "var_mean"):
    call(op, T(2, 3))
call("std_mean.dim", T(2, 3), [0], True, True)
call("nansum", T(2, 3), [0])
call("nansum", T(2, 3))
call("scatter.reduce", T(5, 6), 1, I(5, 2), T(5, 2), reduce="add")

# Effects and scalars.
call("_assert_tensor_metadata", T(2), [2], None, torch.float32)
call("_assert_scalar", True, "message")
call("_assert_async", B())
call("_assert_async.msg", B(), "message")
call("sym_constrain_range", 3, min=0, max=9)
call("sym_constrain_range_for_size", 3, min=0, max=9)
call("sym_size.int", T(2, 3), 1)
call("sym_stride.int", T(2, 3), 0)
call("sym_numel", T(2, 3))
for tensor in (T(), I(1), B()):
    call("item", tensor)
    call("_local_scalar_dense", tensor)

# Quantisation.
Q = "quantized_decomposed."
call(Q + "quantize_per_tensor.default", T(2, 3), 0.1, 3, -128, 127, torch.int8)
call(Q + "dequantize_per_tensor.default", T(2, 3, dt="i8"), 0.1, 3, -128, 127,
     torch.int8)
SCALE, ZERO = T(1, fill=1), I(1)
call(Q + "quantize_per_tensor.tensor", T(2), SCALE, ZERO, 0, 255, torch.uint8)
call(Q + "dequantize_per_tensor.tensor", T(2, dt="u8"), SCALE, ZERO, 0, 255,
     torch.uint8)
call(Q + "quantize_per_tensor.tensor2", T(2), SCALE, ZERO, I(), I(fill=255),
     torch.uint8)
call(Q + "dequantize_per_tensor.tensor2", T(2, dt="u8"), SCALE, ZERO, I(),
     I(fill=255), torch.uint8)
call(Q + "quantize_per_channel.default", T(2, 3), T(3, fill=1), I(3), 1, -127,
     127, torch.int8)
call(Q + "dequantize_per_channel.default", T(2, 3, dt="i8"), T(3, fill=1),
     I(3), 1, -127, 127, torch.int8)
call(Q + "choose_qparams.tensor", T(2, 3), -128, 127, 1e-5, torch.int8)
call(Q + "choose_qparams_symmetric.tensor", T(2, 3), -127, 127, 1e-5,
     torch.int8)
call(Q + "choose_qparams_per_token_asymmetric.default", T(2, 3, 4), torch.int8)
call(Q + "quantize_per_token.default", T(2, 4), T(2, 1, dt="f64", fill=1),
     I(2, 1), -128, 127, torch.int8)
call(Q + "dequantize_per_token.default", T(2, 4, dt="i8"),
     T(2, 1, dt="f64", fill=1), I(2, 1), -128, 127, torch.int8, torch.float32)
call(Q + "quantize_per_channel_group.default", T(2, 8), T(2, 2, fill=1),
     I(2, 2), -8, 7, torch.int8, 4)
call(Q + "dequantize_per_channel_group.default", T(2, 8, dt="i8"),
     T(2, 2, fill=1), I(2, 2), -8, 7, torch.int8, 4, torch.float32)

print("".join(cases), end="")
print(f"{len(cases)} cases", file=sys.stderr)
for failure in failures:
    print(failure.split("\n")[0], file=sys.stderr)
