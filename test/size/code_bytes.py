# SPDX-License-Identifier: Apache-2.0
import re
import subprocess


def code_bytes(binary):
    """Bytes of .text and .rodata of an ELF file, as `size -A` tells."""
    listing = subprocess.run(["size", "-A", binary], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    return sum(int(size) for size in
               re.findall(r"^\.(?:text|rodata)\s+(\d+)", listing, re.M))
