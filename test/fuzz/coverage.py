#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz targets over their corpus and prints what of the readers was reached.

Called by test/fuzz/coverage, which builds them with clang's coverage of sources beside the
sanitizers. A branch is one of the two ways that a condition goes.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
KEPT = pathlib.Path.home() / ".cache/petrel/fuzz"

# Target -> what it reads with.
READERS = {
    "program": ["runtime/program/*.cc", "runtime/executor/method_builder.cc",
                "runtime/executor/method_values.cc", "runtime/executor/method_io.cc",
                "runtime/executor/aliases*.cc"],
    "payload": ["backends/xnnpack/format/*.cc"],
    "packed": ["backends/xnnpack/runtime/packed_file.cc"],
    "ptd": ["extension/flat_data/*.cc"],
    "safetensors": ["extension/named_data_map/safetensors_map.cc"],
    "npy": ["extension/npy/*.cc"],
    "plan": ["exir/plan/formats/*.cc"],
    "pt2": ["exir/import/*.cc"],
    "device": ["extension/device/device_info.cc", "extension/device/frame.cc"],
    "module": ["extension/compiled/elf_section.cc", "extension/compiled/module_file.cc"],
}
# Not of readers: they write, or the target has nothing to do with them.
NOT_READERS = ["*_test.cc", "*/test_*.cc", "*_write.cc", "*writer.cc", "exir/import/zip_archive.cc"]


def is_read_by(target: str, file: str) -> bool:
    return (any(fnmatch.fnmatch(file, glob) for glob in READERS[target]) and
            not any(fnmatch.fnmatch(file, glob) for glob in NOT_READERS))


def build_options() -> list[str]:
    """Of Bazel: counters for readers alone, so that all else is what was built for fuzzing."""
    folders = sorted({os.path.dirname(glob) for globs in READERS.values() for glob in globs})
    return [f"--per_file_copt=^({'|'.join(folders)})/@"
            "-fprofile-instr-generate,-fcoverage-mapping",
            "--linkopt=-fprofile-instr-generate"]


def replay(target: str, bin_folder: pathlib.Path, with_found: bool, scratch: pathlib.Path):
    binary = bin_folder / f"test/fuzz/{target}_fuzz_test"
    corpora = [bin_folder / f"test/fuzz/{target}_corpus"]
    if with_found and (KEPT / target).is_dir():
        corpora.append(KEPT / target)
    raw, profile = scratch / f"{target}.raw", scratch / f"{target}.profile"
    environment = dict(os.environ, LLVM_PROFILE_FILE=str(raw), TEST_TMPDIR=str(scratch),
                       TEST_SRCDIR=f"{binary}.runfiles", TEST_WORKSPACE="petrel")
    done = subprocess.run([binary, *corpora], cwd=f"{binary}.runfiles/petrel", env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{target}: the corpus does not pass:\n{done.stdout[-2000:]}")
    subprocess.run(["llvm-profdata-14", "merge", "-sparse", raw, "-o", profile], check=True)
    return binary, profile


def files_of(binary: pathlib.Path, profile: pathlib.Path) -> dict[str, dict]:
    """{path in the tree: its summary}"""
    exported = subprocess.run(
        ["llvm-cov-14", "export", "-summary-only", f"-instr-profile={profile}", binary],
        check=True, stdout=subprocess.PIPE).stdout
    files = json.loads(exported)["data"][0]["files"]
    marker = "/proc/self/cwd/"
    return {file["filename"].removeprefix(marker).removeprefix("./"): file["summary"]
            for file in files}


def show(binary: pathlib.Path, profile: pathlib.Path, file: str) -> None:
    subprocess.run(["llvm-cov-14", "show", f"-instr-profile={profile}", binary,
                    f"-path-equivalence=/proc/self/cwd,{TREE}", "-show-branches=count",
                    TREE / file], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", choices=READERS, help="of these")
    parser.add_argument("--found", action="store_true", help="with what campaigns have kept")
    parser.add_argument("--show", metavar="FILE", help="with the counts of its branches")
    parser.add_argument("--choose", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--options", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bin", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    targets = args.target or list(READERS)
    if args.show:
        targets = [t for t in targets if is_read_by(t, args.show)]
        if not targets:
            sys.exit(f"{args.show}: no target reads with it")
    if args.options:
        print(*build_options())
        return 0
    if args.choose:
        print(*(f"//test/fuzz:{target}_fuzz_test" for target in targets))
        return 0
    print("| target | file | lines | branches | taken |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for target in targets:
            binary, profile = replay(target, args.bin, args.found, pathlib.Path(scratch))
            count = covered = 0
            for file, summary in sorted(files_of(binary, profile).items()):
                if not is_read_by(target, file):
                    continue
                branches = summary["branches"]
                count += branches["count"]
                covered += branches["covered"]
                print(f"| `{target}` | `{file}` | {summary['lines']['percent']:.0f} % | "
                      f"{branches['count']} | {branches['percent']:.0f} % |")
            if count == 0:
                sys.exit(f"{target}: no branch of its readers is in the report")
            print(f"| `{target}` | all | | {count} | {100 * covered / count:.0f} % |", flush=True)
            if args.show:
                show(binary, profile, args.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
