#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits classifier of the quickstart and writes its three files.

  digits.pt2   the trained network, saved by torch.export.save, static batch 1:
               input float32 [1, 1, 8, 8] with pixels in [0, 1], output float32
               [1, 10] with one score per digit
  digits.bin   the held-out images, 65 bytes each: 64 pixels row by row with
               values 0..16, then the label 0..9. Divide pixels by 16.
  digit.npy    the first held-out image as the network takes it, for the
               command line: petrel run digits.pte --input digit.npy

The images are scikit-learn's digits (1,797 of 8x8 pixels, from the UCI
repository). A fifth is held out before training and never looked at by it.

Run it with torch 2.13, numpy and scikit-learn installed:

  python3 train.py [--out FOLDER]

The archive that lies here went through test/models/neutral_archive.py, which
keeps the folders of a machine out of it.
"""

import argparse
import pathlib
import sys

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
SEED = 2
EPOCHS = 40
HELD_OUT = 360
ACCURACY_FLOOR = 0.97


def conv_block(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class DigitsNet(nn.Module):
    """Three convolutions, 8x8 -> 4x4 -> mean over space -> ten scores."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv_block(1, 16)
        self.body = conv_block(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.top = conv_block(32, 64)
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.score = nn.Linear(64, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.body(self.stem(image)))
        x = self.mean(self.top(x))
        return self.score(torch.flatten(x, 1))


def load_images() -> tuple[np.ndarray, np.ndarray]:
    """All images as uint8 [n, 8, 8] and labels, shuffled with a fixed seed."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    return digits.images[order].astype(np.uint8), digits.target[order].astype(np.uint8)


def as_input(images: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(images.astype(np.float32) / 16.0).unsqueeze(1)


def shifted(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Moves the whole batch by up to one pixel: digits are not always centred."""
    dy, dx = (int(v) for v in torch.randint(-1, 2, (2,), generator=generator))
    padded = nn.functional.pad(x, (1, 1, 1, 1))
    return padded[:, :, 1 + dy : 9 + dy, 1 + dx : 9 + dx]


def train(images: torch.Tensor, labels: torch.Tensor) -> DigitsNet:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # sums in a fixed order, so a rerun gives equal weights
    generator = torch.Generator().manual_seed(SEED)
    model = DigitsNet().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(labels), generator=generator).split(64):
            loss = nn.functional.cross_entropy(
                model(shifted(images[batch], generator)), labels[batch]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    images, labels = load_images()
    x, y = as_input(images), torch.from_numpy(labels.astype(np.int64))
    model = train(x[HELD_OUT:], y[HELD_OUT:])

    with torch.no_grad():
        accuracy = (model(x[:HELD_OUT]).argmax(1) == y[:HELD_OUT]).float().mean().item()
    print(f"held-out accuracy {100 * accuracy:.2f} % on {HELD_OUT} images")
    if accuracy < ACCURACY_FLOOR:
        print(f"accuracy is below {100 * ACCURACY_FLOOR:.0f} %", file=sys.stderr)
        return 1

    program = torch.export.export(model, (x[:1].clone(),))
    torch.export.save(program, out / "digits.pt2")
    records = np.concatenate(
        [images[:HELD_OUT].reshape(HELD_OUT, 64), labels[:HELD_OUT, None]], axis=1
    )
    (out / "digits.bin").write_bytes(records.tobytes())
    np.save(out / "digit.npy", x[:1].numpy())
    return 0


if __name__ == "__main__":
    sys.exit(main())
