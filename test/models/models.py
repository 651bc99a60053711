# SPDX-License-Identifier: Apache-2.0
"""The models that the interop table, the benchmarks and the docs speak of.

Each function returns a Model: an eager module in eval mode and two different
example inputs of equal shapes. Everything is seeded, so that two processes on
one machine build equal weights and inputs. A module returns a tensor or a
tuple of tensors; `expected` gives its outputs as a list.

  model = MODELS["mlp"]()
  outputs = model.expected(0)
"""

import dataclasses
import importlib.util
import pathlib
from typing import Callable

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "examples" / "quickstart"


@dataclasses.dataclass
class Model:
    module: nn.Module
    inputs: list[tuple[torch.Tensor, ...]]  # one tuple of arguments per example

    def expected(self, example: int) -> list[torch.Tensor]:
        with torch.no_grad():
            result = self.module(*self.inputs[example])
        return list(result) if isinstance(result, (tuple, list)) else [result]

    def program(self) -> torch.export.ExportedProgram:
        return torch.export.export(self.module, self.inputs[0])


def digits() -> Model:
    """The quickstart's trained network, on two of its held-out images."""
    spec = importlib.util.spec_from_file_location("train", QUICKSTART / "train.py")
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    net = train.DigitsNet()
    net.load_state_dict(torch.export.load(QUICKSTART / "digits.pt2").state_dict)
    raw = (QUICKSTART / "digits.bin").read_bytes()
    records = torch.frombuffer(bytearray(raw), dtype=torch.uint8).reshape(-1, 65)
    images = (records[:, :64].float() / 16.0).reshape(-1, 1, 1, 8, 8)
    return Model(net.eval(), [(images[0].clone(),), (images[1].clone(),)])


class TwoByTwo(nn.Module):
    """Two inputs of different widths, a shared trunk, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Linear(32, 48)
        self.right = nn.Linear(16, 48)
        self.trunk = nn.Linear(48, 40)
        self.logits = nn.Linear(40, 10)
        self.gate = nn.Linear(40, 5, bias=False)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.relu(self.left(a) + self.right(b))
        hidden = torch.tanh(self.trunk(hidden))
        return self.logits(hidden), torch.sigmoid(self.gate(hidden)) * 2.0


def mlp() -> Model:
    torch.manual_seed(11)
    module = TwoByTwo().eval()
    return Model(module, [(torch.randn(3, 32), torch.randn(3, 16)) for _ in range(2)])


def _settle_batch_norm(module: nn.Module) -> nn.Module:
    """Takes batch-norm statistics from one batch.

    With the statistics of a new module (mean 0, variance 1) activations of a
    deep network with random weights shrink layer by layer until they are
    denormal, which neither compares nor times like a real network.
    """
    for child in module.modules():
        if isinstance(child, nn.BatchNorm2d):
            child.momentum = 1.0
    with torch.no_grad():
        module.train()(torch.randn(8, 3, 224, 224))
    return module.eval()


def _image_model(build: Callable[[], nn.Module], seed: int) -> Model:
    torch.manual_seed(seed)
    module = _settle_batch_norm(build())
    return Model(module, [(torch.randn(1, 3, 224, 224),) for _ in range(2)])


def mobilenet_v2() -> Model:
    from torchvision_models import mobilenet_v2 as build

    return _image_model(lambda: build(weights=None), seed=21)


def resnet18() -> Model:
    from torchvision_models import resnet18 as build

    return _image_model(lambda: build(weights=None), seed=22)


MODELS = {
    "digits": digits,
    "mlp": mlp,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
}
