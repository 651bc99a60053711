#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models as .pt2 with inputs and eager torch's outputs beside them.

  export_models.py --out DIR [NAME ...]

  DIR/NAME.pt2                   torch.export.save
  DIR/NAME.input_EXAMPLE_I.npy   argument I of example EXAMPLE (0 or 1)
  DIR/NAME.output_EXAMPLE_I.npy  output I that eager torch gives for it
"""

import argparse
import pathlib

import numpy as np
import torch

from models import MODELS, Model


def write(name: str, model: Model, out: pathlib.Path) -> None:
    torch.export.save(model.program(), out / f"{name}.pt2")
    for example, inputs in enumerate(model.inputs):
        for i, tensor in enumerate(inputs):
            np.save(out / f"{name}.input_{example}_{i}.npy", tensor.contiguous().numpy())
        for i, tensor in enumerate(model.expected(example)):
            np.save(out / f"{name}.output_{example}_{i}.npy", tensor.contiguous().numpy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    args = parser.parse_args()
    for name in args.names:
        if name not in MODELS:
            parser.error(f"unknown model '{name}', known: {', '.join(MODELS)}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.names or MODELS:
        write(name, MODELS[name](), args.out)
        print(args.out / f"{name}.pt2")


if __name__ == "__main__":
    main()
