# SPDX-License-Identifier: Apache-2.0
"""Packages that together have every file which gen-c writes, for tests of what compilers and
checkers say of them."""

import dataclasses
import pathlib
import shutil

from command import PETREL, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
OPERATORS = pathlib.Path("test/models/operators").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()
STATE = pathlib.Path("test/models/state").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
LEVELS = pathlib.Path("test/models/levels").absolute()
NARROW = pathlib.Path("test/models/narrow").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
PROGRAMS = pathlib.Path("test/quantized/programs").absolute()
NPU = pathlib.Path("examples/null_npu").absolute()

INTEGERS = ("--int8", "integer", "--io-dtype", "int8")
POOLS = ("--pool", "name=fast,limit=12K,align=32,section=.bss.fast", "--pool", "slow=256K",
         "--pool", "name=rom,kind=ro,section=.rodata.rom", "--link-param", "*bias*=rom")


@dataclasses.dataclass
class Made:
    """How one package is made: its models by method, and further words of the command."""

    name: str
    methods: dict[str, pathlib.Path]
    words: tuple = ()
    petrel: pathlib.Path = PETREL
    beside: pathlib.Path | None = None  # a model of a group with this one

    def write(self, folder):
        """The folder of the package, below `folder`."""
        given = [w for method, model in self.methods.items()
                 for w in ("--method", f"{method}={model}")]
        words = list(self.words)
        if self.beside is not None:
            other = folder / "beside" / self.name
            done([self.petrel, "gen-c", self.beside, "-o", other, "--name", "beside",
                  *POOLS[:4]], folder)
            words += ["--group", other / "manifest.json"]
        done([self.petrel, "gen-c", *given, "-o", folder / self.name, "--name", "net", *words],
             folder)
        if self.beside is not None:  # net_group.h includes it
            shutil.copy(other / "beside.h", folder / self.name)
        return folder / self.name


def one(name, model, *words):
    return Made(name, {"forward": model}, words)


def delegated(name, model, *words):
    return Made(name, {"forward": NPU / f"{model}.pt2"},
                ("--backend", "null_npu", "--partition", "supported", *words), NPU / "petrel")


OPTIONS = [
    one("plain", DIGITS),
    one("rpc", DIGITS, "--device-rpc"),
    one("direct", VARYING / "mlp.pt2", "--interface", "direct"),
    one("pools", DIGITS, *POOLS),
    one("loaded", DIGITS, "--pool", "weights=128K", "--pool", "sram=256K", "--link-param",
        "*weight*=weights"),
    one("external", DIGITS, "--params", "external"),
    one("caller", DIGITS, "--io", "caller"),
    one("incbin", DIGITS, "--constants", "incbin"),
    one("fast", DIGITS, "--math", "fast"),
    one("fast_narrow", NARROW / "windows_f16.pt2", "--math", "fast"),
    one("varying", VARYING / "encoder.pt2"),
    one("numbers", VARYING / "numbers.pt2"),
    one("tokens", VARYING / "prefill.pt2"),
    one("frames", VARYING / "vocoder.pt2"),
    one("varying_caller", VARYING / "cnn_image.pt2", "--io", "caller"),
    one("varying_rpc", VARYING / "mlp.pt2", "--device-rpc"),
    one("branches", VARYING / "cond_varying.pt2"),
    one("loops", VARYING / "while_bound.pt2", "--device-rpc"),
    one("loops_varying", VARYING / "scan_varying.pt2"),
    Made("state", {m: STATE / f"counter.{m}.pt2" for m in ("add", "read")}),
    one("integers", INTEGER / "many.pt2", *INTEGERS),
    one("integers_direct", INTEGER / "shapes.pt2", *INTEGERS, "--kernel", "*=direct"),
    one("integers_m4", INTEGER / "keywords.pt2", *INTEGERS, "--target", "cortex-m4"),
    one("integers_m4_shapes", INTEGER / "shapes.pt2", *INTEGERS, "--target", "cortex-m4"),
    one("integers_m55", INTEGER / "keywords.pt2", *INTEGERS, "--target", "cortex-m55"),
    one("integers_x86", INTEGER / "keywords.pt2", *INTEGERS, "--target", "x86-64"),
    one("integers_nhwc", INTEGER / "keywords.pt2", *INTEGERS, "--io-layout", "nhwc"),
    one("levels", PROGRAMS / "image_channel.pt2"),
    one("levels_of_rows", PROGRAMS / "rows_8bit.pt2"),
    Made("shared", {"forward": DIGITS}, POOLS, beside=PORTABLE / "cell.pt2"),
    Made("together", {"forward": DIGITS}, (*POOLS, "--group-mode", "together"),
         beside=PORTABLE / "cell.pt2"),
    delegated("devices", "net"),
    delegated("devices_alone", "all"),
    delegated("devices_pools", "net", "--pool", "name=sram,targets=c,npu,cached=yes,align=32"),
    delegated("devices_rpc", "net", "--device-rpc"),
    delegated("devices_direct", "net", "--interface", "direct"),
    delegated("devices_incbin", "net", "--constants", "incbin", "--io", "caller"),
]

# Of models that C refuses, what it says.
REFUSED = {
    "portable_cases": "would both be called X in macros",
    "varying_fills": "C needs its bounds",
    "varying_masks": "which C does not read yet",
    "varying_number_refusals": "is computed from sizes",
}


def every_model():
    """Each kernel is in one of these."""
    folders = (LAYERS, LEVELS, NARROW, OPERATORS, PORTABLE, PROGRAMS, VARYING)
    models = [m for folder in folders for m in folder.glob("*.pt2")]
    return [one(f"{m.parent.name}_{m.stem}", m) for m in sorted(models)] + [
        one(f"integer_{m.stem}", m, *INTEGERS) for m in sorted(INTEGER.glob("*.pt2"))]
