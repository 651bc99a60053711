# SPDX-License-Identifier: Apache-2.0
"""Writes test/quantized/floats: float networks that integers alone compute with a record, with
samples, and what eager torch makes of one input.

    python -B test/quantized/make_float_models.py     (torch 2.13.0)
    petrel quantize NAME.pt2 --calibrate NAME.samples.npy -o NAME.pte --record NAME.q.json
"""

import pathlib

import numpy
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

from make_programs import pt2e  # noqa: F401, puts test/models on the path
import neutral_archive  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "floats"
SAMPLES = 16


class Encoder(nn.Module):
    """Attention to what came before, norms, and a function of words at the end."""

    def __init__(self):
        super().__init__()
        self.project, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.first, self.second = nn.LayerNorm(8), nn.LayerNorm(8)
        self.wide, self.narrow = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        q, k, v = self.project(self.first(x)).view(1, 6, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(1, 6, 8))
        x = x + self.narrow(F.gelu(self.wide(self.second(x))))
        return F.log_softmax(x, -1)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(6, 5, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 3)

    def forward(self, x):
        return torch.softmax(self.out(self.cells(x)[0]), -1)


class UNet(nn.Module):
    """Up by a transposed convolution, and once by a bilinear one."""

    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)
        self.up, self.out = nn.ConvTranspose2d(6, 4, 3, 2, 1, 1), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        wide = F.relu6(self.down(x))
        deep = F.relu6(self.deep(F.max_pool2d(wide, 2)))
        y = self.out(torch.cat([F.relu(self.up(deep)), wide], 1))
        return F.interpolate(y, scale_factor=2, mode="bilinear")


class Stream(nn.Module):
    """The last two steps are state."""

    def __init__(self):
        super().__init__()
        self.line = nn.Conv1d(4, 4, 3)
        self.register_buffer("before", torch.zeros(1, 4, 2))

    def forward(self, x):
        steps = torch.cat([self.before, x], 2)
        self.before.copy_(steps[:, :, -2:])
        return torch.tanh(self.line(steps))


class Groups(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8)
        self.slopes, self.out = nn.PReLU(8), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        y = self.slopes(self.norm(self.first(F.pad(x, (1, 1, 1, 1), mode="reflect"))))
        y = y / (1 + y.abs())
        return self.out(y).var((2, 3)), self.out(y).amax((2, 3))


class Padded(nn.Module):
    """Words of sentences that are filled up with zeros."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.query, self.key, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, tokens):
        is_padding = tokens == 0
        x = self.layer(self.words(tokens), src_key_padding_mask=is_padding)
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        seen = torch.softmax(scores.masked_fill(is_padding[:, None], float("-inf")), -1) @ x
        return F.log_softmax(self.out(seen), -1)


class Larger(nn.Module):
    """Images of any sizes, twice as large."""

    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 2, 3, padding=1)

    def forward(self, x):
        x = F.interpolate(F.relu(self.first(x)), scale_factor=2, mode="bilinear")
        return self.out(x)


def sentences():
    tokens = torch.randint(1, 20, (SAMPLES, 2, 7))
    tokens[:, 0, 5:] = 0
    return tokens


MODELS = {
    "encoder": (Encoder, (1, 6, 8)),
    "both": (Both, (1, 4, 6)),
    "unet": (UNet, (1, 1, 8, 8)),
    "stream": (Stream, (1, 4, 1)),
    "groups": (Groups, (1, 3, 6, 6)),
}


# The same, whose sizes vary; the samples by a function.
VARYING = {
    "padded": (Padded, sentences, {0: Dim("sentences", min=1, max=4), 1: Dim("words", max=9)}),
    "larger": (Larger, lambda: torch.randn(SAMPLES, 1, 2, 6, 5),
               {2: Dim("rows", min=2, max=9), 3: Dim("columns", min=2, max=9)}),
}


def write(name, make, samples, shapes=None):
    torch.manual_seed(3)
    model, samples = make().eval(), samples()
    shapes = None if shapes is None else (shapes,)
    exported = torch.export.export(model, (samples[0],), dynamic_shapes=shapes)
    neutral_archive.save(exported, FOLDER / f"{name}.pt2")
    numpy.save(FOLDER / f"{name}.samples.npy", samples.numpy())
    numpy.save(FOLDER / f"{name}.input.npy", samples[-1].numpy())
    outputs = model(samples[-1])
    for i, output in enumerate(outputs if isinstance(outputs, tuple) else (outputs,)):
        numpy.save(FOLDER / f"{name}.output_{i}.npy", output.detach().numpy())


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, (make, sizes) in MODELS.items():
        write(name, make, lambda sizes=sizes: torch.randn(SAMPLES, *sizes))
    for name, (make, samples, shapes) in VARYING.items():
        write(name, make, samples, shapes)


if __name__ == "__main__":
    main()
