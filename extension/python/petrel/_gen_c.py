# SPDX-License-Identifier: Apache-2.0
"""Models as C: _gen_c_call.py has gen_c() itself."""

import json
import pathlib
import tempfile
import warnings
from typing import Any, Dict, Mapping, Optional

from petrel import _petrel
from petrel._backend_choice import BackendChoice
from petrel._export import Args, Model, Path, archives_of
from petrel._option_words import option_words
from petrel._path import path_text
from petrel._planner import split_planner


def generate_files(model: Model, args: Args, methods: Optional[Mapping[str, Model]],
                   output: Path, choice: BackendChoice, options: Mapping[str, Any],
                   torch_export_options: Dict[str, Any]) -> Dict[str, Any]:
    """gen_c() with the options of `petrel gen-c` by name."""
    planner, options = split_planner(options)
    given = {name: option_words(name.replace("-", "_"), value) for name, value in options.items()}
    with tempfile.TemporaryDirectory(prefix="petrel-") as archives:
        told = _petrel.gen_c_files(
            methods=archives_of(model, args, methods, torch_export_options, archives),
            output=path_text(output), backends=choice.for_all, method_backends=choice.by_method,
            options={name: words for name, words in given.items() if words is not None},
            planner=planner)
    for note in told:
        warnings.warn(note, stacklevel=3)  # where gen_c() is called
    manifest: Dict[str, Any] = json.loads(
        pathlib.Path(output, "manifest.json").read_text(encoding="utf-8"))
    return manifest
