# SPDX-License-Identifier: Apache-2.0
"""A module with layer norms and group norms; varying_models.py exports and calls it."""

from torch import nn
from torch.nn import functional as F


class Norms(nn.Module):
    """Norms between convolutions: in groups, of all channels, of each, and of pixels; and of
    sounds and rows."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 24, 3, padding=1), nn.Conv2d(24, 24, 3, padding=1)
        self.groups, self.all, self.each = (nn.GroupNorm(n, 24) for n in (4, 1, 24))
        self.pixels, self.head = nn.LayerNorm(24), nn.Linear(24, 5)
        self.sound, self.row = nn.Conv1d(3, 12, 3), nn.Linear(12, 12)
        self.parts, self.whole = nn.GroupNorm(3, 12), nn.GroupNorm(1, 12)
        self.rows, self.plain = nn.LayerNorm(12), nn.LayerNorm(12, elementwise_affine=False)

    def forward(self, x):
        image = F.silu(self.groups(self.first(x)))
        image = self.each(self.all(self.second(image)) + image)
        sound = self.whole(F.relu(self.parts(self.sound(x.mean(3)))))
        rows = self.plain(self.row(self.rows(sound.transpose(1, 2))))
        return self.head(self.pixels(image.permute(0, 2, 3, 1))), sound, rows
