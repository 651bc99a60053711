# SPDX-License-Identifier: Apache-2.0
"""What people do who ship a model as a library: `petrel gen-c --compile so`, and a call.

  generated_c.compare_model(interop, "minilm", examples)    three rows of the table of run.py
"""

import pathlib

import numpy as np

from command import Failed, command


def _run(interop, words, examples):
    def one(example, out: pathlib.Path) -> None:
        inputs = [w for f in example.inputs for w in ("--input", f)]
        command(interop.petrel, "run", *words, *inputs, "--output-dir", out)

    return interop.files_of(one, examples)


def _check_same(ours: list[list[np.ndarray]], reference: list[list[np.ndarray]]) -> None:
    for e, outputs in enumerate(reference):
        for i, (a, b) in enumerate(zip(ours[e], outputs, strict=True)):
            if a.dtype != b.dtype or a.tobytes() != b.tobytes():
                raise Failed(f"input {e}: output {i} differs from the reference kernels'")


def compare_model(interop, model: str, examples) -> None:
    """With eager torch by the rule of agreement.py, and with the reference kernels bit for bit."""
    folder = interop.work / "c" / model
    library = folder / f"lib{model}.so"
    pte = interop.ours / f"{model}.none.inline.pte"
    label = f"{model:12s} C              "

    def made() -> str:
        command(interop.petrel, "gen-c", interop.models / f"{model}.pt2", "-o", folder, "--name",
                model, "--compile", "so")
        return f"{library.stat().st_size} bytes"

    def same_bits() -> str:
        _check_same(_run(interop, ["--compiled", library], examples),
                    _run(interop, [pte, "--kernels", "reference"], examples))
        return f"{len(examples)} inputs"

    def near_torch() -> str:
        return interop.compare(lambda *_: _run(interop, ["--compiled", library], examples), None,
                               examples)

    is_made = interop.table.row(f"{label} petrel gen-c    ", made)
    for what, check in (("petrel -> .so   ", near_torch), ("same bits       ", same_bits)):
        interop.table.row(f"{label} {what}", check if is_made else interop.not_exported)
