# SPDX-License-Identifier: Apache-2.0
"""Packages that together have every file which gen-c writes, for tests of what compilers and
checkers say of them."""

import dataclasses
import pathlib

from command import PETREL, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
OPERATORS = pathlib.Path("test/models/operators").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()
STATE = pathlib.Path("test/models/state").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
PROGRAMS = pathlib.Path("test/quantized/programs").absolute()

INTEGERS = ("--int8", "integer", "--io-dtype", "int8")
POOLS = ("--pool", "name=fast,limit=12K,align=32,section=.bss.fast", "--pool", "slow=256K",
         "--pool", "name=rom,kind=ro,section=.rodata.rom", "--link-param", "*bias*=rom")


@dataclasses.dataclass
class Made:
    """How one package is made: its models by method, and further words of the command."""

    name: str
    methods: dict[str, pathlib.Path]
    words: tuple = ()

    def write(self, folder):
        """The folder of the package, below `folder`."""
        given = [w for method, model in self.methods.items()
                 for w in ("--method", f"{method}={model}")]
        done([PETREL, "gen-c", *given, "-o", folder / self.name, "--name", "net",
              *self.words], folder)
        return folder / self.name


def one(name, model, *words):
    return Made(name, {"forward": model}, words)


OPTIONS = [
    one("plain", DIGITS),
    one("rpc", DIGITS, "--device-rpc"),
    one("pools", DIGITS, *POOLS),
    one("loaded", DIGITS, "--pool", "weights=128K", "--pool", "sram=256K", "--link-param",
        "*weight*=weights"),
    one("external", DIGITS, "--params", "external"),
    one("caller", DIGITS, "--io", "caller"),
    one("fast", DIGITS, "--math", "fast"),
    one("varying", VARYING / "encoder.pt2"),
    one("varying_rpc", VARYING / "mlp.pt2", "--device-rpc"),
    one("branches", VARYING / "cond_varying.pt2"),
    Made("state", {m: STATE / f"counter.{m}.pt2" for m in ("add", "read")}),
    one("integers", INTEGER / "many.pt2", *INTEGERS),
    one("integers_m4", INTEGER / "keywords.pt2", *INTEGERS, "--target", "cortex-m4"),
    one("integers_m4_shapes", INTEGER / "shapes.pt2", *INTEGERS, "--target", "cortex-m4"),
    one("integers_m55", INTEGER / "keywords.pt2", *INTEGERS, "--target", "cortex-m55"),
    one("levels", PROGRAMS / "image_channel.pt2"),
    one("levels_of_rows", PROGRAMS / "rows_8bit.pt2"),
]


def every_model():
    """Each kernel is in one of these."""
    models = [m for folder in (LAYERS, OPERATORS, PORTABLE, VARYING) for m in folder.glob("*.pt2")]
    return [one(f"{m.parent.name}_{m.stem}", m) for m in sorted(models)]
