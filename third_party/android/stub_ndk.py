# SPDX-License-Identifier: Apache-2.0
"""Writes a folder with the parts of Android's NDK that Petrel is built with, for machines that
have none: headers and lists of names from bionic's sources, the compiler of the package ziglang.

    stub_ndk.py BIONIC ZIG FOLDER      then: ./bazelw run --ndk FOLDER //dist:android ...

BIONIC is a checkout of platform/bionic. The libraries to link (libc.so and so on) are stubs: they
show what the system's show at an API level, by its own lists, and nothing is behind the names. What
is linked against them asks a device for the same names and versions as what the NDK links; it
cannot be run here. FOLDER/STUBS says so, and the archives that are made with it.

jni.h is the JDK's: the same interface, of the same version.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
from typing import Dict, List, NamedTuple

import stub_symbols

LEVEL = 24


class Abi(NamedTuple):
    """A kind of device: what clang, Android's lists and the headers call its processor."""
    triple: str
    processor: str
    headers: str


ABIS = (Abi("aarch64-linux-android", "arm64", "asm-arm64"),
        Abi("x86_64-linux-android", "x86_64", "asm-x86"))

LOG_H = """#pragma once
#include <stdarg.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef enum android_LogPriority {
  ANDROID_LOG_UNKNOWN, ANDROID_LOG_DEFAULT, ANDROID_LOG_VERBOSE, ANDROID_LOG_DEBUG,
  ANDROID_LOG_INFO, ANDROID_LOG_WARN, ANDROID_LOG_ERROR, ANDROID_LOG_FATAL, ANDROID_LOG_SILENT
} android_LogPriority;
int __android_log_write(int prio, const char* tag, const char* text);
int __android_log_print(int prio, const char* tag, const char* fmt, ...);
int __android_log_vprint(int prio, const char* tag, const char* fmt, va_list ap);
#ifdef __cplusplus
}
#endif
"""
LOG_NAMES = [stub_symbols.Version(None, None, ["__android_log_write", "__android_log_print",
                                               "__android_log_vprint"], [])]

# What every library of Android begins with: handlers that go when it is unloaded.
BEGIN = """
extern void __cxa_finalize(void*);
extern int __cxa_atexit(void (*)(void*), void*, void*);
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*);
static const void* const own_handle = &own_handle;
__attribute__((visibility("hidden"), alias("own_handle"))) extern void* __dso_handle;
__attribute__((destructor)) static void on_unload(void) { __cxa_finalize(&__dso_handle); }
static void call(void* function) { ((void (*)(void))function)(); }
__attribute__((visibility("hidden"))) int atexit(void (*function)(void)) {
  return __cxa_atexit(call, (void*)function, &__dso_handle);
}
__attribute__((visibility("hidden"))) int pthread_atfork(void (*before)(void),
                                                         void (*parent)(void),
                                                         void (*child)(void)) {
  return __register_atfork(before, parent, child, &__dso_handle);
}
__attribute__((section(".note.android.ident"), used)) static const struct {
  int name_size, size, kind;
  char name[8];
  int level;
} ident = {8, 4, 1, "Android", %d};
""" % LEVEL

CLANG = """#!/bin/bash
here=$(dirname "$(realpath "$0")")
words=() triple=
for word; do
  case $word in
    --target=*-linux-android*) triple=${word#--target=}; triple=${triple%android*}android ;;
    -static-libstdc++) ;;
    # zig names extensions of arm64 by -mcpu alone, and one of them otherwise.
    -march=armv8.2-a*)
      word=${word#-march=armv8.2-a}
      words+=("-mcpu=generic+v8_2a${word/+fp16/+fullfp16}")
      ;;
    *) words+=("$word") ;;
  esac
done
top=$here/../../../../..
export ZIG_LIBC=$here/$triple.libc
export ZIG_GLOBAL_CACHE_DIR=$top/cache ZIG_LOCAL_CACHE_DIR=$top/cache
# zig looks for libc and the like alone where the system's are.
exec @zig@/zig @verb@ -target "$triple.@level@" "${words[@]}" \\
  "-L$here/../sysroot/usr/lib/$triple/@level@"
"""

AR = """#!/bin/bash
top=$(dirname "$(realpath "$0")")/../../../../..
export ZIG_GLOBAL_CACHE_DIR=$top/cache ZIG_LOCAL_CACHE_DIR=$top/cache
exec @zig@/zig ar "$@"
"""

LIBC = """include_dir={include}
sys_include_dir={include}/{triple}
crt_dir={libraries}
msvc_lib_dir=
kernel32_lib_dir=
gcc_dir={libraries}
darwin_sdk_dir=
"""

# Of what the compiler links into a library.
LICENCES = ("LICENSE", "lib/libcxx/LICENSE.TXT", "lib/libcxxabi/LICENSE.TXT",
            "lib/libunwind/LICENSE.TXT")

STUBS = """Not the NDK: headers of bionic and libraries without anything behind their names, for
linking alone. Petrel's third_party/android/stub_ndk.py wrote this.
"""


