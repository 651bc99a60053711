#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What networks of MLPerf Tiny cost in integers on an emulated processor, beside a peer.

  test/perf/instructions [--petrel BINARY] [--processor cortex-m4|cortex-m55|riscv32]
                         [--target TARGET] [--flags FLAGS] [--words WORDS] [--most RATIO]
                         [NAME ...]

Each network has random weights, is quantised by `petrel quantize` with its two
example inputs, and is generated as C of integers with channels innermost. It
is compiled for the processor, checks itself against the interpreter, and then
runs once on a board of QEMU, whose clock counts instructions (-icount shift=0),
or which counts them itself. The arena holds inputs, outputs and scratch; rodata
and code are those of the linked model; stack is what a run wrote.

Two networks are measured again in the least bytes that they are made for.

The peer is TensorFlow Lite Micro with CMSIS-NN (commit 90b983c, -O2), measured
in the same way on a Cortex-M4 with the trained models of MLPerf Tiny, whose sizes
these have.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import export_models  # noqa: E402
from command import Failed, command  # noqa: E402
from embedded_models import EMBEDDED  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

# Millions of instructions and bytes of arena of the peer.
PEER = {"autoencoder": (0.582, 2580), "ds_cnn": (7.70, 22820), "resnet8": (29.86, 54996),
        "mobilenet_v1": (24.10, 100708), "wake_word": (2.23, 16596)}
# Bytes of arena that networks fit in when they are asked to, row by row.
BUDGETS = {"resnet8": 18500, "mobilenet_v1": 28700}


@dataclasses.dataclass
class Processor:
    """A compiler and its options, what is linked, and the board that runs it."""

    tools: str
    flags: str
    target: str
    board: str
    linking: str
    emulator: str


def arm(flags: str, target: str, machine: str, memory: str, megabytes: int, hz: int) -> Processor:
    return Processor("arm-none-eabi-", f"-mthumb -mfloat-abi=hard {flags}", target,
                     f'-DBOARD="{HERE}/arm_board.h" -DTIMER_HZ={hz}u',
                     f"-T {ROOT}/test/portable_c/board.ld -Wl,--defsym=memory={memory} "
                     f"-Wl,--defsym=bytes={megabytes << 20}", f"qemu-system-arm -M {machine}")


PROCESSORS = {
    "cortex-m4": arm("-mcpu=cortex-m4 -mfpu=fpv4-sp-d16", "cortex-m4", "mps2-an386", "0x20000000",
                     4, 25000000),
    "cortex-m55": arm("-mcpu=cortex-m55", "cortex-m55", "mps3-an547", "0x21000000", 2, 32000000),
    "riscv32": Processor("riscv64-unknown-elf-", "-march=rv32imac -mabi=ilp32 --specs=picolibc.specs", "rv32",
                         f'-DBOARD="{HERE}/riscv_board.h"', f"-T {HERE}/riscv_board.ld",
                         "qemu-system-riscv32 -M virt -bios none"),
}
QEMU = ("-icount shift=0 -nographic -monitor none -serial null "
        "-semihosting-config enable=on,target=native -kernel").split()


def generate(petrel: pathlib.Path, name: str, folder: pathlib.Path, words: list[str]) -> None:
    export_models.write(name, EMBEDDED[name](), folder)
    record = folder / "q.json"
    given = [w for i in (0, 1) for w in ("--calibrate", folder / f"{name}.input_{i}_0.npy")]
    command(petrel, "quantize", folder / f"{name}.pt2", *given, "-o", folder / "q.pte",
            "--record", record)
    command(petrel, "gen-c", folder / f"{name}.pt2", "--quantize", record, "--int8", "integer",
            "--io-dtype", "int8", *words, "-o", folder / "c", "--name", "net")


def build(folder: pathlib.Path, processor: Processor, flags: list[str]) -> None:
    compiler = [f"{processor.tools}gcc", *processor.flags.split()]
    for source in ("net.c", "net_params.c", "net_selftest.c"):
        command(*compiler, *flags, "-std=c99", "-ffp-contract=off", "-ffunction-sections", "-c",
                folder / "c" / source, "-o", folder / f"{source}.o")
    command(*compiler, "-O2", "-std=c11", "-fno-tree-loop-distribute-patterns",
            f'-DMODEL="{folder}/c/net.h"', *processor.board.split(), f"-I{folder}/c", "-c",
            HERE / "instructions.c", "-o", folder / "main.o")
    command(*compiler, "-nostdlib", "-Wl,--gc-sections", *processor.linking.split(),
            folder / "main.o", *sorted(folder.glob("net*.o")), "-lgcc", "-o", folder / "net.elf")


def section_bytes(processor: Processor, object_file: pathlib.Path, begins: tuple[str, ...]) -> int:
    rows = [line.split() for line in
            command(f"{processor.tools}size", "-A", object_file).splitlines()]
    return sum(int(row[1]) for row in rows if len(row) == 3 and row[0].startswith(begins))


def measure(petrel: pathlib.Path, name: str, processor: Processor, words: list[str],
            flags: list[str]) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        generate(petrel, name, folder, words)
        build(folder, processor, flags)
        done = subprocess.run([*processor.emulator.split(), *QEMU, folder / "net.elf"], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode != 0:
            raise Failed(f"the emulator ended with {done.returncode}: {done.stdout}{done.stderr}")
        row = {key: int(value) for key, value in
               re.findall(r"^(\w+) (\d+)$", done.stdout + done.stderr, re.MULTILINE)}
        manifest = json.loads((folder / "c/manifest.json").read_text())
        row["arena"] = manifest["arena_bytes"]
        row["rodata"] = sum(section_bytes(processor, folder / f"{part}.o", (".rodata", ".srodata"))
                            for part in ("net.c", "net_params.c"))
        row["code"] = section_bytes(processor, folder / "net.c.o", (".text",))
        return row


def main() -> int:
    parser = ToolParser(__doc__, "petrel", names=list(PEER))
    parser.add_argument("--processor", choices=list(PROCESSORS), default="cortex-m4")
    parser.add_argument("--target", help="of gen-c, the processor's by itself")
    parser.add_argument("--flags", default="-O2", help="of the compiler")
    parser.add_argument("--words", default="", help="more for gen-c")
    parser.add_argument("--most", type=float, help="fail above that part of the peer's")
    args = parser.parse_args()
    processor = PROCESSORS[args.processor]
    words = ["--target", args.target or processor.target, "--io-layout", "nhwc", *args.words.split()]
    print(f"{'':14s}{'arena':>9s}{'peer':>9s}{'rodata':>9s}{'code':>8s}{'stack':>7s}"
          f"{'instructions':>14s}{'peer':>9s}{'ratio':>7s}")
    failed = False
    runs = []
    for name in args.names or PEER:
        runs.append((name, name, words))
        if name in BUDGETS:
            runs.append((f"  in {BUDGETS[name]:,}", name,
                         [*words, "--max-arena-bytes", str(BUDGETS[name])]))
    for title, name, given in runs:
        try:
            row = measure(args.petrel, name, processor, given, args.flags.split())
        except Failed as why:
            failed = True
            print(f"{title}: not measured: {why}", flush=True)
            continue
        millions, arena = PEER[name]
        own = row["instructions"] / 1e6
        failed |= args.most is not None and own > args.most * millions
        print(f"{title:14s}{row['arena']:9,}{arena:9,}{row['rodata']:9,}{row['code']:8,}"
              f"{row['stack']:7,}{own:12.3f} M{millions:7.2f} M{own / millions:7.2f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
