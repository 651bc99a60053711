# SPDX-License-Identifier: Apache-2.0
"""What holds of the archive for Android.

    aar_checks.py ARCHIVE NDK      # prints a row for each kind of device, or ends with 1

The NDK is the one that its libraries were linked with: what they ask of Android must be in the
libraries of API level 24, in the same versions.
"""

import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
from typing import Dict, List, NamedTuple, Set

TREE = pathlib.Path(__file__).resolve().parents[2]
LEVEL = 24
# Of Android's public libraries.
OF_THE_SYSTEM = {"libc.so", "libm.so", "libdl.so", "liblog.so"}
PAGE = 16384


class Abi(NamedTuple):
    """A kind of device as readelf and the NDK call it."""
    machine: str
    triple: str


ABIS = {"arm64-v8a": Abi("AArch64", "aarch64-linux-android"),
        "x86_64": Abi("Advanced Micro Devices X86-64", "x86_64-linux-android")}


class Failed(Exception):
    """What did not hold."""


def holds(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)


def functions_of_c() -> Set[str]:
    text = (TREE / "extension/c_api/petrel.h").read_text()
    return set(re.findall(r"PETREL_EXPORT [^;(]*?(petrel_\w+)\(", text))


def functions_of_java() -> Set[str]:
    text = (TREE / "extension/java/src/io/petrel/Module.java").read_text()
    return {f"Java_io_petrel_Module_{name}"
            for name in re.findall(r"static native [\w\[\]]+ (\w+)\(", text)}


def check_files(files: Dict[str, bytes]) -> None:
    """Those that do not depend on the kind of device."""
    manifest = files["AndroidManifest.xml"].decode()
    holds('package="io.petrel"' in manifest and f'android:minSdkVersion="{LEVEL}"' in manifest,
          f"the manifest is {manifest}")
    holds(files["R.txt"] == b"" and b"-keep class io.petrel" in files["proguard.txt"],
          "R.txt or proguard.txt")
    with zipfile.ZipFile(io.BytesIO(files["classes.jar"])) as jar:
        for name in ("Module", "Module$Options", "Tensor", "DType", "PetrelException"):
            data = jar.read(f"io/petrel/{name}.class")
            holds(data[:4] == b"\xca\xfe\xba\xbe" and data[7] == 52, f"{name} is not for Java 8")
    prefab = json.loads(files["prefab/prefab.json"])
    holds(prefab["name"] == "petrel" and prefab["schema_version"] == 2, "prefab.json")
    module = "prefab/modules/petrel"
    holds(files[f"{module}/include/petrel/petrel.h"] ==
          (TREE / "extension/c_api/petrel.h").read_bytes(), "petrel.h is another one")
    abis = {path.split("/")[1] for path in files if path.startswith("jni/")}
    holds(abis == set(ABIS), f"there are libraries for {sorted(abis)}")
    for abi in abis:
        told = json.loads(files[f"{module}/libs/android.{abi}/abi.json"])
        holds(told["abi"] == abi and told["api"] == LEVEL and told["stl"] == "none" and
              told["static"] is False and isinstance(told["ndk"], int), f"abi.json of {abi}")
        holds(files[f"{module}/libs/android.{abi}/libpetrel.so"] ==
              files[f"jni/{abi}/libpetrel.so"], f"two libraries for {abi}")
    sums = dict(reversed(line.split("  "))
                for line in files["META-INF/petrel/SHA256SUMS"].decode().splitlines())
    holds(sums == {path: hashlib.sha256(data).hexdigest() for path, data in files.items()
                   if path != "META-INF/petrel/SHA256SUMS"}, "SHA256SUMS")
    bill = json.loads(files["META-INF/petrel/petrel.spdx.json"])
    named = {package["name"] for package in bill["packages"]}
    holds({"petrel", "xnnpack", "cpuinfo", "android-ndk"} <= named, f"the bill names {named}")
    holds({"META-INF/petrel/LICENSE", "META-INF/petrel/NOTICE"} <= set(files), "licences")


