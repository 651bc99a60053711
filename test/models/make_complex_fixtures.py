#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes complex/: programs that compute with complex numbers between real inputs and outputs.

  python3 make_complex_fixtures.py        (torch 2.13)

  NAME.pt2       as torch.export gives it
  NAME.core.pt2  after run_decompositions()
  NAME.input_I.npy  NAME.output_O.npy
  refused_NAME.pt2
"""

import pathlib

import numpy as np
import torch
from torch import nn

import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "complex"


class Rotary(nn.Module):
    """Positions as turned pairs: once from a buffer, once computed without gradients."""

    def __init__(self) -> None:
        super().__init__()
        frequencies = 1 / 10000 ** (torch.arange(0, 8, 2) / 8)
        self.register_buffer("frequencies", frequencies)
        angles = torch.outer(torch.arange(16), frequencies)
        self.register_buffer("turns", torch.polar(torch.ones(16, 4), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.reshape(1, 16, 4, 4, 2))
        stored = torch.view_as_real(pairs * self.turns[None, :, None, :]).flatten(3)
        with torch.no_grad():
            angles = torch.outer(torch.arange(16).float(), self.frequencies)
            turns = torch.polar(torch.ones_like(angles), angles)
        computed = torch.view_as_real(pairs * turns[None, :, None, :]).flatten(3)
        return stored, computed


class Mixing(nn.Module):
    """Tokens mixed by transforms of both dims."""

    def forward(self, x):
        return (torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real,
                torch.fft.fftn(x, dim=(1, 2)).real, torch.fft.ifft2(x, norm="forward").imag,
                torch.fft.fftshift(torch.fft.fft(x, dim=1), dim=1).imag, torch.fft.ifftshift(x))


class Filter(nn.Module):
    """A learnt filter in frequencies, of two dims and of one with a parameter of complex numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = nn.Parameter(torch.randn(8, 5, 6, 2) * 0.1)
        self.numbers = nn.Parameter(torch.randn(8, 6, 5, dtype=torch.complex64))

    def forward(self, x):
        plane = torch.fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.pairs)
        rows = torch.fft.rfft(x.transpose(2, 3), n=9, dim=-1) * self.numbers
        return (torch.fft.irfft2(plane, s=(8, 8), dim=(1, 2), norm="ortho"),
                torch.fft.irfft(rows, n=9, dim=-1), torch.fft.irfftn(plane, dim=(1, 2)))


