# SPDX-License-Identifier: Apache-2.0
"""Makes the golden programs of the fault tests with the ExecuTorch wheel.

    python make_golden.py OUTPUT_DIR      (torch 2.13.0, executorch 1.5.0)

Each program is as small as the wheel makes it, and together they use every
kind of value, instruction, storage and delegate that a loader meets. Next to
NAME.pte lies cases.txt (test/eager/case_file.h): a case NAME.METHOD for each
method, with what eager torch gives and the weights that are not in the program.
"""

import pathlib
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch.export import Dim, export

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "eager"))
from writer import CaseFile  # noqa: E402

CASES = CaseFile()


class Add(torch.nn.Module):
    """Two inputs, a constant, a scalar."""

    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.tensor([0.5, -1.0, 2.0]))

    def forward(self, x, y):
        return x + y * 2.0 + self.offset


class Linear(torch.nn.Module):
    """Parameters, a matrix product, a transposition."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x)


class Counter(torch.nn.Module):
    """A mutable buffer with an initial value."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.tensor([1.0, 2.0]))

    def forward(self, x):
        self.state.add_(x)
        return self.state * 1.0


class Choice(torch.nn.Module):
    """A jump and moves."""

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1.0, lambda x: x * 2.0, (x,))


class Stack(torch.nn.Module):
    """A list of tensors, a dynamic dimension, numbers computed at run time."""

    def forward(self, x):
        y = torch.cat([x, x + 1.0], 0)
        return y.view(-1), x.shape[0] * 2


class Loop(torch.nn.Module):
    """A loop over rows."""

    def forward(self, x, y):
        from torch._higher_order_ops.map import map as torch_map

        return torch_map(lambda row, y: row + y, x, y)


def save(name, outdir, program, methods, weights=None):
    """Writes the program, and adds a case for each method."""
    (outdir / f"{name}.pte").write_bytes(program.buffer)
    for method, module, inputs in methods:
        outputs = module(*inputs)
        if not isinstance(outputs, (tuple, list)):
            outputs = (outputs,)
        CASES.call(method, inputs, outputs, name=f"{name}.{method}", constants=weights)


def main():
    outdir = pathlib.Path(sys.argv[1])
    outdir.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    x3 = torch.tensor([1.0, 2.0, 3.0])
    y3 = torch.tensor([-1.0, 0.5, 4.0])
    x23 = torch.tensor([[1.0, 2.0, 3.0], [-4.0, 5.0, -6.0]])

    add = Add().eval()
    edge = to_edge(export(add, (x3, y3)))
    save("add", outdir, edge.to_executorch(), [("forward", add, (x3, y3))])

    linear = Linear().eval()
    edge = to_edge(export(linear, (x23,)))
    save("linear", outdir, edge.to_executorch(), [("forward", linear, (x23,))])

    edge = to_edge(export(linear, (x23,)))
    program = edge.to_executorch(ExecutorchBackendConfig(external_constants=True))
    weights = dict(linear.named_parameters())
    save("external", outdir, program, [("forward", linear, (x23,))], weights)

    x2 = torch.tensor([10.0, 20.0])
    edge = to_edge(export(Counter().eval(), (x2,)))
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["state"])])
    save("counter", outdir, edge.to_executorch(config), [("forward", Counter(), (x2,))])

    choice = Choice().eval()
    edge = to_edge(export(choice, (x3,)))
    save("choice", outdir, edge.to_executorch(), [("forward", choice, (-x3,))])

    stack = Stack().eval()
    edge = to_edge(export(stack, (x23,), dynamic_shapes=({0: Dim("rows", min=1, max=4)},)))
    save("stack", outdir, edge.to_executorch(), [("forward", stack, (x23,))])

    loop = Loop().eval()
    edge = to_edge(export(loop, (x23, y3)))
    save("loop", outdir, edge.to_executorch(), [("forward", loop, (x23, y3))])

    for name, config in (
        ("delegate", ExecutorchBackendConfig()),
        ("inline", ExecutorchBackendConfig(extract_delegate_segments=False)),
    ):
        edge = to_edge_transform_and_lower(
            export(linear, (x23,)), partitioner=[XnnpackPartitioner()]
        )
        save(name, outdir, edge.to_executorch(config), [("forward", linear, (x23,))])

    edge = to_edge(
        {"forward": export(linear, (x23,)), "sum": export(add, (x3, y3))},
        constant_methods={"limit": 128, "name": "tiny", "rate": 0.25, "fast": True},
    )
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    )
    save(
        "methods",
        outdir,
        edge.to_executorch(config),
        [("forward", linear, (x23,)), ("sum", add, (x3, y3))],
    )
    (outdir / "cases.txt").write_text(CASES.text("test/faults/make_golden.py"))


if __name__ == "__main__":
    main()
