# SPDX-License-Identifier: Apache-2.0
"""The compiler."""

import json
import os
import pathlib
import shutil
import tempfile
import warnings
import weakref
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from petrel import _petrel
from petrel._backend_choice import Backends, BackendChoice, CompileSpecs

_PROGRAM = "program.pte"  # in the folder of a Program

Path = Union[str, "os.PathLike[str]"]
# A path, a torch.export.ExportedProgram, a torch.nn.Module (with args), or a Module
# with its args and maybe options.
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
        return os.path.join(self._folder, _PROGRAM)

    @property
    def external_paths(self) -> List[str]:
        """Of the .ptd files, sorted by name."""
        names = sorted(os.listdir(self._folder))
        return [os.path.join(self._folder, name) for name in names if name != _PROGRAM]

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


def _archive(model: Model, options: Dict[str, Any], folder: str, method: str) -> str:
    """The path of an archive of the model, saved to `folder` if it is none."""
    args: Optional[tuple] = None
    if isinstance(model, tuple):
        if len(model) not in (2, 3):
            raise TypeError(f"method '{method}' is a tuple of {len(model)}, must be a model, or "
                            "(module, args) or (module, args, options)")
        if len(model) == 3:
            options = {**options, **model[2]}
        model, args = model[0], model[1]
    if _is_path(model):
        _no_options(method, "a path", args, options)
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
        if not isinstance(args, (tuple, list)):
            raise TypeError(f"the example inputs of method '{method}' are a {type(args).__name__}, "
                            "must be a tuple")
        model = torch.export.export(model, tuple(args), **options)
    elif isinstance(model, torch.export.ExportedProgram):
        _no_options(method, "an ExportedProgram", args, options)
    else:
        raise TypeError(f"method '{method}' is a {type(model).__name__}, must be a path, an "
                        "ExportedProgram or a Module")
    path = os.path.join(folder, f"{len(os.listdir(folder))}.pt2")
    torch.export.save(model, path)
    return path


def _no_options(method: str, kind: str, args: Optional[tuple], options: Dict[str, Any]) -> None:
    """What is for torch.export.export must not be lost without a word."""
    if args is not None:
        raise TypeError(f"method '{method}' is {kind}, which takes no example inputs (args=)")
    if options:
        raise TypeError(f"method '{method}' is {kind}, which takes no option {next(iter(options))!r}")


def export(model: Model = None, args: Optional[tuple] = None, *,
           backend: Backends = "xnnpack",
           methods: Optional[Mapping[str, Model]] = None,
           compile_specs: Optional[CompileSpecs] = None,
           whole_methods: bool = False,
           partition: str = "cost",
           external_weights: Optional[str] = None,
           external: Optional[Mapping[str, str]] = None,
           shard_bytes: int = 0,
           weight_keys: str = "content",
           bind_data: bool = False,
           allow_petrel_ops: bool = False,
           allow_missing_kernels: bool = False,
           reorder: bool = False,
           **torch_export_options: Any) -> Program:
    """Compiles a model, which becomes method "forward", or several `methods`.

    model             the path of a .pt2, a torch.export.ExportedProgram, or a
                      torch.nn.Module with its example inputs in `args`
    methods           models by method name; a Module goes in as (module, args), or
                      (module, args, options) with options for torch.export.export
    backend           "xnnpack", a petrel.Backend, or a list of these in order of
                      priority: each takes what those before it left; None for
                      kernels only; or a dict of all that by method, in which None
                      is for methods that it does not name
    compile_specs     a dict for the backend; for several, dicts by name or id
    whole_methods     each backend gets whole methods, or it is an error
    partition         "cost" leaves to kernels what they do faster, "supported"
                      delegates all that backends take
    external_weights  name of a .ptd file that all weights go to
    external          names of .ptd files by pattern, {"encoder.*": "encoder.ptd"}:
                      weights whose names match go there, the first that matches
                      counts
    shard_bytes       cut .ptd files so that none is larger; 0 is no limit
    weight_keys       "content", or "name": other weights can be given later
    bind_data         the program takes only these bytes from data files
    allow_petrel_ops  operators that only Petrel's runtime has, where they are faster
    allow_missing_kernels
                      the program may call kernels that this package does not have:
                      a warning instead of an error
    reorder           run operators in the order that needs least memory

    Other options, such as dynamic_shapes, go to torch.export.export for every
    Module.
    """
    models: Dict[str, Model] = dict(methods or {})
    if model is not None:
        if "forward" in models:
            raise ValueError("method 'forward' is given twice")
        if args is not None:
            model = (model, args)
        models["forward"] = model
    elif args is not None:
        raise TypeError("there are example inputs (args=), but no model")
    if not models:
        raise ValueError("there is no model to export")
    for name, allowed, value in (("partition", ("cost", "supported"), partition),
                                 ("weight_keys", ("content", "name"), weight_keys)):
        if value not in allowed:
            raise ValueError(f"{name} is {value!r}, must be {allowed[0]!r} or {allowed[1]!r}")
    if not 0 <= shard_bytes < 1 << 63:
        raise ValueError(f"shard_bytes is {shard_bytes}, must be in [0, 2^63)")
    choice = BackendChoice(backend, compile_specs)
    folder = tempfile.mkdtemp(prefix="petrel-")
    try:
        with tempfile.TemporaryDirectory(prefix="petrel-") as archives:
            paths = {
                name: _archive(given, torch_export_options, archives, name)
                for name, given in models.items()
            }
            report, text, missing = _petrel.export_files(
                methods=paths, output=os.path.join(folder, _PROGRAM),
                external_weights=("" if external_weights is None else
                                  _external_path(folder, "external_weights", external_weights)),
                external=[(glob, _external_path(folder, "external", name))
                          for glob, name in (external or {}).items()],
                shard_bytes=shard_bytes, backends=choice.for_all,
                method_backends=choice.by_method, whole_methods=whole_methods,
                delegates_supported=partition == "supported",
                weight_names=weight_keys == "name", bind_data=bind_data,
                recipe=choice.recipe(whole_methods, partition, allow_petrel_ops),
                allow_petrel_ops=allow_petrel_ops,
                allow_missing_kernels=allow_missing_kernels, reorder=reorder)
        if missing:
            warnings.warn(missing, stacklevel=2)
        return Program(folder, Report(json.loads(report), text))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _external_path(folder: str, option: str, name: str) -> str:
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{option} is {name!r}, must be a plain file name")
    if name == _PROGRAM:
        raise ValueError(f"{option} is {name!r}, which is the program itself")
    return os.path.join(folder, name)
