# SPDX-License-Identifier: Apache-2.0
"""Writes tensors, arguments and cases as case_file.h describes them.

    cases = CaseFile()
    cases.graph("scaled", "method @m(%x: f32[2]) { ... }\\n", inputs={"x": x}, expected=[y])
    cases.call("aten::mul.out", [a, 0.5], [y])
    cases.text()
"""

import collections
import itertools

import numpy
import torch

TYPES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
    torch.uint8: "u8", torch.bool: "bool",
}
FORMATS = {
    torch.contiguous_format: "contiguous_format",
    torch.preserve_format: "preserve_format",
    torch.channels_last: "channels_last",
}


class Optionals(list):
    """A list of type Tensor?[], even when no item is None."""


def type_of(tensor):
    """f32[2,3]: of a graph, whose tensors are contiguous."""
    return "%s[%s]" % (TYPES[tensor.dtype], ",".join(map(str, tensor.shape)))


def memory_order(tensor):
    """What stands behind the type where a kernel finds channels last in memory."""
    last = tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(
        memory_format=torch.channels_last)
    return "{0,2,3,1}" if last else ""


def tensor_text(name, tensor, order=""):
    """Name, type and elements, each in the fewest digits that give it back."""
    flat = tensor.detach().contiguous().flatten()
    if flat.dtype == torch.float64:
        words = [repr(v) for v in flat.tolist()]
    elif flat.dtype.is_floating_point:
        words = [str(v) for v in flat.float().numpy().astype(numpy.float32)]
    else:
        words = [str(int(v)) for v in flat.tolist()]
    return " ".join([name, type_of(tensor) + order] + [word.removesuffix(".0") for word in words])


def ir_argument(value, tensor):
    """An argument in the IR's text; `tensor` names what is not of Python or of the table."""
    if value is None or isinstance(value, (torch.device, torch.layout)):
        return "none"
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(ir_argument(v, tensor) for v in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, torch.dtype):
        return TYPES[value]
    if isinstance(value, torch.memory_format):
        return FORMATS[value]
    return "%" + tensor(value)


def call_argument(value, tensor):
    """The same in the text of a kernel's call."""
    if isinstance(value, (list, tuple)):
        items = "[%s]" % ", ".join(call_argument(v, tensor) for v in value)
        return "?" + items if isinstance(value, Optionals) else items
    return ir_argument(value, tensor)


class CaseFile:
    """The cases of one file in order."""

    def __init__(self):
        self.cases = []
        self.counts = collections.Counter()

    def numbered(self, operator):
        """A name for the next case of an operator: aten.add.out.0."""
        name = operator.replace("::", ".")
        self.counts[name] += 1
        return "%s.%d" % (name, self.counts[name] - 1)

    def graph(self, name, graph, inputs=None, constants=None, expected=()):
        lines = ["case " + name]
        lines += ["input " + tensor_text(n, t) for n, t in (inputs or {}).items()]
        lines += ["constant " + tensor_text(n, t) for n, t in (constants or {}).items()]
        lines += ["expect " + tensor_text("y%d" % i, t) for i, t in enumerate(expected)]
        self.cases.append("\n".join(lines) + "\ngraph\n" + graph + "end\n")

    def call(self, function, arguments, outputs, name=None, constants=None, after=None):
        """A call of a kernel or a method; an output that is a list is one argument. `after` has
        what inputs that are changed hold then, by their place among the tensors of `arguments`."""
        tensors = ["constant %s\n" % tensor_text(n, t) for n, t in (constants or {}).items()]

        def text(values, kind, letter):
            names = ("%s%d" % (letter, i) for i in itertools.count())

            def add(tensor):
                name = next(names)
                tensors.append("%s %s\n" % (
                    kind, tensor_text(name, tensor, memory_order(tensor))))
                return name
            return ", ".join(call_argument(v, add) for v in values)

        call = "call %s(%s) -> %s\n" % (
            function, text(arguments, "input", "x"), text(outputs, "expect", "y"))
        tensors += ["expect %s\n" % tensor_text("x%d_after" % i, t)
                    for i, t in (after or {}).items()]
        self.cases.append("case %s\n%s%send\n" % (
            name or self.numbered(function), "".join(tensors), call))

    def text(self, script="test/eager/record.py"):
        head = "# Written by %s with torch %s.\ncases %d\n" % (
            script, torch.__version__.partition("+")[0], len(self.cases))
        return head + "".join(self.cases)
