# SPDX-License-Identifier: Apache-2.0
"""What the author of a backend subclasses.

A backend has two halves that share a format. The compiler's half chooses nodes
(Partitioner) and makes payloads of them (Backend); it is given to export(). The
runtime's half executes payloads; in Python that is RuntimeBackend, given to
load(), for tests and prototypes. examples/python_backend is a whole one.
"""

import dataclasses
from typing import Any, Dict, List, Optional, Tuple, Union

from petrel import _petrel
from petrel._error import Error

CompileSpecs = List[Tuple[str, bytes]]


@dataclasses.dataclass(frozen=True)
class Subprogram:
    """One partition, cut out of its method.

    The inputs of the graph are the arguments of the delegate in order, its
    outputs the results.
    """
    method: str
    index: int  # among the partitions of the method
    graph: _petrel.Graph
    compile_specs: CompileSpecs


@dataclasses.dataclass(frozen=True)
class PreprocessResult:
    payload: bytes
    # Id of the delegate's own -> name of the value in the graph.
    debug_handles: Dict[int, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class GroupCosts:
    """What a group of nodes takes in microseconds, by constants that were measured once."""
    kernels: float
    delegated: float  # with copies into other layouts, without the call
    call: float = 0  # of a delegate
    layout_copies: int = 0
    copied_elements: int = 0
    nodes: str = ""  # "3 elementwise nodes, 1,200 elements", for the report


class Partitioner:
    """Which nodes a backend takes."""

    # True when the runtime's half takes inputs of any sizes within the bounds and
    # resizes the results; a RuntimeBackend cannot. False: nodes whose sizes vary
    # are not offered.
    takes_varying_sizes: bool = False

    def supports(self, node: _petrel.Node) -> Union[bool, str]:
        """True to take the node; else False, or words that say why not."""
        raise NotImplementedError(f"{type(self).__name__} does not define supports")

    def keeps(self, op: str) -> bool:
        """True for operators, such as "aten.gelu.default", to be left whole.

        Others may reach supports() decomposed into simpler ones.
        """
        del op
        return False

    def group(self, node: _petrel.Node) -> str:
        """Nodes share a partition only if this is the same for them."""
        del node
        return ""

    def costs(self, partition: _petrel.Graph) -> Optional[GroupCosts]:
        """What a group costs, of which `partition` is a copy: it stays where delegating
        it is no cheaper. None if the backend cannot tell: all of it is delegated."""
        del partition
        return None

    def worthwhile(self, nodes: List[_petrel.Node]) -> bool:
        """False for a connected group that is not worth a delegate."""
        del nodes
        return True


class Backend:
    """The compiler's half of a backend: defines id, partitioner, and one of

    preprocess      one partition becomes one payload
    preprocess_all  all partitions of all methods at once, to share what is equal
    """

    # The name by which the runtime finds its half.
    id: str
    partitioner: Partitioner
    # Who runs the partitions of generated C, in the word that `targets` of its pools use: "c" is
    # the processor that also runs what is not delegated.
    target: str = "c"

    def check_compile_specs(self, specs: CompileSpecs) -> None:
        """Raises when there is a spec that the backend does not know."""
        if specs:
            raise Error(f"backend '{self.id}' does not know compile spec '{specs[0][0]}', it takes none",
                        "InvalidArgument")

    def preprocess(self, partition: Subprogram,
                   store: _petrel.NamedBlobStore) -> Union[bytes, PreprocessResult]:
        raise NotImplementedError(
            f"{type(self).__name__} defines neither preprocess nor preprocess_all")

    def preprocess_all(
        self, programs: Dict[str, List[Subprogram]], store: _petrel.NamedBlobStore
    ) -> Dict[str, List[Union[bytes, PreprocessResult]]]:
        """One result for each Subprogram, in the same order."""
        return {
            method: [self.preprocess(partition, store) for partition in partitions]
            for method, partitions in programs.items()
        }


class RuntimeBackend:
    """The runtime's half of a backend, in Python: for tests and prototypes."""

    id: str

    def is_available(self) -> bool:
        return True

    def init(self, payload: bytes, named_data: Optional[_petrel.NamedData], *,
             compile_specs: CompileSpecs, method: str) -> Any:
        """Whatever execute() needs to know the partition again.

        named_data, None if the program has none, can be read during the call.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define init")

    def execute(self, handle: Any, args: List[Any]) -> None:
        """Reads the inputs, which come first in args, and writes into the outputs.

        Tensors are arrays over the memory of the method: results are written with
        `out[...] = result`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define execute")

    def destroy(self, handle: Any) -> None:
        """Called once for every handle."""
