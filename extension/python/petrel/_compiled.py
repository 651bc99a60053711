# SPDX-License-Identifier: Apache-2.0
"""Models that are code."""

import dataclasses
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union, cast

from petrel import _petrel
from petrel._path import path_text


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """What is known of an input or output."""
    name: str  # in the model
    c_name: str  # in C
    dtype: str
    shape: Tuple[int, ...]
    dim_order: Tuple[int, ...]


class CompiledMethod:
    """One method of a compiled module; call it with its inputs in order, or by their names."""

    def __init__(self, module: Union[_petrel.CompiledModule, _petrel.Device], name: str) -> None:
        self._module = module
        self.name = name
        self.inputs = [TensorInfo(*info) for info in module.inputs(name)]
        self.outputs = [TensorInfo(*info) for info in module.outputs(name)]

    def __call__(self, *args: Any, **kwargs: Any) -> List[Any]:
        """The outputs as NumPy arrays of their own.

        Inputs are arrays with the buffer protocol (NumPy) or DLPack (torch), of the
        dtypes and shapes of `inputs`. Keywords are names in the model, or in C.
        """
        return self._module.run(self.name, self._in_order(args, kwargs) if kwargs else args)

    def _in_order(self, args: Tuple[Any, ...], by_name: Dict[str, Any]) -> Tuple[Any, ...]:
        """All inputs. A TypeError for a name that there is not, or one that is given twice."""
        given = dict(enumerate(args))
        for name, value in by_name.items():
            index = next((i for i, info in enumerate(self.inputs)
                          if name in (info.name, info.c_name)), None)
            if index is None:
                raise TypeError(f"method {self.name!r} has no input {name!r}; the inputs are "
                                f"{[info.name for info in self.inputs]}")
            if index in given:
                raise TypeError(f"input {self.inputs[index].name!r} is given twice")
            given[index] = value
        missing = [info.name for i, info in enumerate(self.inputs) if i not in given]
        if missing:
            raise TypeError(f"inputs {missing} of method {self.name!r} are not given")
        return tuple(given[i] for i in sorted(given))

    def __repr__(self) -> str:
        return f"<petrel.CompiledMethod {self.name!r}>"


class CompiledModule(Mapping[str, CompiledMethod]):
    """The methods of a compiled module by name, which share its state.

    May be used by several threads: calls of one module wait for each other, those of
    different ones, of one file too, run at the same time.
    """

    def __init__(self, module: Union[_petrel.CompiledModule, _petrel.Device]) -> None:
        self._module = module
        self._names = module.method_names()

    @property
    def name(self) -> str:
        """That of gen-c --name."""
        return self._module.name()

    @property
    def sha256(self) -> str:
        """Of the C files that compute, as in manifest.json."""
        return self._module.sha256()

    def reset_state(self) -> None:
        """All state as it was when the model was exported."""
        self._module.reset_state()

    def __getitem__(self, name: str) -> CompiledMethod:
        if name not in self._names:
            raise KeyError(f"there is no method {name!r}; the methods are {self._names}")
        return CompiledMethod(self._module, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<petrel.CompiledModule {self.name!r} {self._names}>"


def load_compiled(path: Union[str, "os.PathLike[str]"]) -> CompiledModule:
    """Opens a model that `petrel gen-c --compile so` made: libNAME.so.

    Such a file is code: it does in this process what its maker likes, so open only what
    you trust. That it is whole, and for this machine and version, is checked before. An
    Error when it is not, or is another library; load() opens programs, which are data.
    """
    return CompiledModule(_petrel.open_compiled(path_text(path)))


class Device(CompiledModule):
    """A model on a device, whose methods are called as those of a compiled module."""

    @property
    def board(self) -> str:
        """What the firmware calls its board."""
        return cast(_petrel.Device, self._module).board()

    def __repr__(self) -> str:
        return f"<petrel.Device {self.name!r} on {self.board!r} {self._names}>"


def open_device(spec: str, *, patience: float = 60.0,
                max_input_bytes: Optional[int] = None) -> Device:
    """Connects to firmware that answers as `petrel gen-c --device-rpc` makes it.

    `spec` is exec:COMMAND, serial:PATH[@BAUD], tcp:HOST:PORT or unix:PATH. A device that
    computes for `patience` seconds without a sign of life is given up: an Error, as for all
    else that goes wrong. So is one that says it has inputs and outputs of more than
    `max_input_bytes`; None is 1 GiB.
    """
    return Device(_petrel.open_device(spec, patience, max_input_bytes))
