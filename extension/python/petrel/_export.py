# SPDX-License-Identifier: Apache-2.0
"""The compiler, and what it makes: _export_call.py has export() itself."""

import json
import os
import pathlib
import re
import shutil
import tempfile
import warnings
import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from petrel import _petrel
from petrel._backend_choice import BackendChoice
from petrel._option_words import option_words
from petrel._path import path_text
from petrel._planner import split_planner

_PROGRAM = "program.pte"  # in the folder of a Program

Path = Union[str, "os.PathLike[str]"]
# A path, a torch.export.ExportedProgram, a torch.nn.Module (with args), or a Module
# with its args and maybe options.
Model = Any
# Example inputs of a Module.
Args = Optional[Tuple[Any, ...]]


class Report(Dict[str, Any]):
    """What the compiler did, as the dict of `petrel export --json`; str() is for people."""

    def __init__(self, values: Mapping[str, Any], text: str) -> None:
        super().__init__(values)
        self._text = text

    def __str__(self) -> str:
        return self._text


class Program:
    """An exported program: a .pte and its external files, in a temporary folder.

    The folder is removed with the object, by the process that made it. A copy is the
    object itself; a pickle has the files in it.
    """

    def __init__(self, folder: str, report: Report, named: Iterable[str]) -> None:
        self._folder = folder
        self._report = report
        self._named = set(named)  # external files that options of export() name
        # Also at the end of the interpreter.
        self._remove = weakref.finalize(self, _remove_folder, folder, os.getpid())

    def __copy__(self) -> "Program":
        return self

    def __deepcopy__(self, memo: Any) -> "Program":
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        files = {os.path.basename(path): pathlib.Path(path).read_bytes()
                 for path in (self.path, *self.external_paths)}
        return _program_of, (files, self._report, self._named)

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

    def save(self, path: Path, *, replace_data: bool = False) -> None:
        """Writes the .pte to `path` and the external files beside it.

        All files appear complete, or none of them does. FileExistsError for an
        external file that a backend, and no option of export(), names and that is
        there with other contents, which may be another export's, unless replace_data.
        """
        target = pathlib.Path(path)
        copies = [(self.path, target, True)]
        for external in self.external_paths:
            name = os.path.basename(external)
            whole = re.sub(r"-\d{5}-of-\d{5}(?=\.ptd$)", "", name)
            is_named = name in self._named or whole in self._named
            copies.append((external, target.parent / name, replace_data or is_named))
        if len({destination for _, destination, _ in copies}) != len(copies):
            raise ValueError(f"'{target}' is the name of an external file, too")
        _petrel.copy_files([(path_text(source), path_text(destination), replaces)
                            for source, destination, replaces in copies])

    def __repr__(self) -> str:
        return f"<petrel.Program {[method['name'] for method in self._report['methods']]}>"


def _remove_folder(folder: str, owner: int) -> None:
    # The child of a fork has the object, too, and the parent needs the files.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _program_of(files: Mapping[str, bytes], report: Report, named: Iterable[str]) -> Program:
    """The one that was pickled."""
    folder = tempfile.mkdtemp(prefix="petrel-")
    program = Program(folder, report, named)
    for name, data in files.items():
        pathlib.Path(folder, name).write_bytes(data)
    return program


def _is_path(model: Model) -> bool:
    return isinstance(model, (str, bytes, os.PathLike))


def _archive(model: Model, options: Dict[str, Any], folder: str, method: str) -> str:
    """The path of an archive of the model, saved to `folder` if it is none."""
    args: Args = None
    if isinstance(model, tuple):
        if len(model) not in (2, 3):
            raise TypeError(f"method '{method}' is a tuple of {len(model)}, must be a model, or "
                            "(module, args) or (module, args, options)")
        if len(model) == 3:
            options = {**options, **model[2]}
        model, args = model[0], model[1]
    if _is_path(model):
        _no_options(method, "a path", args, options)
        return path_text(model)
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
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


def _no_options(method: str, kind: str, args: Args, options: Dict[str, Any]) -> None:
    """What is for torch.export.export must not be lost without a word."""
    if args is not None:
        raise TypeError(f"method '{method}' is {kind}, which takes no example inputs (args=)")
    if options:
        raise TypeError(f"method '{method}' is {kind}, which takes no option {next(iter(options))!r}")


def _placed(folder: str, option: str, value: Any) -> Any:
    """The value of an option, in which names of files are paths in `folder`."""
    if value is None or isinstance(value, bool):
        return value
    if option == "external-weights":
        return _external_path(folder, "external_weights", value)
    if option == "external":
        if not isinstance(value, Mapping):
            raise TypeError(f"external is {value!r}, must be a dict of file names by pattern")
        return [f"{glob}={_external_path(folder, option, file)}" for glob, file in value.items()]
    return value


def words_of(choice: BackendChoice, folder: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    """What the command would be given, by name of the option; files lie in `folder`."""
    _, options = split_planner(options)
    words: Dict[str, Any] = dict(choice.words())
    for name, value in options.items():
        option = name.replace("_", "-")
        of_option = option_words(option.replace("-", "_"), _placed(folder, option, value))
        if of_option is not None:
            words[option] = of_option
    return words


def _models(model: Model, args: Args,
            methods: Optional[Mapping[str, Model]]) -> Dict[str, Model]:
    """All that becomes a method."""
    models: Dict[str, Model] = dict(methods or {})
    if model is not None:
        if "forward" in models:
            raise ValueError("method 'forward' is given twice")
        models["forward"] = model if args is None else (model, args)
    elif args is not None:
        raise TypeError("there are example inputs (args=), but no model")
    if not models:
        raise ValueError("there is no model to export")
    return models


def archives_of(model: Model, args: Args, methods: Optional[Mapping[str, Model]],
                torch_export_options: Dict[str, Any], folder: str) -> Dict[str, str]:
    """The paths of archives by method, of which those that are made lie in `folder`."""
    return {
        name: _archive(given, torch_export_options, folder, name)
        for name, given in _models(model, args, methods).items()
    }


def compile_models(model: Model, args: Args, methods: Optional[Mapping[str, Model]],
                   choice: BackendChoice, options: Mapping[str, Any],
                   torch_export_options: Dict[str, Any]) -> Program:
    """export() with the options of `petrel export` by name."""
    _models(model, args, methods)  # what is wrong with them is said first
    planner, _ = split_planner(options)
    folder = tempfile.mkdtemp(prefix="petrel-")
    try:
        words = words_of(choice, folder, options)
        with tempfile.TemporaryDirectory(prefix="petrel-") as archives:
            paths = archives_of(model, args, methods, torch_export_options, archives)
            report, text, told = _petrel.export_files(
                methods=paths, output=os.path.join(folder, _PROGRAM), backends=choice.for_all,
                method_backends=choice.by_method, options=words, planner=planner)
        for warning in told:
            warnings.warn(warning, stacklevel=3)  # where export() is called
        external = options.get("external") or {}
        named = [options.get("external-weights"), *external.values()]
        return Program(folder, Report(json.loads(report), text), filter(None, named))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _external_path(folder: str, option: str, name: Path) -> str:
    name = os.fspath(name)
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{option} is {name!r}, must be a plain file name")
    if name == _PROGRAM:
        raise ValueError(f"{option} is {name!r}, which is the program itself")
    return os.path.join(folder, name)
