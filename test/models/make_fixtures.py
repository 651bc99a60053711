#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small .pt2 archives that the reader is tested with.

  make_fixtures.py [--out fixtures]

Run it once per torch release: files go to OUT/torch_MAJOR_MINOR. OUT/MANIFEST
says what each file shows; it is the same for all releases. For fixtures whose
inputs are a flat list of tensors OUT/torch_2_13 also holds NAME.input_I.npy
and, from eager torch, NAME.output_I.npy; where state is kept, of the first
call.
"""

import argparse
import dataclasses
import pathlib
import sys
from typing import Any, Callable

import numpy as np
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

import neutral_archive

HERE = pathlib.Path(__file__).resolve().parent
RELEASE = "_".join(torch.__version__.split(".")[:2])
FIXTURES: dict[str, Callable[[], "Fixture"]] = {}


@dataclasses.dataclass
class Fixture:
    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    dynamic_shapes: Any = None
    finish: Callable[[Any], Any] = lambda program: program
    tensors_only: bool = True  # inputs and outputs can be .npy files

    def program(self):
        return self.finish(
            torch.export.export(
                self.module.eval(), self.args, self.kwargs, dynamic_shapes=self.dynamic_shapes
            )
        )


def fixture(build: Callable[[], Fixture]) -> Callable[[], Fixture]:
    FIXTURES[build.__name__] = build
    return build


class Lambda(nn.Module):
    """A module from a function of (self, *args)."""

    def __init__(self, forward: Callable[..., Any], **members: Any) -> None:
        super().__init__()
        for name, member in members.items():
            setattr(self, name, member)
        self._forward = forward

    def forward(self, *args: Any) -> Any:
        return self._forward(self, *args)


@fixture
def tied_weights() -> Fixture:
    """two linear layers share one weight: two names, one payload file"""
    first, second = nn.Linear(6, 6), nn.Linear(6, 6)
    second.weight = first.weight
    net = nn.Sequential(first, nn.ReLU(), second)
    return Fixture(net, (torch.randn(2, 6),))


def _conv_bn_relu() -> nn.Module:
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU())
    with torch.no_grad():
        net[1].running_mean.uniform_(-1, 1)
        net[1].running_var.uniform_(0.5, 2)
        net[1].weight.uniform_(0.5, 2)
        net[1].bias.uniform_(-1, 1)
    return net


@fixture
def conv_bn_relu() -> Fixture:
    """convolution, batch norm and relu as plain export writes them (conv2d, batch_norm)"""
    return Fixture(_conv_bn_relu(), (torch.randn(1, 3, 6, 6),))


@fixture
def conv_bn_relu_core() -> Fixture:
    """the same after run_decompositions() (convolution, _native_batch_norm_legit_no_training)"""
    return Fixture(
        _conv_bn_relu(), (torch.randn(1, 3, 6, 6),), finish=lambda p: p.run_decompositions()
    )


@fixture
def in_place() -> Fixture:
    """relu_, add_ with alpha, mul_ on a view: the view's base changes too"""

    def forward(self, x, y):
        h = x + y
        h.relu_()
        h.add_(y, alpha=0.5)
        h[1:].mul_(3)
        return h

    return Fixture(Lambda(forward), (torch.randn(3, 4), torch.randn(3, 4)))


class Accumulate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        self.calls += 1
        return self.total / self.calls


@fixture
def buffer_mutation() -> Fixture:
    """buffers updated in place: add_ nodes in the graph of a plain export"""
    return Fixture(Accumulate(), (torch.randn(4),))


@fixture
def buffer_mutation_functional() -> Fixture:
    """the same after run_decompositions({}): buffer_mutation outputs in the signature"""
    return Fixture(Accumulate(), (torch.randn(4),), finish=lambda p: p.run_decompositions({}))


@fixture
def input_mutation() -> Fixture:
    """an input written in place, functional form: user_input_mutation in the signature"""

    def forward(self, cache, x):
        cache.copy_(cache * 0.5 + x)
        return cache.sum(1)

    return Fixture(
        Lambda(forward),
        (torch.ones(2, 3), torch.randn(2, 3)),
        finish=lambda p: p.run_decompositions({}),
    )


@fixture
def transposed_parameter() -> Fixture:
    """a parameter whose strides are not contiguous: payload bytes in storage order"""
    weight = nn.Parameter(torch.randn(4, 6).t())
    return Fixture(Lambda(lambda self, x: x @ self.weight, weight=weight), (torch.randn(2, 6),))


