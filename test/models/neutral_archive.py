#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saves archives that do not tell in which folder they were made.

  neutral_archive.py FILE.pt2 ...      rewrites archives in place

torch.export.save writes the frames of the traced code, absolute paths that
name the folders and often the user of a machine. Here a file of this tree is
called by its path in the tree, one of an installed package from site-packages
on, any other by its name. Weights and everything else stay as they were:

  File "/home/me/petrel/test/models/decoder.py", line 12, in forward
  File "test/models/decoder.py", line 12, in forward
"""

import json
import os
import pathlib
import re
import sys
import tempfile
from typing import Any

import torch

TREE = pathlib.Path(__file__).resolve().parents[2]
FRAME = re.compile(r'(?<=File ")(/[^"]*)(?=", line )')


def neutral_path(path: str) -> str:
    parts = pathlib.PurePosixPath(path).parts[1:]
    if "site-packages" in parts:
        return "/".join(parts[parts.index("site-packages"):])
    # The tree may have stood in another folder when the archive was made.
    for start in range(len(parts)):
        if (TREE / pathlib.Path(*parts[start:])).is_file():
            return "/".join(parts[start:])
    return parts[-1]


def _neutral(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _neutral(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_neutral(item) for item in value]
    if isinstance(value, str):
        return FRAME.sub(lambda frame: neutral_path(frame[1]), value)
    return value


def rewrite(path: str | os.PathLike) -> None:
    """Rewrites the frames in an archive, all else is copied byte for byte."""
    path = pathlib.Path(path)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        # The folder inside of an archive is called like the file.
        new = pathlib.Path(folder) / path.name
        _copy(torch._C.PyTorchFileReader(str(path)), torch._C.PyTorchFileWriter(str(new)))
        new.replace(path)


def _copy(reader: Any, writer: Any) -> None:
    for record in reader.get_all_records():
        if record == ".data/serialization_id":  # the writer makes its own
            continue
        data = reader.get_record(record)
        if record.startswith("models/"):
            data = json.dumps(_neutral(json.loads(data))).encode()
        writer.write_record(record, data, len(data))
    writer.write_end_of_file()


def save(program: torch.export.ExportedProgram, path: str | os.PathLike) -> None:
    torch.export.save(program, path)
    rewrite(path)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        rewrite(argument)