class Spectrogram(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.register_buffer("short", torch.hann_window(40))

    def forward(self, x):
        stft = torch.stft(x, 64, 16, window=self.window, return_complex=True)
        shorter = torch.stft(x[0], 64, 20, 40, self.short, center=False, normalized=True,
                             onesided=False, return_complex=True)
        back = torch.istft(stft * 0.5, 64, 16, window=self.window)
        longer = torch.istft(stft, 64, 16, window=self.window, length=410)
        return stft.abs(), torch.log1p(stft.real**2 + stft.imag**2), shorter.angle().cos(), back, longer


class Operator(nn.Module):
    """A few frequencies mixed over channels, written into a spectrum of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 5, 4, dtype=torch.cfloat))

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        out = torch.zeros(1, 5, 9, dtype=torch.cfloat)
        out[:, :, :4] = torch.einsum("bix,iox->box", spectrum[:, :, :4], self.weight)
        return torch.fft.irfft(out, n=x.size(-1))


class Arithmetic(nn.Module):
    def forward(self, x, y):
        z = torch.complex(x, y)
        w = torch.complex(x, x) + (1 - 2j)
        return (torch.angle(z * w.conj().mul(1j)).cos(), (z / (w + 2)).abs(), torch.exp(z * 0.1).imag,
                (z @ w.transpose(-1, -2)).real, torch.view_as_real(z.sum(0, keepdim=True) - y),
                (1 / w).real, (z**2).imag, torch.cat([z, w], 1).imag, z.mean(-1).real,
                torch.stack([z, y.to(torch.complex64)]).abs(), (2j * x).imag,
                torch.view_as_real(z.reshape(8, 4).t().flip(0)[1:]), torch.sqrt(z).imag,
                torch.view_as_real(torch.log(w)))


class StateSpace(nn.Module):
    """A convolution as long as its input, from the powers of a diagonal."""

    def __init__(self) -> None:
        super().__init__()
        self.decay = nn.Parameter(torch.randn(6, 4))
        self.output = nn.Parameter(torch.randn(6, 4, 2))

    def forward(self, x):
        powers = torch.exp((-torch.exp(self.decay) + 3j).unsqueeze(-1) * torch.arange(16))
        kernel = 2 * torch.einsum("hn,hnl->hl", torch.view_as_complex(self.output), powers).real
        spectrum = torch.fft.rfft(x, n=32) * torch.fft.rfft(kernel, n=32)
        return torch.fft.irfft(spectrum, n=32)[..., :16]


class Network(nn.Module):
    """Layers whose weights are complex, what people write around them, and angles of sums that are
    real: half a turn where they are negative, as all those at frequency 0 of -|x| are."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 6, dtype=torch.cfloat)
        self.lines = nn.Conv1d(4, 3, 3, padding=1, dtype=torch.cfloat)
        self.planes = nn.Conv2d(1, 2, (2, 3), stride=2, bias=False, dtype=torch.cfloat)

    def forward(self, x, y):
        z = torch.complex(x, y)
        w = z.clone()
        w *= 1 - z
        w[:, 0] = 0
        w += z
        pairs = torch.view_as_real
        negative = torch.fft.rfft(-x.abs())
        return (pairs(self.linear(z)), pairs(self.lines(z)), pairs(self.planes(z.unsqueeze(0))),
                pairs(w), pairs(z.mH @ z.T.mT), pairs(z.adjoint() + z.T),
                pairs(torch.where(x > 0, z, y)), pairs(z.masked_fill(y > 0, 2.0).tril()),
                torch.linalg.vector_norm(z, dim=-1), pairs(torch.dot(z[0], z[1]) + z.trace()),
                pairs(z.unfold(1, 3, 2)), pairs(z.index_add(0, torch.tensor([2, 2]), z[:2])),
                negative.angle(), torch.fft.fft(-x.abs(), dim=0).angle()[[0, 2]],
                torch.stft(-x.abs(), 4, 4, center=False, window=torch.ones(4),
                           return_complex=True).angle()[:, ::2])


class Functions(nn.Module):
    """Functions of single numbers, also of large ones, and what is asked of both parts."""

    def forward(self, x, y):
        z = torch.complex(x, y)
        ends = torch.complex(20 * x, y / x.floor())
        made = [f(z) for f in (torch.sin, torch.cos, torch.sinh, torch.cosh, torch.tan, torch.tanh,
                               torch.sigmoid, torch.log2, torch.log10, torch.rsqrt)]
        made += [torch.tanh(10 * z), torch.sigmoid(50 * z), z**3, z**0.5, z**-1]
        same = torch.complex(x, y.floor().abs())
        missing = torch.complex(x, ends.imag - ends.imag)
        return ([torch.view_as_real(w) for w in made], z.var(), z.std(1), z.var((0, 1), keepdim=True),
                same == x, same != same.conj(), same == same.conj(), x != same, z * 0 == 0,
                torch.isfinite(ends), torch.isnan(missing), torch.isinf(ends))


class Squares(nn.Module):
    def forward(self, x):
        return (x * x).abs()


class Doubled(nn.Module):
    def forward(self, x):
        return torch.complex(x, x) * 2


class Rectified(nn.Module):
    """What eager refuses as well, though it can be exported."""

    def forward(self, x):
        return torch.relu(torch.complex(x, x)).real


class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).abs()


# What cannot be compiled, and its input.
REFUSED = {
    "input": (Squares, torch.zeros(3, dtype=torch.cfloat)),
    "output": (Doubled, torch.zeros(3)),
    "function": (Rectified, torch.zeros(3)),
    "size": (Spectrum, torch.zeros(5000)),
}
MODELS = {
    "rotary": (Rotary, [(1, 16, 32)]),
    "mixing": (Mixing, [(1, 12, 16)]),
    "filter": (Filter, [(1, 8, 8, 6)]),
    "spectrogram": (Spectrogram, [(1, 400)]),
    "operator": (Operator, [(1, 3, 16)]),
    "arithmetic": (Arithmetic, [(4, 8), (4, 8)]),
    "state_space": (StateSpace, [(1, 6, 16)]),
    "network": (Network, [(4, 8), (4, 8)]),
    "functions": (Functions, [(4, 8), (4, 8)]),
}


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    torch.manual_seed(53)
    for name, (make, sizes) in MODELS.items():
        module = make().eval()
        inputs = tuple(torch.randn(size) for size in sizes)
        with torch.no_grad():
            outputs = torch.utils._pytree.tree_leaves(module(*inputs))
        program = torch.export.export(module, inputs)
        neutral_archive.save(program, OUT / f"{name}.pt2")
        neutral_archive.save(program.run_decompositions(), OUT / f"{name}.core.pt2")
        for kind, tensors in (("input", inputs), ("output", outputs)):
            for i, tensor in enumerate(tensors):
                np.save(OUT / f"{name}.{kind}_{i}.npy", tensor.detach().contiguous().numpy())
        print(name, len(outputs))
    for name, (make, value) in REFUSED.items():
        neutral_archive.save(torch.export.export(make(), (value,)), OUT / f"refused_{name}.pt2")


if __name__ == "__main__":
    main()
