# SPDX-License-Identifier: Apache-2.0
"""Modules with PReLU; varying_models.py exports and calls them."""

from torch import nn


class Slopes(nn.Module):
    """A slope for each channel of an image, and one for all of them."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 3, 3, stride=2)
        self.each, self.all = nn.PReLU(6), nn.PReLU()

    def forward(self, x):
        return self.each(self.wide(self.all(self.narrow(self.each(self.wide(x))))))


class RowSlopes(nn.Module):
    """The same of sounds and of rows."""

    def __init__(self):
        super().__init__()
        self.sound, self.row = nn.Conv1d(3, 6, 3), nn.Linear(6, 6)
        self.each, self.all = nn.PReLU(6), nn.PReLU()

    def forward(self, x):
        sound = self.all(self.each(self.sound(x)))
        return sound, self.each(self.row(sound.mean(2)))
