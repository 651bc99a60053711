# SPDX-License-Identifier: Apache-2.0
"""Random calls of operators between levels of 8 bits as PT2E computes them: dequantised, in
floats, quantised. The name of a case is that of the operator and a number."""

import torch
import torch.nn.functional as F
from torch.ao.quantization.fx import _decomposed  # noqa: F401, quantized_decomposed

import writer
from integers import numbers

OPS = torch.ops.quantized_decomposed
ROUNDS = 12
UNARY = {
    "relu": ("aten.relu.default(%a)", F.relu),
    "hardtanh": ("aten.hardtanh.default(%a, -0.7, 0.9)", lambda x: F.hardtanh(x, -0.7, 0.9)),
    "sigmoid": ("aten.sigmoid.default(%a)", torch.sigmoid),
    "tanh": ("aten.tanh.default(%a)", torch.tanh),
    "gelu": ("aten.gelu.default(%a)", F.gelu),
    "silu": ("aten.silu.default(%a)", F.silu),
    "hardswish": ("aten.hardswish.default(%a)", F.hardswish),
    "elu": ("aten.elu.default(%a)", F.elu),
    "leaky_relu": ("aten.leaky_relu.default(%a, 0.1)", lambda x: F.leaky_relu(x, 0.1)),
}


def pick(*choices):
    return choices[int(torch.randint(len(choices), ()))]


def list_of(numbers_of_window):
    return "[%s]" % ", ".join(map(str, numbers_of_window))


class Graph:
    """One case, from its inputs to what is quantised."""

    def __init__(self):
        self.inputs, self.constants, self.types, self.lines = {}, {}, [], []

    def levels(self, name, *sizes):
        """An input of all levels, and the numbers that it stands for."""
        low, high = -float(torch.rand(()) * 6), float(torch.rand(()) * 6)
        scale, zero_point = numbers(low, high)
        q = torch.randint(-128, 128, sizes, dtype=torch.int8)
        self.inputs[name + "q"] = q
        self.types.append(f"%{name}q: {writer.type_of(q)}")
        self.lines.append(self.call("dequantize", name, name + "q", scale, zero_point, ", none"))
        return OPS.dequantize_per_tensor(q, scale, zero_point, -128, 127, torch.int8)

    def weight(self, *sizes):
        """Stored channel by channel or whole, as XNNPACKQuantizer does."""
        q = torch.randint(-127, 128, sizes, dtype=torch.int8)
        if pick(True, False):
            scales = torch.rand(sizes[0]) * 0.02 + 0.001
            self.constant("k", q)
            self.constant("s", scales)
            self.lines.append("%w = quantized_decomposed.dequantize_per_channel.default(%k, %s, "
                              "none, 0, -127, 127, i8, none)")
            return OPS.dequantize_per_channel(q, scales, None, 0, -127, 127, torch.int8)
        scale = float(torch.rand(()) * 0.02 + 0.001)
        self.constant("k", q)
        self.lines.append(self.call("dequantize", "w", "k", scale, 0, ", none").replace("-128",
                                                                                       "-127"))
        return OPS.dequantize_per_tensor(q, scale, 0, -127, 127, torch.int8)

    def bias(self, count):
        if pick(True, False):
            return None, "none"
        return self.constant("b", torch.randn(count)), "%b"

    def constant(self, name, tensor):
        self.constants[name] = tensor
        self.lines.append(f"%{name} = constant @{name} : {writer.type_of(tensor)}")
        return tensor

    @staticmethod
    def call(kind, result, operand, scale, zero_point, end=""):
        return (f"%{result} = quantized_decomposed.{kind}_per_tensor.default(%{operand}, "
                f"{scale!r}, {zero_point}, -128, 127, i8{end})")

    def finish(self, cases, name, text, y):
        """Sometimes a part of the range is left out, so that results saturate."""
        low, high = float(y.min()), float(y.max())
        part = pick(1.0, 1.0, 0.7)
        scale, zero_point = numbers(low * part, high * part)
        q = OPS.quantize_per_tensor(y, scale, zero_point, -128, 127, torch.int8)
        lines = [*self.lines, f"%y = {text}", self.call("quantize", "z", "y", scale, zero_point)]
        body = "\n".join("  " + line for line in lines)
        cases.graph(name, f"method @forward({', '.join(self.types)}) {{\n{body}\n  return %z\n}}\n",
                    inputs=self.inputs, constants=self.constants, expected=[q])


