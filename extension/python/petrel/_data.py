# SPDX-License-Identifier: Apache-2.0
"""The data of programs in files: `petrel data` as functions.

Programs whose arenas need more than `max_arena_bytes` are refused, as by
`petrel.load`.
"""

import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from petrel import _petrel
from petrel._backend_choice import Backends, BackendChoice, CompileSpecs
from petrel._export import Args, Model, archives_of
from petrel._path import path_text

Path = Union[str, "os.PathLike[str]"]


def list_data(path: Path, *, max_arena_bytes: Optional[int] = None) -> List[Dict[str, Any]]:
    """What data a .pte, .ptd or .safetensors file has or needs, as a list of dicts.

    "key", "bytes", "place" and, where it is known, "layout" with "dtype", "sizes"
    and "dim_order". The place is "named" or "constant" in a program, "outside" for
    what it needs from a data file, and "file" in a data file.
    """
    entries: List[Dict[str, Any]] = json.loads(_petrel.list_data(
        path_text(path), max_arena_bytes))["entries"]
    return entries


def split_data(program: Path, output: Path, data_file: Path, keys: str = "*", *,
               max_arena_bytes: Optional[int] = None) -> Dict[str, Any]:
    """Moves data whose keys match the pattern `keys` out of a program.

    Writes the program without it to `output` and the data to `data_file`. The
    program computes the same wherever its data lies. Returns "keys" and "bytes"
    that were moved, and "still_outside": keys that are in no file that was given.
    """
    return _petrel.split_data(path_text(program), path_text(output), path_text(data_file),
                              keys, max_arena_bytes)


def merge_data(program: Path, data_files: Sequence[Path], output: Path, *,
               max_arena_bytes: Optional[int] = None) -> Dict[str, Any]:
    """Takes data files into a program, which is written to `output`."""
    return _petrel.merge_data(path_text(program), [path_text(file) for file in data_files],
                              path_text(output), max_arena_bytes)


def build_data(program: Path, output: Path, model: Model = None, *, args: Args = None,
               methods: Optional[Mapping[str, Model]] = None, keys: str = "*",
               renames: Optional[Mapping[str, str]] = None, backend: Backends = "xnnpack",
               compile_specs: Optional[CompileSpecs] = None,
               max_arena_bytes: Optional[int] = None) -> Dict[str, Any]:
    """Makes other weights for a program that was exported with weight_keys="name".

    The model, or `methods` by name, is what export() takes, with other weights; the
    backends must be those of the export. Writes to `output` the weights whose names
    match the pattern `keys`. The model may be a .safetensors or .ptd file, where keys
    say all about how weights are made of its tensors; in their names the values of
    `renames` take the place of its keys, in order. Returns how many "keys" and "bytes" that are.
    """
    choice = BackendChoice(backend, compile_specs)
    with tempfile.TemporaryDirectory(prefix="petrel-") as folder:
        return _petrel.build_data(
            methods=archives_of(model, args, methods, {}, folder), program=path_text(program),
            output=path_text(output), keys=keys,
            renames=list((renames or {}).items()), backends=choice.for_all,
            method_backends=choice.by_method, words=choice.words(),
            max_arena_bytes=max_arena_bytes)
