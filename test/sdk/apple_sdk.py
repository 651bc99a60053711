# SPDX-License-Identifier: Apache-2.0
"""Writes a folder that stands for Apple's SDK of iOS when an app is linked to see what it lacks.

    apple_sdk.py ZIG FOLDER      then: ZIG_LIBC=FOLDER/libc zig c++ -target aarch64-ios.15.0 ...

ZIG is the compiler's folder. Its list of what is in macOS's C library is taken for that of iOS,
which has nearly the same names. What is linked so cannot be handed on.
"""

import pathlib
import re
import sys

TARGETS = "[ arm64-ios, arm64-ios-simulator, x86_64-ios-simulator ]"

LIBC = """include_dir={folder}/usr/include
sys_include_dir={folder}/usr/include
crt_dir={folder}/usr/lib
msvc_lib_dir=
kernel32_lib_dir=
gcc_dir=
darwin_sdk_dir={folder}
"""


def main() -> None:
    zig, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (folder / "usr/lib").mkdir(parents=True)
    (folder / "usr/include").symlink_to(zig / "lib/libc/include/any-darwin-any")
    (folder / "SDKSettings.json").symlink_to(zig / "lib/libc/darwin/SDKSettings.json")
    text = (zig / "lib/libc/darwin/libSystem.tbd").read_text()
    changed, count = re.subn(r"\[[^\[\]]*-macos\b[^\[\]]*\]", TARGETS, text)
    if count == 0:
        raise SystemExit(f"apple_sdk: {zig} has another list of macOS's C library")
    (folder / "usr/lib/libSystem.tbd").write_text(changed)
    (folder / "libc").write_text(LIBC.format(folder=folder))


if __name__ == "__main__":
    main()
