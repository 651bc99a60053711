# SPDX-License-Identifier: Apache-2.0
"""Two programs compared, value by value."""

import json
import os
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from petrel import _petrel
from petrel._export import Path, Program, Report
from petrel._path import path_text

# A .pte, an archive, which is compiled for kernels, or what export() returned.
Compared = Union[Path, Program]


def diff(first: Compared, second: Compared, inputs: Any, *, method: str = "forward",
         data: Iterable[Path] = (), second_data: Iterable[Path] = (),
         atol: Optional[float] = None, rtol: Optional[float] = None,
         min_sqnr: Optional[float] = None) -> Report:
    """Runs two programs on the same inputs and says where they part.

    first, second     paths of programs or of .pt2 archives, or Programs with their data
    inputs            an array of the only input, a tuple of arrays by position, or a dict of
                      arrays by name
    data, second_data paths of .ptd files of each
    atol, rtol, min_sqnr
                      as of `petrel diff`

    Returns the dict of `petrel diff --json`: "equal", "values" with the signal to noise of each,
    "culprits", ...; str() of it is the table for people.
    """
    import numpy
    if isinstance(inputs, Mapping):
        arrays = {str(name): numpy.asarray(array) for name, array in inputs.items()}
    else:
        listed = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        arrays = {str(i): numpy.asarray(array) for i, array in enumerate(listed)}
    with tempfile.TemporaryDirectory(prefix="petrel-") as folder:
        paths: Dict[str, str] = {}
        for name, array in arrays.items():
            paths[name] = os.path.join(folder, f"{len(paths)}.npy")
            numpy.save(paths[name], array)
        told, text = _petrel.diff(first=_side(first, data), second=_side(second, second_data),
                                  method=method, inputs=paths, atol=atol, rtol=rtol,
                                  min_sqnr=min_sqnr)
    return Report(json.loads(told), text)


def _side(program: Compared, data: Iterable[Path]) -> Tuple[str, List[str]]:
    files = [path_text(path) for path in data]
    if isinstance(program, Program):
        return program.path, program.external_paths + files
    return path_text(program), files
