#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes varying/*: the models of varying_models.py with calls and eager results.

  python3 make_varying_fixtures.py        (torch 2.13)

  NAME.pt2  NAME.call_K.input_I.npy  NAME.call_K.output_O.npy
"""

import pathlib

import numpy as np
import torch

import neutral_archive
import varying_models

OUT = pathlib.Path(__file__).parent / "varying"


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name in varying_models.MODELS:
        program, calls, results = varying_models.export(name)
        neutral_archive.save(program, OUT / f"{name}.pt2")
        for k, (arguments, outputs) in enumerate(zip(calls, results)):
            for i, tensor in enumerate(arguments):
                np.save(OUT / f"{name}.call_{k}.input_{i}.npy", tensor.numpy())
            for i, output in enumerate(outputs):
                if isinstance(output, torch.Tensor):
                    output = output.detach().numpy()
                np.save(OUT / f"{name}.call_{k}.output_{i}.npy", np.asarray(output, order="C"))


if __name__ == "__main__":
    main()