@fixture
def shared_storage() -> Fixture:
    """two buffers are slices of one storage: a storage offset, one payload file"""
    whole = torch.randn(5, 4)

    class Slices(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("head", whole[:2])
            self.register_buffer("tail", whole[2:])
            self.register_buffer("whole", whole)

        def forward(self, x):
            return x + self.head.sum(0) - self.tail.mean(0) * self.whole[0]

    return Fixture(Slices(), (torch.randn(3, 4),))


@fixture
def scalar_args() -> Fixture:
    """Python scalars as operator arguments: int, float, bool, dtype, memory format, None"""

    def forward(self, x):
        h = torch.add(x * 2, x, alpha=3) / 4.5 - 1
        h = torch.clamp(h, -2.5, 2) + torch.clamp(h, min=0) + torch.pow(h, 2)
        h = h.sum(dim=1, keepdim=True, dtype=torch.float64).to(torch.float32)
        h = h + torch.full((1, 1), 7) + torch.arange(4, dtype=torch.float32)
        return h.contiguous(memory_format=torch.contiguous_format)

    return Fixture(Lambda(forward), (torch.randn(3, 4),))


@fixture
def prim_inputs() -> Fixture:
    """int, float, bool and str arguments of forward: constant inputs in the signature"""

    def forward(self, x, times, scale, negate, mode):
        h = x * times * scale
        h = -h if negate else h
        return h.round() if mode == "round" else h

    return Fixture(Lambda(forward), (torch.randn(4), 3, 0.5, True, "round"), tensors_only=False)


class Named(nn.Module):
    def forward(self, batch, *, scale, shift=None):
        out = batch["image"] * scale + batch["bias"][0]
        return {"sum": out.sum(1), "all": (out, batch["bias"][1])}


@fixture
def kwargs_and_dict() -> Fixture:
    """a dict holding a tuple as input, keyword arguments, a dict as output, keys not sorted"""
    batch = {"image": torch.randn(2, 3), "bias": (torch.randn(3), torch.randn(1))}
    return Fixture(Named(), (batch,), {"scale": torch.tensor(2.0)}, tensors_only=False)


@fixture
def split_chunk() -> Fixture:
    """operators with a list or tuple of outputs: split, chunk, unbind, max.dim, topk"""

    def forward(self, x):
        a, b, c = torch.split(x, [1, 2, 3], dim=1)
        d, e = torch.chunk(x, 2, dim=0)
        values, where = torch.max(x, dim=1)
        top, _ = torch.topk(x, 2, dim=1)
        first, _ = torch.unbind(x, 0)
        return a + c[:, :1], b, d - e, values, where, top, first

    return Fixture(Lambda(forward), (torch.randn(2, 6),))


@fixture
def int_inputs() -> Fixture:
    """int64 indices into an embedding, int32 arithmetic, a bool output"""
    table = nn.Embedding(10, 4)

    def forward(self, index, shift):
        return self.table(index + shift), shift * 3 // 2, index > 4

    return Fixture(
        Lambda(forward, table=table),
        (torch.tensor([[1, 7, 2]]), torch.tensor([0, 1, 2], dtype=torch.int32)),
    )


@fixture
def dynamic_batch() -> Fixture:
    """a named dynamic dimension 1..16, sizes computed from it (view, arange)"""
    batch = Dim("batch", min=1, max=16)
    linear = nn.Linear(6, 4)

    def forward(self, x):
        h = self.linear(x.view(x.shape[0], 6))
        return h + torch.arange(x.shape[0]).unsqueeze(1)

    return Fixture(
        Lambda(forward, linear=linear),
        (torch.randn(3, 2, 3),),
        dynamic_shapes=(({0: batch},),),  # forward takes *args
    )


@fixture
def dynamic_derived() -> Fixture:
    """two inputs, one dimension twice the other: an expression in range constraints"""
    n = Dim("n", min=2, max=64)

    class Pairs(nn.Module):
        def forward(self, x, y):
            return torch.cat([x, x]) + y

    return Fixture(
        Pairs(),
        (torch.randn(3, 2), torch.randn(6, 2)),
        dynamic_shapes={"x": {0: n}, "y": {0: 2 * n}},
    )


@fixture
def constants() -> Fixture:
    """a tensor literal, a non-persistent buffer and a 0-d tensor: the constants config"""

    class Constants(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0]), persistent=False)
            self.scale = torch.tensor(0.25)

        def forward(self, x):
            return x * self.mask * self.scale + torch.tensor([3.0, 2.0, 1.0])

    return Fixture(Constants(), (torch.randn(2, 3),))


