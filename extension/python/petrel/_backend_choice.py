# SPDX-License-Identifier: Apache-2.0
"""What export() takes for `backend` and `compile_specs`, as lists by method.

    "xnnpack"                                  for all methods
    ["xnnpack", Mine()]                        in order of priority
    None, []                                   kernels only
    {"decode": Mine(), None: ["xnnpack"]}      by method; None is for the others,
                                               which get "xnnpack" if it is missing,
                                               and gen_c() none
"""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from petrel._backend import Backend

Choice = Union[None, str, Backend, Sequence[Union[str, Backend]]]
Backends = Union[Choice, Mapping[Optional[str], Choice]]
SpecValues = Mapping[str, Union[bytes, str]]
# Of the only backend; or by the name or id of several.
CompileSpecs = Union[SpecValues, Mapping[str, SpecValues]]

DEFAULT = "xnnpack"

_Specs = List[Tuple[str, bytes]]
_Chosen = List[Tuple[Any, _Specs]]


def _owner(method: Optional[str]) -> str:
    return "all methods" if method is None else f"method {method!r}"


def _name(backend: Any) -> str:
    return backend if isinstance(backend, str) else backend.id


def _as_list(method: Optional[str], choice: Choice) -> List[Any]:
    if choice is None:
        return []
    if isinstance(choice, (list, tuple)):
        for i, item in enumerate(choice):
            if item is None or isinstance(item, (list, tuple, Mapping)):
                raise TypeError(f"backend {i} of {_owner(method)} is {item!r}, must be a name or a "
                                "petrel.Backend")
        return list(choice)
    if isinstance(choice, Mapping):
        raise TypeError(f"the backend of {_owner(method)} is {choice!r}, must be a name, a "
                        "petrel.Backend or a list of these")
    return [choice]


def _as_specs(specs: SpecValues) -> _Specs:
    pairs: _Specs = []
    for key, value in specs.items():
        if not isinstance(key, str) or not isinstance(value, (str, bytes, bytearray)):
            raise TypeError(f"compile spec {key!r} is {value!r}, must be text or bytes under a name")
        pairs.append((key, value.encode() if isinstance(value, str) else bytes(value)))
    return pairs


class BackendChoice:
    """`for_all` and `by_method`: lists of backends with their compile specs."""

    def __init__(self, backend: Backends, compile_specs: Optional[CompileSpecs],
                 default: Choice = DEFAULT) -> None:
        by_method: Dict[Optional[str], List[Any]] = {}
        if isinstance(backend, Mapping):
            for method, choice in backend.items():
                if method is not None and not isinstance(method, str):
                    raise TypeError(f"backends are chosen for method {method!r}, must be a name, "
                                    "or None for all other methods")
                by_method[method] = _as_list(method, choice)
            by_method.setdefault(None, _as_list(None, default))
        else:
            by_method[None] = _as_list(None, backend)
        specs = self._specs_by_name(by_method, compile_specs or {})
        chosen = {method: [(backend, specs.get(_name(backend), [])) for backend in backends]
                  for method, backends in by_method.items()}
        self.for_all: _Chosen = chosen.pop(None)
        self.by_method: Dict[str, _Chosen] = {
            method: choice for method, choice in chosen.items() if method is not None}

    @staticmethod
    def _specs_by_name(by_method: Mapping[Optional[str], List[Any]],
                       specs: CompileSpecs) -> Dict[str, _Specs]:
        names = sorted({_name(backend) for chosen in by_method.values() for backend in chosen})
        if not specs:
            return {}
        if not names:
            raise ValueError("there are compile specs, but there is no backend")
        if any(isinstance(value, Mapping) for value in specs.values()):
            by_name = {}
            for name, of_backend in specs.items():
                if name not in names:
                    raise ValueError(f"compile specs are for backend {name!r}, which is not used; "
                                     f"the backends are {names}")
                if not isinstance(of_backend, Mapping):
                    raise TypeError(f"compile specs of backend {name!r} are {of_backend!r}, must "
                                    "be a dict")
                by_name[name] = _as_specs(of_backend)
            return by_name
        if len(names) > 1:
            raise ValueError(f"compile spec {next(iter(specs))!r} names no backend, there are "
                             f"{names}; give a dict by backend")
        return {names[0]: _as_specs(specs)}  # type: ignore[arg-type]

    def words(self) -> Dict[str, List[bytes]]:
        """The choice as words of the options of `petrel export`."""
        backends: List[bytes] = []
        specs: Dict[str, _Specs] = {}
        for method, chosen in [("", self.for_all), *self.by_method.items()]:
            names = [_name(backend) for backend, _ in chosen] or ["none"]
            backends += [f"{method + '=' if method else ''}{name}".encode() for name in names]
            specs.update({_name(backend): of_backend for backend, of_backend in chosen})
        words = [f"{name}:{key}=".encode() + value
                 for name, of_backend in specs.items() for key, value in of_backend]
        return {"backend": backends, **({"compile-spec": words} if words else {})}
