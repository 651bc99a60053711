# SPDX-License-Identifier: Apache-2.0
"""Firmware of generated packages for tests, built with the compilers of the machine."""

import pathlib
import re

from command import PETREL, QUICK_PLAN, done

HERE = pathlib.Path("test/device").absolute()
BOARD = pathlib.Path("test/portable_c/board.ld").absolute()
# Processes need no speed: what they compute is what they would with more of it.
EXACT = ("-std=c99", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
CORTEX_M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
QEMU = ("qemu-system-arm -M mps2-an386 -nographic -monitor none -icount shift=6 "
        "-serial {serial} -kernel {firmware}")


def generated(folder, name, methods, *options):
    """A package in folder/name."""
    words = [w for method, model in methods.items() for w in ("--method", f"{method}={model}")]
    done([PETREL, "gen-c", *words, "-o", folder / name, "--name", name, "--device-rpc",
          *QUICK_PLAN, *options], folder)
    return folder / name


def with_bug(package, step):
    """Changes the lowest bit of the first number that a step writes."""
    source = package / f"{package.name}.c"
    text = source.read_text()
    begin = re.search(rf"^static (?:void|int32_t) \w+_{step}\(.*?\) {{\n", text, re.M | re.S)
    body_end = text.index("\n}\n", begin.end()) + 1
    # What a kernel writes is its last pointer that is not const.
    places = re.findall(r"\((?:float|int8_t|int64_t|int32_t) \*\)\(void \*\)\((\w+(?: \+ \d+)?)\)",
                        text[begin.end():body_end])
    source.write_text(f"{text[:body_end]}  ((unsigned char *){places[-1]})[0] ^= 1;\n"
                      f"{text[body_end:]}".replace(f"((unsigned char *){places[-1]})",
                                                   f"((unsigned char *)({places[-1]}))"))


def built(package, *more, board=False):
    """The program for this machine or for the board."""
    name = package.name
    program = package / ("firmware.elf" if board else "firmware")
    words = [*EXACT, f"-DNAME={name}", f'-DMODEL_HEADER="{name}.h"',
             f'-DPLAN_HEADER="{name}_plan.h"', f"-I{package}", *more, HERE / "firmware.c",
             *sorted(package.glob("*.c"))]
    if board:
        done(["arm-none-eabi-gcc", "-O2", *CORTEX_M4, *words, "--specs=nosys.specs", "-nostartfiles",
              "-T", BOARD, "-Wl,--defsym=memory=0x20000000", "-Wl,--defsym=bytes=4194304",
              "-Wl,--no-warn-rwx-segments", "-lm", "-o", program], package)
    else:
        done(["cc", *words, "-lm", "-o", program], package)
    return program
