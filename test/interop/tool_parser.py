# SPDX-License-Identifier: Apache-2.0
"""The options that tools share: binaries of this tree and names of models.

  parser = ToolParser(__doc__, "petrel", "method-memory", names=["digits"])
  parser.add_argument("--rounds", type=int, default=7)
  args = parser.parse_args()     # args.petrel is there, args.names are known

Binaries are those that Bazel built, or what --petrel and so on say.
"""

import argparse
import os
import pathlib
from typing import Any, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = {
    "adapter-memory": "//test/perf:adapter_memory",
    "in-turn": "//test/perf:in_turn",
    "petrel": "//extension/cli:petrel",
    "machine-limits": "//test/perf:machine_limits",
    "load-times": "//test/perf:load_times",
    "method-memory": "//test/perf:method_memory",
    "swap-time": "//test/perf:swap_time",
    "two-modules": "//test/perf:two_modules",
}


class ToolParser(argparse.ArgumentParser):

    def __init__(self, doc: str, *binaries: str, names: Sequence[str] = (), **more: Any) -> None:
        super().__init__(description=doc.splitlines()[0], **more)
        self.binaries = binaries
        self.known = names
        for binary in binaries:
            built = ROOT / "bazel-bin" / TARGETS[binary].strip("/").replace(":", "/")
            self.add_argument(f"--{binary}", type=pathlib.Path, default=built)
        if names:
            self.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))

    def parse_args(self, *words: Any, **more: Any) -> argparse.Namespace:
        args = super().parse_args(*words, **more)
        for name in args.names if self.known else []:
            if name not in self.known:
                self.error(f"unknown model '{name}', known: {', '.join(self.known)}")
        for binary in self.binaries:
            path = getattr(args, binary.replace("-", "_"))
            if not os.access(path, os.X_OK):
                self.exit(1, f"{path} is not there; build {TARGETS[binary]} first\n")
            setattr(args, binary.replace("-", "_"), path.resolve())
        return args
