# SPDX-License-Identifier: Apache-2.0
"""Bytes of code and constants: code_bytes.py BINARY prints them."""
import re
import subprocess
import sys


def code_bytes(binary):
    """Bytes of .text and .rodata of an ELF file, as `size -A` tells."""
    listing = subprocess.run(["size", "-A", binary], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    return sum(int(size) for size in
               re.findall(r"^\.(?:text|rodata)\s+(\d+)", listing, re.M))


X86_64, AARCH64 = 62, 183


def machine(binary):
    """The e_machine field of an ELF file."""
    with open(binary, "rb") as file:
        return int.from_bytes(file.read(20)[18:20], "little")


if __name__ == "__main__":
    print(code_bytes(sys.argv[1]))
