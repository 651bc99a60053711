# SPDX-License-Identifier: Apache-2.0
"""One case: a call of an operator, made and described in the text of the IR.

    call("add.Tensor", T(2, 3), T(3))

The case is a method whose result types are those of what PyTorch returned.
"""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401

from writer import TYPES, CaseFile, ir_argument, type_of

DTYPES = {name: dtype for dtype, name in TYPES.items()}
CASES = CaseFile()


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
        return type_of(value)
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "float"


class Case:
    def __init__(self, op):
        namespace, name, overload = op.split(".")
        packet = getattr(getattr(torch.ops, namespace), name)
        self.op, self.function = op, getattr(packet, overload)
        self.inputs = []

    def argument(self, value, kind):
        """The value for PyTorch and its text."""
        if isinstance(value, int) and not isinstance(value, bool) and "float" in kind:
            value = float(value)
        if isinstance(value, (list, tuple)):
            inner = kind[kind.index("List[") + 5:] if "List[" in kind else ""
            pairs = [self.argument(item, inner) for item in value]
            return [pair[0] for pair in pairs], "[%s]" % ", ".join(pair[1] for pair in pairs)
        text = ir_argument(value, self.input)
        return value.make() if isinstance(value, T) else value, text

    def input(self, tensor):
        """The name of a new input."""
        name = f"x{len(self.inputs)}"
        self.inputs.append(f"%{name}: {tensor.text()}")
        return name

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


def call(op, *args, optional=False, **kwargs):
    """One case; `optional` ones may be refused by PyTorch."""
    if op.count(".") == 0:
        op += ".default"
    if op.count(".") == 1:
        op = "aten." + op
    try:
        graph = Case(op).run(args, kwargs)
    except Exception:  # noqa: BLE001
        if optional:
            return
        raise
    CASES.graph(CASES.numbered(op), graph)


def in_place(op):
    name, _, overload = op.partition(".")
    return f"{name}_.{overload or 'default'}"