def linear(g):
    depth, columns = pick(3, 16, 40), pick(1, 5)
    x, w = g.levels("a", pick(1, 4), depth), g.weight(columns, depth)
    b, name = g.bias(columns)
    return f"aten.linear.default(%a, %w, {name})", F.linear(x, w, b)


def linear_relu(g):
    text, y = linear(g)
    g.lines.append(f"%v = {text}")
    return "aten.relu.default(%v)", F.relu(y)


def conv2d(g):
    groups, kernel = pick(1, 2), pick(1, 2, 3)
    stride, padding, dilation = ([pick(1, 2) for _ in "hw"], [pick(0, 1, 2) for _ in "hw"],
                                 [pick(1, 2) for _ in "hw"])
    x, w = g.levels("a", pick(1, 2), 2, 6, 7), g.weight(2 * groups, 2 // groups, kernel, 3)
    b, name = g.bias(2 * groups)
    return (f"aten.convolution.default(%a, %w, {name}, {list_of(stride)}, {list_of(padding)}, "
            f"{list_of(dilation)}, false, [0, 0], {groups})",
            F.conv2d(x, w, b, stride, padding, dilation, groups))


def depthwise(g):
    x, w, stride = g.levels("a", 1, 4, 6, 6), g.weight(4, 1, 3, 3), pick(1, 2)
    b, name = g.bias(4)
    return (f"aten.convolution.default(%a, %w, {name}, [{stride}, {stride}], [1, 1], [1, 1], "
            "false, [0, 0], 4)", F.conv2d(x, w, b, stride, 1, 1, 4))


def conv1d(g):
    x, w, stride = g.levels("a", 2, 3, 11), g.weight(4, 3, 3), pick(1, 2)
    b, name = g.bias(4)
    return (f"aten.convolution.default(%a, %w, {name}, [{stride}], [1], [1], false, [0], 1)",
            F.conv1d(x, w, b, stride, 1))


def add(g):
    x, y = g.levels("a", 4, 30), g.levels("c", pick(1, 4), 30)
    return "aten.add.Tensor(%a, %c, 1)", x + y


def sub(g):
    x, y = g.levels("a", 4, 30), g.levels("c", 4, pick(1, 30))
    return "aten.sub.Tensor(%a, %c, 1)", x - y


def mul(g):
    x, y = g.levels("a", 4, 30), g.levels("c", pick(1, 4), 30)
    return "aten.mul.Tensor(%a, %c)", x * y


def matmul(g):
    depth = pick(2, 7, 24)
    x, y = g.levels("a", 2, 4, depth), g.levels("c", 2, depth, 5)
    return "aten.bmm.default(%a, %c)", torch.bmm(x, y)


def mean(g):
    x = g.levels("a", 2, 5, 3, 7)
    dims, keepdim = pick([2, 3], [-1], [1], [1, 2]), pick(True, False)
    return f"aten.mean.dim({'%a'}, {dims}, {str(keepdim).lower()}, none)", x.mean(dims, keepdim)


def avg_pool2d(g):
    x = g.levels("a", 1, 2, 7, 6)
    kernel, stride, padding = pick(2, 3), pick(1, 2), pick(0, 1)
    ceil, count = pick(True, False), pick(True, False)
    return (f"aten.avg_pool2d.default(%a, [{kernel}, 2], [{stride}, 2], [{padding}, 0], "
            f"{str(ceil).lower()}, {str(count).lower()}, none)",
            F.avg_pool2d(x, (kernel, 2), (stride, 2), (padding, 0), ceil, count))


def adaptive_avg_pool2d(g):
    x, size = g.levels("a", 1, 2, 7, 6), [pick(1, 3, 4), pick(1, 2, 5)]
    return f"aten._adaptive_avg_pool2d.default(%a, {size})", F.adaptive_avg_pool2d(x, size)


def max_pool2d(g):
    x, stride = g.levels("a", 1, 2, 7, 6), pick(1, 2)
    return (f"aten.max_pool2d.default(%a, [3, 2], [{stride}, 2], [1, 0], [1, 1], false)",
            F.max_pool2d(x, (3, 2), (stride, 2), (1, 0)))


def softmax(g):
    x, dim = g.levels("a", 3, pick(2, 10, 60)), pick(0, 1)
    return f"aten._softmax.default(%a, {dim}, false)", torch.softmax(x, dim)


def cat(g):
    x, y = g.levels("a", 2, 40), g.levels("c", 1, 40)
    return "aten.cat.default([%a, %c], 0)", torch.cat([x, y])


def pad(g):
    x = g.levels("a", 2, 3, 8)
    return "aten.constant_pad_nd.default(%a, [1, 2, 0, 1], 0.5)", F.pad(x, (1, 2, 0, 1), value=0.5)


def permute(g):
    x = g.levels("a", 2, 5, 8)
    return "aten.permute.default(%a, [2, 0, 1])", x.permute(2, 0, 1).contiguous()


def slices(g):
    x = g.levels("a", 4, 30)
    return "aten.slice.Tensor(%a, 1, 3, 29, 2)", x[:, 3:29:2].contiguous()


def upsample(g):
    x = g.levels("a", 1, 2, 4, 5)
    return ("aten.upsample_nearest2d.vec(%a, [8, 10], none)", F.interpolate(x, (8, 10)))


def scale(g):
    x = g.levels("a", 4, 30)
    g.lines.append("%n = aten.mul.Scalar(%a, -1.3)")
    return "aten.add.Scalar(%n, 0.7, 1)", x * -1.3 + 0.7


def unary(name):
    text, function = UNARY[name]
    return lambda g: (text, function(g.levels("a", 2, 100)))


def relu6(g):
    text, y = linear(g)
    g.lines.append(f"%v = {text}")
    return "aten.relu6.default(%v)", F.relu6(y)


def scaled_matmul(g):
    text, y = matmul(g)
    g.lines.append(f"%v = {text}")
    return "aten.mul.Scalar(%v, 0.35)", y * 0.35


def transposed(g, groups=1, into=3):
    """In channels of the second dim, as XNNPACKQuantizer stores them, or whole."""
    kernel, stride, padding, dilation = ([pick(1, 2, 3, 4) for _ in "hw"],
                                         [pick(1, 2, 3) for _ in "hw"], [pick(0, 1) for _ in "hw"],
                                         [pick(1, 2) for _ in "hw"])
    # Some output is left whatever the padding takes.
    padding = [min(p, d * (k - 1)) for p, d, k in zip(padding, dilation, kernel)]
    more = [pick(0, s - 1) for s in stride]
    x = g.levels("a", pick(1, 2), 2 * groups, 3, 4)
    q = torch.randint(-127, 128, (2 * groups, into, *kernel), dtype=torch.int8)
    g.constant("k", q)
    if pick(True, False):
        scales = g.constant("s", torch.rand(into) * 0.02 + 0.001)
        g.lines.append("%w = quantized_decomposed.dequantize_per_channel.default(%k, %s, "
                       "none, 1, -127, 127, i8, none)")
        w = OPS.dequantize_per_channel(q, scales, None, 1, -127, 127, torch.int8)
    else:
        scale = float(torch.rand(()) * 0.02 + 0.001)
        g.lines.append(g.call("dequantize", "w", "k", scale, 0, ", none").replace("-128", "-127"))
        w = OPS.dequantize_per_tensor(q, scale, 0, -127, 127, torch.int8)
    b, name = g.bias(into * groups)
    return (f"aten.convolution.default(%a, %w, {name}, {list_of(stride)}, {list_of(padding)}, "
            f"{list_of(dilation)}, true, {list_of(more)}, {groups})",
            F.conv_transpose2d(x, w, b, stride, padding, more, groups, dilation))


def transposed_groups(g):
    return transposed(g, pick(2, 3), pick(1, 2))


def layer_norm(g):
    size = pick(2, 16, 60)
    x = g.levels("a", 5, size)
    w, b = g.constant("g", torch.randn(size)), g.constant("b", torch.randn(size))
    g.lines.append("%n, %m, %r = aten.native_layer_norm.default(%a, "
                   f"[{size}], %g, %b, {pick(1e-5, 1e-3)})")
    eps = float(g.lines[-1].rsplit(", ", 1)[1][:-1])
    return "aten.alias.default(%n)", F.layer_norm(x, [size], w, b, eps)


def group_norm(g):
    groups = pick(1, 2, 4)
    x = g.levels("a", 2, 4, 3, 3)
    w, b = g.constant("g", torch.randn(4)), g.constant("b", torch.randn(4))
    g.lines.append(f"%n, %m, %r = aten.native_group_norm.default(%a, %g, %b, 2, 4, 9, {groups}, "
                   "1e-05)")
    return "aten.alias.default(%n)", F.group_norm(x, groups, w, b)


def total(g):
    x = g.levels("a", 2, 5, 3, 4)
    dims = pick([1, 3], [0, 2], [-1], [1, 2])
    return f"aten.sum.dim_IntList(%a, {dims}, false, none)", x.sum(dims)


def mean_apart(g):
    x = g.levels("a", 2, 5, 3, 4)
    dims = pick([1, 3], [0, 2], [0, 3])
    return f"aten.mean.dim(%a, {dims}, true, none)", x.mean(dims, True)


def largest(g):
    x = g.levels("a", 3, 5, 4)
    return "aten.amax.default(%a, [1], true)", x.amax([1], True)


def put(g):
    x, y = g.levels("a", 5, 6), g.levels("c", 5, 6)
    places = torch.tensor(pick([0, 3], [4, 1]))
    g.constant("k", places)
    g.lines.append("%rows = aten.slice.Tensor(%c, 0, 1, 3, 1)")
    return "aten.index_put.default(%a, [%k], %rows, false)", x.index_put((places,), y[1:3])


def maximum(g):
    x, y = g.levels("a", 4, 30), g.levels("c", pick(1, 4), 30)
    return "aten.maximum.default(%a, %c)", torch.maximum(x, y)


def masked_softmax(g):
    x = g.levels("a", 2, 6, 6)
    g.constant("m", torch.ones(6, 6, dtype=torch.bool).tril(pick(0, 1)))
    g.constant("low", torch.tensor(-float("inf")))
    g.lines.append("%v = aten.where.self(%m, %a, %low)")
    masked = x.masked_fill(~g.constants["m"], -float("inf"))
    return "aten._softmax.default(%v, 2, false)", torch.softmax(masked, 2)


def square(g):
    x = g.levels("a", 2, 50)
    return "aten.pow.Tensor_Scalar(%a, 2)", x ** 2


def put_slice(g):
    x, y = g.levels("a", 5, 6), g.levels("c", 2, 6)
    start = pick(0, 1, 3)
    return (f"aten.slice_scatter.default(%a, %c, 0, {start}, {start + 2}, 1)",
            x.slice_scatter(y, 0, start, start + 2))


def put_row(g):
    x, y = g.levels("a", 5, 6), g.levels("c", 6)
    place = pick(0, 2, 4)
    return f"aten.select_scatter.default(%a, %c, 0, {place})", x.select_scatter(y, 0, place)


def scatter(g):
    x, y = g.levels("a", 5, 6), g.levels("c", 2, 6)
    places = torch.stack([torch.randperm(5)[:2] for _ in range(6)], 1)
    g.constant("k", places)
    return "aten.scatter.src(%a, 0, %k, %c)", x.scatter(0, places, y)


def weight_of_columns(g, depth, columns):
    """As it is stored for mm: channels last."""
    q = g.constant("k", torch.randint(-127, 128, (depth, columns), dtype=torch.int8))
    scales = g.constant("s", torch.rand(columns) * 0.02 + 0.001)
    g.lines.append("%w = quantized_decomposed.dequantize_per_channel.default(%k, %s, none, 1, "
                   "-127, 127, i8, none)")
    return OPS.dequantize_per_channel(q, scales, None, 1, -127, 127, torch.int8)


def mm(g):
    depth = pick(2, 7, 24)
    x, w = g.levels("a", pick(1, 4), depth), weight_of_columns(g, depth, pick(1, 5))
    return "aten.mm.default(%a, %w)", x @ w


def addmm(g):
    depth, columns = pick(2, 7, 24), pick(1, 5)
    x, w = g.levels("a", pick(1, 4), depth), weight_of_columns(g, depth, columns)
    b = g.constant("b", torch.randn(pick([columns], [1, columns])))
    return "aten.addmm.default(%b, %a, %w)", torch.addmm(b, x, w)


def conv3d(g):
    groups = pick(1, 2)
    kernel, stride = [pick(1, 2, 3) for _ in "dhw"], [pick(1, 2) for _ in "dhw"]
    padding, dilation = [pick(0, 1) for _ in "dhw"], [pick(1, 2) for _ in "dhw"]
    x, w = g.levels("a", pick(1, 2), 2 * groups, 5, 6, 5), g.weight(2 * groups, 2, *kernel)
    b, name = g.bias(2 * groups)
    return (f"aten.convolution.default(%a, %w, {name}, {list_of(stride)}, {list_of(padding)}, "
            f"{list_of(dilation)}, false, [0, 0, 0], {groups})",
            F.conv3d(x, w, b, stride, padding, dilation, groups))


def pixels(g):
    """Bytes of a camera, normalised for each channel or for all of them."""
    x = g.inputs["aq"] = torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8)
    g.types.append(f"%aq: {writer.type_of(x)}")
    g.lines.append("%a = aten._to_copy.default(%aq, dtype=f32)")
    if pick(True, False):
        return "aten.div.Scalar(%a, 255)", x.float().div(255)
    mean, std = (g.constant(name, torch.rand(3, 1, 1) + 0.1) for name in "ms")
    g.lines.append("%d = aten.div.Scalar(%a, 255)")
    g.lines.append("%e = aten.sub.Tensor(%d, %m, 1)")
    return "aten.div.Tensor(%e, %s)", (x.float() / 255 - mean) / std


FAMILIES = {f.__name__: f for f in (
    linear, linear_relu, conv2d, depthwise, conv1d, add, sub, mul, matmul, mean, avg_pool2d,
    adaptive_avg_pool2d, max_pool2d, softmax, cat, pad, permute, slices, upsample, scale)}
FAMILIES.update({name: unary(name) for name in UNARY})
FAMILIES.update({f.__name__: f for f in (
    relu6, scaled_matmul, transposed, layer_norm, group_norm, total, mean_apart, largest, maximum,
    masked_softmax, square, put, put_slice, put_row, scatter, mm, addmm,
    transposed_groups, pixels, conv3d)})


def record():
    torch.manual_seed(20261124)
    cases = writer.CaseFile()
    for name, make in FAMILIES.items():
        for i in range(ROUNDS):
            graph = Graph()
            text, y = make(graph)
            graph.finish(cases, f"{name}_{i}", text, y)
    return cases
