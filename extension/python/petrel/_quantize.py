# SPDX-License-Identifier: Apache-2.0
"""Float models into programs of int8."""

import inspect
import os
import pathlib
import tempfile
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from petrel import _petrel
from petrel._backend_choice import BackendChoice, Backends, CompileSpecs
from petrel._export import Args, Model, Path, Program, archives_of, words_of
from petrel._export_call import export
from petrel._path import path_text

# An .npz or .npy file, an array of the only input, a tuple of arrays by position, or a
# dict of arrays by name of the input.
Samples = Any


def quantize(model: Model = None, args: Args = None, *,
             calibrate: Union[None, Samples, Sequence[Samples], Mapping[str, Any]] = None,
             methods: Optional[Mapping[str, Model]] = None,
             backend: Backends = "xnnpack",
             compile_specs: Optional[CompileSpecs] = None,
             scheme: str = "static-int8",
             group: int = 32,
             rounding: str = "nearest",
             ranges: str = "by-outputs",
             equalise: bool = False,
             correct_bias: bool = False,
             keep_float: Iterable[str] = (),
             min_sqnr: Optional[float] = None,
             accuracy: Any = None,
             max_drop: float = 0.5,
             record: Optional[Path] = None,
             report: Union[None, Path, Sequence[Path]] = None,
             **options: Any) -> Program:
    """Compiles float models into a program of integers.

    model, args, methods, backend, compile_specs
                      as in export()
    calibrate         samples, or a list or generator of them: paths of .npz or .npy files,
                      arrays, tuples or dicts of arrays; with one dimension more than the
                      input, in front, an array is as many samples. A dict by method where
                      there are `methods`, which run in its order: state that they share stays
                      between them. Other schemes than static-int8 need none
    scheme            "static-int8" takes scales from samples; "dynamic-int8" and
                      "dynamic-int4" take linear layers only, whose rows get scales at run
                      time, with weights of 8 or 4 bits; "half" computes products and
                      what lies between them in half precision
    group             elements of a row that share a scale in weights of 4 bits
    rounding          of weights of 4 bits: "nearest", or "least-error", so that layers err
                      least on the samples
    ranges            "min-max" shows all that was seen, "least-error" cuts numbers far out
                      where that costs less than their levels, "percentile=99.9" shows so many
                      percent above 0 and below; "by-outputs" tries these on some samples
    equalise          bring the channels between two products together, which leaves the
                      float model as it is
    correct_bias      take back by biases what integers shift channels by, on the samples
    keep_float        patterns of names of nodes that stay float
    min_sqnr          keep layers float until every output has this signal to noise, in dB
    accuracy          the label of each sample, the place of the largest element of the first
                      output, as an array or the path of an .npy file; of several methods as
                      {method: labels}. Layers stay float until no more than
    max_drop          percent of the samples are lost
    record            where to write what was chosen, as JSON, for export(quantize=...)
    report            where to write what became of each layer: a path that ends in .txt,
                      .json or .svg, or a list of such. Noise is that on kernels

    Other options are those of export(). Scales are chosen by running the models in this
    process; petrel.Error and ValueError name the sample, method and value.
    """
    known = inspect.signature(export).parameters
    if "quantize" in options:
        raise TypeError("quantize= is for export(); here the record is written to record=")
    torch_options = {key: value for key, value in options.items() if key not in known}
    export_options = {key: value for key, value in options.items() if key in known}
    with tempfile.TemporaryDirectory(prefix="petrel-") as folder:
        archives = archives_of(model, args, methods, torch_options, folder)
        choice = BackendChoice(backend, compile_specs)
        if calibrate is None and scheme == "static-int8":
            raise TypeError("calibrate= is required: the scheme static-int8 takes scales from "
                            "samples")
        labelled, labels = _labels(accuracy, list(archives), folder)
        words = _petrel.quantize_words(
            methods=archives, samples=_samples(calibrate, list(archives), methods, folder),
            backends=choice.for_all, method_backends=choice.by_method,
            options=words_of(choice, folder, export_options), keep_float=list(keep_float),
            ranges=ranges, scheme=scheme, group=group, rounding=rounding, equalise=equalise,
            correct_bias=correct_bias, min_sqnr=min_sqnr, labels_method=labelled, labels=labels, max_drop=max_drop)
        reports = _paths(report)
        _petrel.report_quantization(words, "", 0, reports)  # tells bad endings at once
        text = _petrel.calibrate(words)
        path = os.path.join(folder, "record.json")
        pathlib.Path(path).write_text(text)
        program = export(methods=archives, backend=backend, compile_specs=compile_specs,
                         quantize=path, **export_options)
        _write(program, words, text, path, record, reports, folder)
        return program


def _write(program: Program, words: _petrel.QuantizeWords, text: str, path: str,
           record: Optional[Path], reports: List[str], folder: str) -> None:
    """The record, which lies at `path`, and reports on it: all or none."""
    copies = [] if record is None else [(path, path_text(record), True)]
    if reports:
        written = [program.path, *program.external_paths]
        texts = _petrel.report_quantization(words, text, sum(map(os.path.getsize, written)),
                                            reports)
        for i, (destination, content) in enumerate(zip(reports, texts)):
            source = os.path.join(folder, f"report{i}")
            pathlib.Path(source).write_text(content)
            copies.append((source, destination, True))
    _petrel.copy_files(copies)


def _labels(accuracy: Any, names: List[str], folder: str) -> Tuple[str, str]:
    """The method, and the path of its labels; "" for none."""
    if accuracy is None:
        return "", ""
    if isinstance(accuracy, Mapping):
        if len(accuracy) != 1:
            raise TypeError(f"accuracy has labels of {len(accuracy)} methods, must have those of one")
        names = list(accuracy)
        accuracy = accuracy[names[0]]
    if len(names) != 1:
        raise TypeError("accuracy must be {method: labels} where there are several methods")
    if isinstance(accuracy, (str, os.PathLike)):
        return names[0], path_text(accuracy)
    import numpy
    path = os.path.join(folder, "labels.npy")
    numpy.save(path, numpy.asarray(accuracy))
    return names[0], path


def _paths(given: Union[None, Path, Sequence[Path]]) -> List[str]:
    if given is None:
        return []
    listed = [given] if isinstance(given, (str, os.PathLike)) else given
    return [path_text(path) for path in listed]


def _samples(calibrate: Any, names: List[str], methods: Optional[Mapping[str, Model]],
             folder: str) -> List[Tuple[str, List[str]]]:
    """Methods in the order in which they run, and paths of files."""
    if calibrate is None:
        return []
    if methods and isinstance(calibrate, Mapping):
        return [(name, _files(given, folder)) for name, given in calibrate.items()]
    if len(names) > 1:
        raise TypeError("calibrate must be a dict by method where there are several")
    return [(names[0], _files(calibrate, folder))]


def _files(given: Any, folder: str) -> List[str]:
    listed = list(given) if isinstance(given, (list, Iterator)) else [given]
    return [_file(samples, folder) for samples in listed]


def _file(samples: Samples, folder: str) -> str:
    if isinstance(samples, (str, os.PathLike)):
        return path_text(samples)
    import numpy
    if isinstance(samples, Mapping):
        arrays = {name: numpy.asarray(array) for name, array in samples.items()}
    else:
        listed = samples if isinstance(samples, tuple) else (samples,)
        arrays = {f"arr_{i}": numpy.asarray(array) for i, array in enumerate(listed)}
    descriptor, path = tempfile.mkstemp(suffix=".npz", dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        numpy.savez(file, **arrays)  # type: ignore[arg-type, unused-ignore]
    return path