def readelf(path: pathlib.Path, *words: str) -> str:
    return subprocess.run(["readelf", "--wide", *words, path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def symbols(path: pathlib.Path) -> List[List[str]]:
    """Name with version, and whether it is needed, of what others see."""
    rows = [line.split() for line in readelf(path, "--dyn-syms").splitlines()]
    return [[re.sub("@@", "@", row[7]), row[6]] for row in rows
            if len(row) > 7 and row[3] in ("FUNC", "OBJECT", "NOTYPE") and row[6] != "ABS"]


def check_library(path: pathlib.Path, abi: Abi, shown: Set[str], foreign: Set[str],
                  there: Set[str]) -> None:
    """Of `there` are the names that it may ask for, of the libraries `foreign` and Android's."""
    head = readelf(path, "--file-header", "--dynamic", "--program-headers")
    holds(abi.machine in head, f"{path} is for another processor")
    holds(f"Library soname: [{path.name}]" in head, f"{path} has another soname")
    aligned = {int(line.split()[-1], 16) for line in head.splitlines()
               if line.split()[:1] == ["LOAD"]}
    holds(bool(aligned) and all(each % PAGE == 0 for each in aligned),
          f"{path} is aligned to {aligned}")
    needed = set(re.findall(r"\(NEEDED\) .*\[(.*?)\]", head))
    holds(needed <= OF_THE_SYSTEM | foreign, f"{path} needs {needed}")
    holds("TEXTREL" not in head and "RUNPATH" not in head and "GNU_RELRO" in head,
          f"{path} is linked in another way")
    stack = next(line for line in head.splitlines() if "GNU_STACK" in line)
    holds("RWE" not in stack, f"{path} has a stack that can be run")
    found = symbols(path)
    own = {name.split("@")[0] for name, place in found if place != "UND"}
    holds(own == shown, f"{path} shows {sorted(own ^ shown)} too much or too little")
    asked = {name.split(" ")[0] for name, place in found if place == "UND"}
    holds(asked <= there, f"{path} asks for {sorted(asked - there)}")


def check_abi(files: Dict[str, bytes], name: str, ndk: pathlib.Path) -> str:
    abi = ABIS[name]
    libraries = ndk / "toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr/lib" / abi.triple
    there = {symbol for library in OF_THE_SYSTEM
             for symbol, place in symbols(libraries / str(LEVEL) / library) if place != "UND"}
    holds(len(there) > 1000, f"{libraries} has no libraries of API level {LEVEL}")
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for library in ("libpetrel.so", "libpetrel_jni.so"):
            paths.append(pathlib.Path(folder, library))
            paths[-1].write_bytes(files[f"jni/{name}/{library}"])
        check_library(paths[0], abi, functions_of_c(), set(), there)
        own = {symbol for symbol, place in symbols(paths[0]) if place != "UND"}
        check_library(paths[1], abi, functions_of_java(), {"libpetrel.so"}, there | own)
        asked = {symbol for symbol, place in symbols(paths[0]) if place == "UND"}
    return (f"| {name} | {len(files[f'jni/{name}/libpetrel.so'])} | "
            f"{len(files[f'jni/{name}/libpetrel_jni.so'])} | {len(own)} | {len(asked)} |")


def main() -> int:
    archive, ndk = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with zipfile.ZipFile(archive) as opened:
        dates = {entry.date_time for entry in opened.infolist()}
        files = {entry.filename: opened.read(entry) for entry in opened.infolist()}
    try:
        holds(dates == {(1980, 1, 1, 0, 0, 0)}, f"files have dates: {dates}")
        is_stubs = (ndk / "STUBS").exists()
        holds(is_stubs == ("META-INF/petrel/STUBS" in files) and
              is_stubs == archive.name.endswith("-stubs.aar"), "stubs are not marked")
        check_files(files)
        print("| device | libpetrel.so | libpetrel_jni.so | functions | asked of Android |\n"
              "|---|---:|---:|---:|---:|")
        for name in sorted(ABIS):
            print(check_abi(files, name, ndk))
    except (Failed, KeyError) as why:
        print(f"aar_checks: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
