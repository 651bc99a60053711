# SPDX-License-Identifier: Apache-2.0
"""Records a function as torch.export traces it, with what it is called with and
what eager torch computes. Inputs and parameters are constants of the graph.

    emit("scaled", lambda a, b: a * b, rand(2, 3), rand(3))
"""

import operator

import torch

from writer import CaseFile, ir_argument, type_of

CASES = CaseFile()


class Text:
    """One exported function as IR text with constants for all inputs."""

    def __init__(self, program, tensors):
        self.lines = []
        self.tensors = tensors
        self.names = {}
        self.literals = 0
        for node in program.graph.nodes:
            if node.op == "placeholder":
                self.names[node] = node.name
                self.constant(node.name, tensors[node.name])
        for node in program.graph.nodes:
            if node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                results = [self.names[out] for out in node.args[0]]
                self.lines.append("  return " + ", ".join("%" + r for r in results))

    def constant(self, name, tensor):
        self.tensors[name] = tensor
        self.lines.insert(0, "  %%%s = constant @%s : %s" % (name, name, type_of(tensor)))

    def call(self, node):
        if node.target is operator.getitem:
            self.names[node] = "%s_r%d" % (self.names[node.args[0]], node.args[1])
            return
        schema = node.target._schema
        arguments = []
        for i, spec in enumerate(schema.arguments):
            if i < len(node.args):
                value = node.args[i]
            elif spec.name in node.kwargs:
                value = node.kwargs[spec.name]
            else:
                continue
            text = self.argument(value, str(spec.type), node)
            arguments.append("%s=%s" % (spec.name, text))
        value = node.meta["val"]
        self.names[node] = node.name
        if value is None:
            names = []
        elif isinstance(value, (tuple, list)):
            names = ["%%%s_r%d" % (node.name, i) for i in range(len(value))]
        else:
            names = ["%" + node.name]
        overload = node.target._overloadname
        self.lines.append("  %s%s%s.%s(%s)" % (
            ", ".join(names), " = " if names else "",
            node.target._schema.name.replace("::", "."), overload, ", ".join(arguments)))

    def argument(self, value, kind, node):
        if kind == "Tensor" and isinstance(value, (int, float)):
            return "%" + self.literal(value, node)
        return ir_argument(value, self.names.get)

    def literal(self, value, node):
        """A number where a tensor belongs, in the dtype it promotes to."""
        others = [a.meta["val"] for a in node.all_input_nodes]
        dtype = torch.result_type(torch.empty(1, dtype=others[0].dtype), value)
        self.literals += 1
        name = "literal%d" % self.literals
        self.constant(name, torch.tensor(value, dtype=dtype))
        return name


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def emit(name, function, *inputs):
    module = function if isinstance(function, torch.nn.Module) else Module(function)
    module.eval()
    with torch.no_grad():
        program = torch.export.export(module, tuple(i.clone() for i in inputs), strict=False)
        expected = module(*(i.clone() for i in inputs))
    if isinstance(expected, torch.Tensor):
        expected = [expected]
    tensors = {}
    user = iter(inputs)
    for spec in program.graph_signature.input_specs:
        if spec.target is None:
            tensors[spec.arg.name] = next(user)
        elif spec.target in program.state_dict:
            tensors[spec.arg.name] = program.state_dict[spec.target]
        else:
            tensors[spec.arg.name] = program.constants[spec.target]
    text = Text(program, tensors)
    graph = "method @m() {\n%s\n}\n" % "\n".join(text.lines)
    CASES.graph(name, graph, constants=tensors, expected=expected)


def rand(*sizes):
    return torch.round(torch.randn(*sizes) * 64) / 64
