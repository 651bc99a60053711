# SPDX-License-Identifier: Apache-2.0
"""The compiler."""

import json
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from petrel import _petrel
from petrel._backend import Backend

Path = Union[str, "os.PathLike[str]"]
# A path, a torch.export.ExportedProgram, a torch.nn.Module (with args), or a pair
# of a Module and its args.
Model = Any


class Report(Dict[str, Any]):
    """What the compiler did, as the dict of `petrel export --json`; str() is for people."""

    def __init__(self, values: Mapping[str, Any], text: str) -> None:
        super().__init__(values)
        self._text = text

    def __str__(self) -> str:
        return self._text


class Program:
    """An exported program: a .pte and its external files, in a temporary folder.

    The folder is removed with the object.
    """

    def __init__(self, folder: str, report: Report) -> None:
        self._folder = folder
        self._report = report
        # Also at the end of the interpreter.
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @property
    def path(self) -> str:
        """Of the .pte, as long as the object lives."""
        return os.path.join(self._folder, "program.pte")

    @property
    def external_paths(self) -> List[str]:
        """Of the .ptd files, sorted by name."""
        names = sorted(os.listdir(self._folder))
        return [os.path.join(self._folder, name) for name in names if name != "program.pte"]

    def report(self) -> Report:
        return self._report

    def save(self, path: Path) -> None:
        """Writes the .pte to `path` and the external files beside it.

        All files appear complete, or none of them does.
        """
        target = pathlib.Path(path)
        copies = [(self.path, target)]
        for external in self.external_paths:
            copies.append((external, target.parent / os.path.basename(external)))
        if len({destination for _, destination in copies}) != len(copies):
            raise ValueError(f"'{target}' is the name of an external file, too")
        _copy_all(copies)

    def __repr__(self) -> str:
        return f"<petrel.Program {[method['name'] for method in self._report['methods']]}>"


def _copy_all(copies: List[Tuple[str, pathlib.Path]]) -> None:
    """Copies files to temporary names, then renames them all."""
    written: List[Tuple[str, pathlib.Path]] = []
    try:
        for source, destination in copies:
            handle, name = tempfile.mkstemp(prefix=f".{destination.name}.",
                                            dir=destination.parent)
            written.append((name, destination))
            with os.fdopen(handle, "wb") as out, open(source, "rb") as bytes_in:
                shutil.copyfileobj(bytes_in, out, 1 << 20)
                mask = os.umask(0)
                os.umask(mask)
                os.fchmod(out.fileno(), 0o666 & ~mask)
        while written:
            os.replace(*written[0])
            written.pop(0)
    finally:
        for name, _ in written:
            os.unlink(name)


def _is_path(model: Model) -> bool:
    return isinstance(model, (str, os.PathLike))


def _archive(model: Model, args: Optional[tuple], options: Dict[str, Any], folder: str,
             method: str) -> str:
    """The path of an archive of the model, saved to `folder` if it is none."""
    if isinstance(model, tuple):
        model, args = model
    if _is_path(model):
        return os.fsdecode(model)
    try:
        import torch
    except ImportError as missing:
        raise TypeError(
            f"method '{method}' is a {type(model).__name__}; without torch it must be the path of "
            "a file that torch.export.save wrote") from missing
    if isinstance(model, torch.nn.Module):
        if args is None:
            raise TypeError(f"method '{method}' is a Module; its example inputs are missing (args=)")
        model = torch.export.export(model, tuple(args), **options)
    if not isinstance(model, torch.export.ExportedProgram):
        raise TypeError(f"method '{method}' is a {type(model).__name__}, must be a path, an "
                        "ExportedProgram or a Module")
    path = os.path.join(folder, f"{len(os.listdir(folder))}.pt2")
    torch.export.save(model, path)
    return path


def export(model: Model = None, args: Optional[tuple] = None, *,
           backend: Union[None, str, Backend] = "xnnpack",
           methods: Optional[Mapping[str, Model]] = None,
           compile_specs: Optional[Mapping[str, Union[bytes, str]]] = None,
           external_weights: Optional[str] = None, reorder: bool = False,
           **torch_export_options: Any) -> Program:
    """Compiles a model, which becomes method "forward", or several `methods`.

    model             the path of a .pt2, a torch.export.ExportedProgram, or a
                      torch.nn.Module with its example inputs in `args`
    methods           models by method name; a Module goes in as (module, args)
    backend           "xnnpack", a petrel.Backend, or None for kernels only
    compile_specs     for the backend
    external_weights  name of a .ptd file that all weights go to
    reorder           run operators in the order that needs least memory

    Other options, such as dynamic_shapes, go to torch.export.export.
    """
    models: Dict[str, Model] = dict(methods or {})
    if model is not None:
        if "forward" in models:
            raise ValueError("method 'forward' is given twice")
        if args is not None:
            model = (model, args)
        models["forward"] = model
    if not models:
        raise ValueError("there is no model to export")
    specs = [(key, value.encode() if isinstance(value, str) else bytes(value))
             for key, value in (compile_specs or {}).items()]
    folder = tempfile.mkdtemp(prefix="petrel-")
    try:
        with tempfile.TemporaryDirectory(prefix="petrel-") as archives:
            paths = {
                name: _archive(given, None, torch_export_options, archives, name)
                for name, given in models.items()
            }
            report, text = _petrel.export_files(
                methods=paths, output=os.path.join(folder, "program.pte"),
                external_weights=_external_path(folder, external_weights), backend=backend,
                compile_specs=specs, reorder=reorder)
        return Program(folder, Report(json.loads(report), text))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _external_path(folder: str, name: Optional[str]) -> str:
    if name is None:
        return ""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"external_weights is {name!r}, must be a plain file name")
    return os.path.join(folder, name)