@fixture
def dtypes() -> Fixture:
    """payloads of float16, bfloat16, float64, int8, uint8, int16, int32, int64 and bool"""

    class Many(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            kinds = {
                "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
                "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16,
                "i32": torch.int32, "i64": torch.int64, "flag": torch.bool,
            }
            for i, (name, dtype) in enumerate(kinds.items()):
                self.register_buffer(name, torch.tensor([i, 1, 0]).to(dtype))

        def forward(self, x):
            for buffer in (self.f16, self.bf16, self.f64, self.i8, self.u8, self.i16,
                           self.i32, self.i64):
                x = x + buffer.to(torch.float32)
            return torch.where(self.flag, x, -x)

    return Fixture(Many(), (torch.randn(3),))


@fixture
def list_args() -> Fixture:
    """lists and optional arguments: permute, cat, pad, index with None, layer_norm without weight"""

    def forward(self, x, rows):
        h = torch.cat([x, x[:, rows], x.permute(0, 2, 1)[:, :3]], dim=1)
        h = F.pad(h, [1, 0, 0, 1], value=2.0)
        h = F.layer_norm(h, [h.shape[-1]])
        return F.interpolate(h.unsqueeze(0), scale_factor=2.0, mode="bilinear")

    return Fixture(Lambda(forward), (torch.randn(2, 3, 3), torch.tensor([2, 0])))


@fixture
def channels_last() -> Fixture:
    """a convolution in channels-last memory format: strides of weights and values"""
    net = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    return Fixture(net, (torch.randn(1, 3, 5, 5).to(memory_format=torch.channels_last),))


@fixture
def condition() -> Fixture:
    """torch.cond: two subgraphs under a higher-order operator"""

    class Cond(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda v: v * 2, lambda v: v - 1, (x,))

    return Fixture(Cond(), (torch.ones(3),))


@fixture
def unsupported_ops() -> Fixture:
    """two operators that nobody lowers and one that is, on three source lines"""

    def forward(self, x):
        a = torch.linalg.det(x)
        b = torch.special.i0e(x)
        c = torch.igamma(x.abs() + 1, x.abs() + 1)
        return a + b + c

    return Fixture(Lambda(forward), (torch.randn(3, 3),))


@fixture
def pickled_payload() -> Fixture:
    """a weight of a tensor subclass: its payload is a pickle (use_pickle), to be refused"""
    from torch.testing._internal.two_tensor import TwoTensor

    weight = nn.Parameter(TwoTensor(torch.randn(4, 4), torch.randn(4, 4)))
    return Fixture(
        Lambda(lambda self, x: x @ self.weight, weight=weight),
        (torch.randn(2, 4),),
        tensors_only=False,
    )


@fixture
def no_weights() -> Fixture:
    """exported under fake tensors: payload files of zero bytes"""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        net = nn.Linear(4, 3)
        x = torch.randn(2, 4)
    return Fixture(net, (x,), tensors_only=False)


def save(build: Callable[[], Fixture], folder: pathlib.Path) -> None:
    torch.manual_seed(5)
    name = build.__name__
    made = build()
    program = made.program()
    neutral_archive.save(program, folder / f"{name}.pt2")
    if not made.tensors_only or RELEASE != "2_13":
        return
    with torch.no_grad():
        inputs = [x.clone() for x in made.args]
        result = made.module(*(x.clone() for x in inputs))
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, tensor in enumerate(tensors):
            np.save(folder / f"{name}.{kind}_{i}.npy", tensor.contiguous().numpy())


def save_two_programs(folder: pathlib.Path) -> None:
    from torch.export.pt2_archive._package import package_pt2

    torch.manual_seed(5)
    body = nn.Linear(4, 4)
    programs = {
        "prefill": torch.export.export(Lambda(lambda self, x: self.body(x), body=body),
                                       (torch.randn(5, 4),)),
        "decode": torch.export.export(Lambda(lambda self, x: self.body(x).relu(), body=body),
                                      (torch.randn(1, 4),)),
    }
    package_pt2(folder / "two_programs.pt2", exported_programs=programs)
    neutral_archive.rewrite(folder / "two_programs.pt2")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "fixtures")
    out = parser.parse_args().out
    folder = out / f"torch_{RELEASE}"
    folder.mkdir(parents=True, exist_ok=True)

    shows = {f"{name}.pt2": build.__doc__ for name, build in FIXTURES.items()}
    shows["two_programs.pt2"] = "two programs, prefill and decode, with equal weights in one archive"
    lines = ["# fixture: what it shows. Written by make_fixtures.py under several releases of torch."]
    lines += [f"{name}: {text}" for name, text in sorted(shows.items())]
    (out / "MANIFEST").write_text("\n".join(lines) + "\n")

    failed = []
    for name, build in FIXTURES.items():
        try:
            save(build, folder)
        except Exception as error:  # some releases cannot write some fixtures
            failed.append(name)
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
    try:
        save_two_programs(folder)
    except Exception as error:
        failed.append("two_programs")
        print(f"two_programs: {type(error).__name__}: {error}", file=sys.stderr)
    total = len(FIXTURES) + 1
    print(f"torch {torch.__version__}: {total - len(failed)} of {total} written to {folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
