# SPDX-License-Identifier: Apache-2.0
"""Makes the archives of the Python tests, with torch 2.13: make_models.py FOLDER."""

import pathlib
import sys

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.append(str(ROOT / "test" / "models"))

import neutral_archive


class Affine(nn.Module):
    """mul and add with constants, twice, around what no test backend takes."""

    def __init__(self, scale: torch.Tensor, shift: float, parts: int = 1) -> None:
        super().__init__()
        self.scale = nn.Parameter(scale, requires_grad=False)
        self.shift = nn.Parameter(torch.full((4,), shift), requires_grad=False)
        self.parts = parts

    def forward(self, x):
        for part in range(self.parts):
            if part > 0:
                x = torch.sigmoid(x)
            x = x * self.scale + self.shift
        return x


class Sub(nn.Module):
    """Nothing but a subtraction."""

    def forward(self, x, y):
        return x - y


class AddMulSub(nn.Module):
    """What several backends share: an addition, a product, a difference."""

    def forward(self, x, y):
        return (x + y) * y - x


class Half(nn.Module):

    def forward(self, x):
        return x + x


class Layouts(nn.Module):

    def forward(self, x):
        return torch.relu(x)


def main(folder: pathlib.Path) -> None:
    torch.manual_seed(0)
    scale = torch.tensor([1.0, 2.0, 3.0, 4.0])
    x = torch.ones(4)
    models = {
        "affine": (Affine(scale, 0.5), (x,)),
        "affine_same_scale": (Affine(scale.clone(), 1.5), (x,)),
        "affine_two_parts": (Affine(scale, 0.5, parts=2), (x,)),
        "affine_three_parts": (Affine(scale, 0.5, parts=3), (x,)),
        # One tensor given twice would be one input.
        "sub": (Sub(), (x, torch.zeros(4))),
        "add_mul_sub": (AddMulSub(), (x, torch.zeros(4))),
        "glu": (nn.GLU(0), (x,)),
        "bfloat16": (Half(), (torch.ones(2, 3, dtype=torch.bfloat16),)),
        "channels_last": (Layouts(), (torch.ones(1, 2, 3, 4).to(
            memory_format=torch.channels_last),)),
    }
    for name, (model, inputs) in models.items():
        neutral_archive.save(torch.export.export(model, inputs), folder / f"{name}.pt2")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
