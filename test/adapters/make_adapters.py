# SPDX-License-Identifier: Apache-2.0
"""Writes fixtures/: models with adapters, and what eager torch makes of them.

    python3 make_adapters.py     (torch 2.13.0, executorch 1.5.0, torchao 0.18.0, safetensors 0.8.0)

float.pt2, int8.pt2           the base with adapters that are zeros, in floats and in int8
one.safetensors, two...       adapters, under names as PEFT writes them
input.npy
float.base.npy, int8.base.npy              outputs of the base alone
float.one.npy, int8.one.npy, float.two...  of the base with an adapter merged into it; where
                                           the base is in int8, with the adapter beside it
"""

import pathlib
import sys

import numpy
import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models"))

import adapted  # noqa: E402
import neutral_archive  # noqa: E402

FOLDER = HERE / "fixtures"
SIZE, RANK = adapted.Size(layers=2, width=64), 4


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(7)
    inputs = (torch.randn(3, SIZE.width),)
    numpy.save(FOLDER / "input.npy", inputs[0].numpy())
    base, lora = adapted.network(SIZE, 0), adapted.network(SIZE, RANK)
    lora_int8 = adapted.quantised(lora, inputs)
    outputs = {"float.base": base(*inputs), "int8.base": lora_int8(*inputs)}
    for name, model in (("float", lora), ("int8", lora_int8)):
        neutral_archive.save(torch.export.export(model, inputs), FOLDER / f"{name}.pt2")
    for number, name in enumerate(("one", "two"), 1):
        weights = adapted.adapter(SIZE, RANK, number)
        save_file({f"base_model.model.{key}": value for key, value in weights.items()},
                  FOLDER / f"{name}.safetensors")
        outputs[f"float.{name}"] = adapted.merged(base, weights)(*inputs)
        outputs[f"int8.{name}"] = adapted.adapted(lora_int8, weights)(*inputs)
    for name, output in outputs.items():
        numpy.save(FOLDER / f"{name}.npy", output.detach().numpy())


if __name__ == "__main__":
    main()