def write(path: pathlib.Path, text: str, is_program: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if is_program:
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def write_compiler(programs: pathlib.Path, zig: pathlib.Path) -> None:
    for name, verb in (("clang", "cc"), ("clang++", "c++")):
        text = CLANG.replace("@zig@", str(zig)).replace("@verb@", verb)
        write(programs / name, text.replace("@level@", str(LEVEL)), is_program=True)
    write(programs / "llvm-ar", AR.replace("@zig@", str(zig)), is_program=True)


def jni_headers() -> List[pathlib.Path]:
    """jni.h and what it includes."""
    compiler = shutil.which("javac")
    if compiler is None:
        raise SystemExit("stub_ndk: there is no javac, whose jni.h is needed")
    include = pathlib.Path(compiler).resolve().parents[1] / "include"
    return [include / "jni.h", include / "linux/jni_md.h"]


def write_headers(bionic: pathlib.Path, include: pathlib.Path) -> None:
    for folder in ("libc/include", "libc/kernel/uapi", "libc/kernel/android/uapi"):
        for path in sorted((bionic / folder).rglob("*")):
            relative = path.relative_to(bionic / folder)
            if path.is_file() and not relative.parts[0].startswith("asm-arm") and \
                    relative.parts[0] not in ("asm-x86", "asm-riscv"):
                (include / relative).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, include / relative)
    for abi in ABIS:
        shutil.copytree(bionic / "libc/kernel/uapi" / abi.headers / "asm",
                        include / abi.triple / "asm")
    write(include / "android/log.h", LOG_H)
    for path in jni_headers():
        shutil.copy(path, include)


def compiled(programs: pathlib.Path, abi: Abi, source: pathlib.Path, out: pathlib.Path) -> None:
    subprocess.run([programs / "clang", f"--target={abi.triple}{LEVEL}", "-c", "-fPIC", "-O2",
                    "-fno-sanitize=all", f"-ffile-prefix-map={source.parent}=.", source, "-o", out],
                   check=True)


def link_stub(zig: pathlib.Path, programs: pathlib.Path, abi: Abi,
              blocks: List[stub_symbols.Version], out: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, script = pathlib.Path(folder, "names.s"), pathlib.Path(folder, "versions")
        source.write_text(stub_symbols.assembly(blocks))
        script.write_text(stub_symbols.version_script(blocks))
        compiled(programs, abi, source, source.with_suffix(".o"))
        versions = [f"--version-script={script}"] if script.stat().st_size else []
        # The compiler would link the libraries that this makes.
        subprocess.run([zig / "zig", "ld.lld", "-shared", f"-soname={out.name}", *versions,
                        source.with_suffix(".o"), "-o", out], check=True)


def write_libraries(bionic: pathlib.Path, zig: pathlib.Path, programs: pathlib.Path,
                    libraries: pathlib.Path, abi: Abi) -> None:
    libraries.mkdir(parents=True)
    for name in ("libc", "libm", "libdl"):
        text = (bionic / name / f"{name}.map.txt").read_text()
        link_stub(zig, programs, abi, stub_symbols.versions(text, abi.processor, LEVEL),
                  libraries / f"{name}.so")
    link_stub(zig, programs, abi, LOG_NAMES, libraries / "liblog.so")
    for name, text in (("crtbegin_so", BEGIN), ("crtend_so", "")):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, f"{name}.c")
            source.write_text(text)
            compiled(programs, abi, source, libraries / f"{name}.o")


def digest(folder: pathlib.Path) -> str:
    """Of all files with their names: what objects depend on."""
    sums: Dict[str, str] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            sums[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashlib.sha256(repr(sorted(sums.items())).encode()).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes a folder to build for Android with.")
    for name in ("bionic", "zig", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    words = parser.parse_args()
    bionic, zig, folder = words.bionic.resolve(), words.zig.resolve(), words.folder.absolute()
    if not (bionic / "libc/libc.map.txt").is_file():
        raise SystemExit(f"stub_ndk: {bionic} has no libc/libc.map.txt, must be bionic's sources")
    if not os.access(zig / "zig", os.X_OK):
        raise SystemExit(f"stub_ndk: {zig} has no program zig, must be the package ziglang")
    if folder.exists():
        raise SystemExit(f"stub_ndk: {folder} is there already")
    new = pathlib.Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        tools = new / "toolchains/llvm/prebuilt/linux-x86_64"
        (new / "cache").mkdir()
        write_compiler(tools / "bin", zig)
        write_headers(bionic, tools / "sysroot/usr/include")
        for abi in ABIS:
            libraries = tools / "sysroot/usr/lib" / abi.triple / str(LEVEL)
            root = "%s/toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr"
            for where in (new, folder):
                write(tools / "bin" / f"{abi.triple}.libc", LIBC.format(
                    include=root % where + "/include", triple=abi.triple,
                    libraries=root % where + f"/lib/{abi.triple}/{LEVEL}"))
                if where == new:
                    write_libraries(bionic, zig, tools / "bin", libraries, abi)
        shutil.copy(bionic / "libc/NOTICE", new / "NOTICE")
        write(new / "NOTICE.toolchain", "\n".join((zig / path).read_text() for path in LICENCES))
        write(new / "STUBS", STUBS)
        write(new / "compiler", f"{zig}\n")
        write(new / "source.properties",
              f"Pkg.Desc = Stubs of bionic\nPkg.Revision = 0.{digest(tools / 'sysroot')}\n")
        new.chmod(0o755)
        os.rename(new, folder)
    except BaseException:
        shutil.rmtree(new)
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
