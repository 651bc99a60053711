# SPDX-License-Identifier: Apache-2.0
"""What compilers say of every file of a package: nothing."""

import re

import package
from command import done

C_ALONE = {"-Wmissing-prototypes", "-Wstrict-prototypes"}
CPLUSPLUS = [w for w in package.WARNINGS if w not in C_ALONE]

# What declarations begin with in parentheses, and the program of the self-test.
NEUTRAL = ("__attribute__", "main", "defined")

# For C++ and what it includes.
VIEW = ("petrel_model_view.h", "petrel_model.h")

ARM = ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
M55 = ("-mcpu=cortex-m55", "-mfloat-abi=hard")
RISCV = ("-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs")


def dialects(c, cplusplus, flags=()):
    """The commands of one processor: C99, C11, C++17 without and with the view."""
    return [[c, *flags, "-std=c99", *package.WARNINGS], [c, *flags, "-std=c11", *package.WARNINGS],
            [*cplusplus, *flags, "-x", "c++", "-std=c++17", *CPLUSPLUS]]


checked_views = set()  # they are the same in most packages


def check(folder, commands, has_library=True):
    """Compiles all sources of a package, the self-test as a program too, with each command. The
    view for C++ needs the library of C++, which bare processors may lack."""
    defined = [f"-I{folder}"]
    for command in commands:
        done([*command, *defined, "-fsyntax-only", *sorted(folder.glob("*.c"))], folder)
        selftest = (folder / "net_selftest.c").read_text()
        if "#error" not in selftest:
            done([*command, *defined, "-DNET_SELFTEST_MAIN", "-fsyntax-only",
                  folder / "net_selftest.c"], folder)
        headers = [h.name for h in sorted(folder.glob("*.h")) if h.name != "petrel_model_view.h"]
        (folder / "all_headers").write_text("".join(f'#include "{h}"\n' for h in headers))
        language = [] if "-x" in command else ["-x", "c"]
        done([*command, *defined, *language, "-fsyntax-only", folder / "all_headers"], folder)
        view = (*command, *((folder / h).read_text() for h in VIEW))
        if "-x" in command and has_library and view not in checked_views:
            checked_views.add(view)
            (folder / "all_headers").write_text('#include "petrel_model_view.h"\n')
            done([*command, *defined, "-fsyntax-only", folder / "all_headers"], folder)
        (folder / "all_headers").unlink()


def without_texts(source):
    """A C file whose strings and comments are empty; `comments` were // before."""
    source = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', source)
    return re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)


def odd_names(source, prefixes):
    """What a C file declares outside of functions without a prefix, and words with more letters
    than linkers have to tell apart or that C keeps for itself."""
    text = without_texts(source)
    declared = re.findall(r"#define (\w+)", text)
    declared += re.findall(r"\b(?:struct|enum|union) (\w+) \{", text)
    declared += re.findall(r"^[a-z][\w *]*?\b(\w+)\(", text, re.MULTILINE)
    odd = {n for n in declared if not n.lower().startswith(prefixes) and n not in NEUTRAL}
    return odd | {n for n in re.findall(r"\b[A-Za-z]\w*", text) if len(n) > 63 or "__" in n}
