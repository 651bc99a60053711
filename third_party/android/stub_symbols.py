# SPDX-License-Identifier: Apache-2.0
"""What a library of Android shows, from the list that Android's sources keep of it (*.map.txt).

    versions = stub_symbols.versions(text, "arm64", 24)
    versions[0]          Version(name="LIBC", parent=None, functions=["abort", ...], variables=[])

A line is a name and, behind #, for which processors it is, from which API level on, whether it
is a variable; a block of lines has a version, whose own words are for each of its lines. What
is for the system alone is left out.
"""

import re
from typing import List, NamedTuple, Optional

PROCESSORS = ("arm", "arm64", "riscv64", "x86", "x86_64")
# Names that apps are not given.
_OF_THE_SYSTEM = {"apex", "llndk", "platform-only", "systemapi", "future"}


class Version(NamedTuple):
    """A block of names; a name without a version has None."""
    name: Optional[str]
    parent: Optional[str]
    functions: List[str]
    variables: List[str]


def _is_there(words: List[str], processor: str, level: int) -> bool:
    """Whether a name with these words is there for a processor at an API level."""
    kinds = set(words)
    if kinds & _OF_THE_SYSTEM:
        return False
    if kinds & set(PROCESSORS) and processor not in kinds:
        return False
    since = {name: int(value) for name, _, value in (word.partition("=") for word in words)
             if name.startswith("introduced")}
    return level >= since.get(f"introduced-{processor}", since.get("introduced", 0))


def _is_versioned(words: List[str], level: int) -> bool:
    return all(level >= int(word[len("versioned="):]) for word in words
               if word.startswith("versioned="))


def versions(text: str, processor: str, level: int) -> List[Version]:
    """The blocks that an app of an API level can link, in their order."""
    found: List[Version] = []
    plain = Version(None, None, [], [])
    block, parts = None, []
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        code, words = code.strip(), comment.split()
        begin = re.fullmatch(r"(\w+) *{", code)
        end = re.fullmatch(r"}(?: *(\w+))?;", code)
        if begin:
            hidden = begin[1].endswith(("_PRIVATE", "_PLATFORM")) or \
                not _is_there(words, processor, level)
            block, parts, is_local = None if hidden else begin[1], [[], []], False
        elif end:
            if block and any(parts):
                found.append(Version(block, end[1], *parts))
        elif code in ("global:", "local:"):
            is_local = code == "local:"
        elif code and block and not is_local and _is_there(words, processor, level):
            name = re.fullmatch(r"([\w.]+);", code)
            if name is None:
                raise ValueError(f"'{line}' is no name, must be one and a semicolon")
            kind = 1 if "var" in words else 0
            (parts if _is_versioned(words, level) else plain[2:])[kind].append(name[1])
    return found + ([plain] if any(plain[2:]) else [])


def assembly(blocks: List[Version]) -> str:
    """Source of a library with these names and nothing behind them."""
    lines = [".text"]
    for name in (name for block in blocks for name in block.functions):
        lines += [f".globl {name}", f".type {name}, %function", f"{name}:", ".byte 0"]
    lines.append(".data")
    for name in (name for block in blocks for name in block.variables):
        lines += [f".globl {name}", f".type {name}, %object", f"{name}:", ".zero 8",
                  f".size {name}, 8"]
    return "\n".join(lines) + "\n"


def version_script(blocks: List[Version]) -> str:
    """For the linker. Parents that are left out have theirs as parents."""
    text, names = "", []
    for block in blocks:
        if block.name is None:
            continue
        parent = block.parent if block.parent in names else (names[-1] if block.parent else None)
        shown = "".join(f"    {name};\n" for name in block.functions + block.variables)
        text += f"{block.name} {{\n  global:\n{shown}}}{' ' + parent if parent else ''};\n"
        names.append(block.name)
    return text
