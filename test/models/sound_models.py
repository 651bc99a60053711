# SPDX-License-Identifier: Apache-2.0
"""A module that makes sound of spectra; varying_models.py exports and calls it."""

import torch
from torch import nn


class Vocoder(nn.Module):
    """Frames of sound, whose number varies, as spectra that overlap; and as samples that do."""

    def __init__(self):
        super().__init__()
        self.spectra = nn.Linear(4, 10)
        self.samples = nn.Linear(4, 8)
        self.register_buffer("window", torch.hann_window(8))

    def forward(self, x):
        lengths, angles = self.spectra(x).transpose(1, 2).chunk(2, 1)
        spectra = torch.polar(lengths.exp(), angles)
        sound = torch.istft(spectra, 8, 2, window=self.window)
        edges = torch.istft(spectra[0], 8, 2, window=torch.ones(8), center=False)
        cut = torch.istft(spectra, 8, 2, window=self.window, length=20)
        samples = self.samples(x).transpose(1, 2)
        rows = nn.functional.fold(samples, (1, 2 * x.shape[1] + 6), (1, 8), stride=(1, 2))
        return sound, edges, cut, rows
