#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Switches each check of the readers and verifiers off, and says which no test notices.

  test/fuzz/switched_off.py [--only GLOB] [--room ROOM...] [--again OUTPUT] [--test LABEL...]
                             [--jobs N] [--work DIR]

Works on a copy of the committed tree. Every condition that ends in an error,

    if (a || b) {                       if (((a) && on(7)) || ((b) && on(8))) {
      PETREL_LOG(Error, ...);    -->      PETREL_LOG(Error, ...);
      return Error::InvalidProgram;       return Error::InvalidProgram;
    }                                   }

gets a switch for each of its alternatives, so one build holds them all. A switch is asked
only where its condition holds, so a test that never asks it cannot tell whether it is off.
Each test runs once with all checks on and says which switches it asks
(PETREL_SWITCH_ASKED), each case of a long test by itself. Each switch is then off in the tests
that ask it (PETREL_SWITCH_OFF), fast ones first. A test that fails, crashes or takes too
long has noticed. Kernels tell their errors to a context:
there, a check that is off forgets what it has told, and `return check(a) && check(b);` has
a switch for each. Prints a line for each check that
nothing noticed, and a table of rooms. Ends with 1 when a check is neither noticed nor
listed with its reason in switched_off.txt, or when a line of that file excuses what is
noticed or not there.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
EXCUSED = HERE / "switched_off.txt"
SECONDS = 120  # of one test; those that need more have lost what keeps them short
# Kernels end where the language leaves open what happens, as the sanitisers of the tests do.
TRAPS = ",".join(["-fsanitize=bounds", "-fsanitize=shift", "-fsanitize=signed-integer-overflow",
                  "-fsanitize-undefined-trap-on-error"])
MEMORY = 8 << 30  # bytes of one test: without a check it may ask for any number
LONG = 0.5  # seconds of a test whose cases run by themselves

# What reads files from strangers, and the tests that give it bad ones: fast ones first.
Room = collections.namedtuple("Room", "sources tests")
ROOMS = {
    "program": Room(
        ["runtime/program/*.cc", "runtime/executor/*.cc"],
        ["//runtime/program/...", "//runtime/executor/...", "//test/faults:golden_test",
         "//test/faults:structure_test",
         "//test/faults:additions_test", "//test/faults:bindings_test",
         "//test/faults:overlap_test", "//test/faults:limits_test", "//test/faults:outputs_test",
         "//test/faults:container_test", "//test/faults:method_test",
         "//test/faults:method_data_test", "//test/faults:structure_run_test",
         "//test/faults:held_data_test", "//test/faults:data_swap_test",
         "//test/faults:damaged_additions_test", "//test/faults:refused_calls_test",
         "//test/faults:refusal_counts_test",
         "//test/faults:time_test",
         "//test/faults:mutation_test", "//test/fuzz:program_fuzz_test"]),
    "data": Room(
        ["extension/flat_data/*.cc", "extension/named_data_map/*.cc",
         "extension/data_loader/*.cc"],
        ["//extension/flat_data/...", "//extension/named_data_map/...",
         "//extension/data_loader/...", "//test/fuzz:ptd_fuzz_test",
         "//test/fuzz:safetensors_fuzz_test", "//test/faults:container_test",
         "//test/faults:mutation_test"]),
    "payload": Room(
        ["backends/xnnpack/format/dead_nodes.cc", "backends/xnnpack/format/graph_check.cc",
         "backends/xnnpack/format/header.cc", "backends/xnnpack/format/live_bytes.cc",
         "backends/xnnpack/format/payload_reader.cc", "backends/xnnpack/format/quantization*.cc",
         "backends/xnnpack/format/scale_ratios.cc", "backends/xnnpack/format/shape_rules.cc",
         "backends/xnnpack/format/structure_bytes.cc", "backends/xnnpack/format/work.cc"],
        ["//backends/xnnpack/format/...", "//backends/xnnpack/runtime/...",
         "//test/fuzz:payload_fuzz_test"]),
    "packed": Room(
        ["backends/xnnpack/runtime/packed_*.cc", "backends/xnnpack/runtime/weight_*.cc",
         "backends/xnnpack/runtime/constant_source.cc"],
        ["//backends/xnnpack/runtime/...", "//test/fuzz:packed_fuzz_test"]),
    "npy": Room(["extension/npy/*.cc"], ["//extension/npy/...", "//test/fuzz:npy_fuzz_test"]),
    "plan": Room(["exir/plan/formats/*.cc"],
                 ["//exir/plan/formats/...", "//test/fuzz:plan_fuzz_test"]),
    "archive": Room(["exir/import/*.cc"], ["//exir/import/...", "//test/refusals:archives_test",
                                          "//test/fuzz:pt2_fuzz_test"]),
    "device": Room(["extension/device/*.cc"],
                   ["//extension/device/...", "//test/fuzz:device_fuzz_test"]),
    "module": Room(["extension/compiled/*.cc"],
                   ["//extension/compiled/...", "//test/fuzz:module_fuzz_test"]),
    "record": Room(["exir/quantize/record.cc", "exir/quantize/packed_text.cc"],
                   ["//exir/quantize/..."]),
    "levels": Room(["extension/levels/*.cc"], ["//extension/levels/..."]),
    "kernels": Room(["runtime/kernels/portable/*.cc", "runtime/kernels/portable/*.h",
                     "runtime/kernels/optimized/*.cc", "runtime/kernels/optimized/*.h"],
                    ["//runtime/kernels/...", "//test/faults:hostile_kernel_test",
                     "//test/faults:overlap_test", "//test/faults:work_test",
                     "//test/fuzz:calls_fuzz_test"]),
}

NOT_SHIPPED = ("_test", "test_graphs", "test_archive", "testing_device", "mutations",
               "recorded_call", "refusals", "wrong_calls", "bench", "sweep", "edges")

# How an error leaves a function of these files.
ERROR = re.compile(
    r"\breturn\s+(?:annotate\(\s*)?(Error::(?!Ok\b)\w+|false|std::nullopt|nullptr|refuse\w*\(|"
    r"damaged\w*\(|fail\w*\(|wrong\w*\(|other\(|bad\w*\(|invalid\w*\(|(?:\w+_)?error\(|"
    r"\w+\.error\((?!\))|does_not_\w+\(|gone\(|"
    r"absl::(?!Ok)\w+Error\(|Problem::(?!none\b)\w+)")
# What a condition of a kernel calls that may end in an error, before `return;` alone.
KERNEL_CHECK = re.compile(r"\b(check\w*|resize\w*|charge\w*|ok|normalize\w*)\(|failure_state")
DECLARATION = re.compile(r"(?:const\s+)?[\w:<>]+[\s*&]+\w+\s*=(?!=)")
KERNEL_RESULT = re.compile(r"\breturn (?=check\w*\()")
HEADER = '''#ifndef PETREL_SWITCH
#define PETREL_SWITCH
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cstdlib>
namespace petrel_switch {
// A byte for each switch, which is 1 when it was asked.
inline unsigned char* asked() {
  static unsigned char* const bytes = []() -> unsigned char* {
    const char* const name = std::getenv("PETREL_SWITCH_ASKED");
    if (name == nullptr) return nullptr;
    const int file = ::open(name, O_RDWR);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0) std::abort();
    void* const memory = mmap(nullptr, info.st_size, PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<unsigned char*>(memory);
  }();
  return bytes;
}
// Whether a check counts: all but the one that the environment names.
inline bool on(int number) {
  if (unsigned char* const bytes = asked()) bytes[number] = 1;
  static const int off = [] {
    const char* const text = std::getenv("PETREL_SWITCH_OFF");
    return text == nullptr ? -1 : std::atoi(text);
  }();
  return number != off;
}
// The same of a check that has told its error to a kernel's context.
template <typename Context>
bool counts(int number, Context& context) {
  if (on(number)) return true;
  context.failure_state_ = {};
  return false;
}
}  // namespace petrel_switch
#endif
'''

Check = collections.namedtuple("Check", "number room file line text")


def closing(text, start):
    """The index of the bracket that closes the one at `start`; quotes count."""
    pairs, depth, i = {"(": ")", "{": "}"}, 0, start
    opened, closed = text[start], pairs[text[start]]
    while i < len(text):
        c = text[i]
        if c == '"' or c == "'" and not (text[i - 1].isalnum() and text[i + 1].isalnum()):
            i += 1
            while text[i] != c:
                i += 2 if text[i] == "\\" else 1
        elif text.startswith("//", i):
            i = text.index("\n", i)
        elif c == opened:
            depth += 1
        elif c == closed:
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise ValueError("a bracket that nothing closes")


def operands(condition, operator):
    """"a || b(c || d)" and "||" as ["a", "b(c || d)"]."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(condition):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and condition.startswith(operator, i):
            parts.append(condition[begin:i].strip())
            begin = i + 2
    parts.append(condition[begin:].strip())
    return parts


class Switches:
    """Numbers the checks of a source, and gives each its switch."""

    def __init__(self, text, room, file, checks):
        self.text, self.room, self.file, self.checks = text, room, file, checks

    def add(self, part, at):
        """What is true when the check counts."""
        number = len(self.checks)
        line = self.text.count("\n", 0, at) + 1
        self.checks.append(Check(number, self.room, self.file, line, " ".join(part.split())))
        if self.room == "kernels" and re.search(r"\bargs\.ok\(", part):
            return f"::petrel_switch::counts({number}, args.context_)"
        if self.room == "kernels" and re.search(r"\bcontext\b|(?<![.\w])fits\(", part):
            return f"::petrel_switch::counts({number}, context)"
        return f"::petrel_switch::on({number})"

    def ends(self, condition, body):
        """Whether an `if` is a check."""
        # `if (x) return false;` of a loop inside the body is a check of its own.
        own = re.split(r"\b(?:if|for|while) \(", body)[0]
        if ";" in condition or "constexpr" in condition or DECLARATION.match(condition):
            return False
        if self.room == "kernels" and re.search(r"\breturn;", own):
            return bool(KERNEL_CHECK.search(condition) or "context.fail(" in own)
        return bool(ERROR.search(own))

    def replaced(self):
        text, out, at = self.text, [], 0
        for found in re.finditer(r"\bif \(|" + KERNEL_RESULT.pattern, text):
            begin = found.end() - 1
            start = text[:found.start()].rsplit("\n", 1)[-1].lstrip()
            if begin < at or start.startswith(("//", "#")):
                continue
            if text[begin] == "(":
                end = closing(text, begin)
                condition = text[begin + 1:end]
                rest = text[end + 1:].lstrip()
                body = (rest[:closing(rest, 0)] if rest.startswith("{")
                        else rest[:rest.index(";") + 1])
                if not self.ends(condition, body):
                    continue
                switched = " || ".join(f"(({part}) && {self.add(part, begin)})"
                                       for part in operands(condition, "||"))
            elif self.room == "kernels":
                end = closing("(" + text[begin + 1:].replace(";", ")", 1), 0) + begin
                switched = " && ".join(f"(({part}) || !{self.add(part, begin)})"
                                       for part in operands(text[begin + 1:end], "&&"))
            else:
                continue
            out += [text[at:begin + 1], switched]
            at = end
        return HEADER + "".join(out) + text[at:]


def switch_tree(folder, rooms, only):
    checks = []
    for room in rooms:
        for pattern in ROOMS[room].sources:
            found = sorted(folder.glob(pattern))
            if not found:
                sys.exit(f"room {room}: no source is {pattern}")
            for path in found:
                file = str(path.relative_to(folder))
                if path.stem.endswith(NOT_SHIPPED) or not fnmatch.fnmatch(file, only):
                    continue
                path.write_text(Switches(path.read_text(), room, file, checks).replaced())
    if "kernels" in rooms:
        for name in ("kernel_runtime_context.h", "kernel_args.h"):
            path = folder / "runtime/kernel" / name
            path.write_text(path.read_text().replace(" private:", " public:"))
    return checks


def bound_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Test:
    """A test of a room, or one of its cases: how long it takes, and what it asks."""

    def __init__(self, folder, binary, case=None):
        self.folder, self.binary, self.case = folder, binary, case
        self.seconds, self.asked = 0.0, b""

    def command(self):
        if self.binary.name.endswith("_fuzz_test"):
            corpus = str(self.binary).replace("_fuzz_test", "_corpus")
            return [self.folder / self.binary, self.folder / corpus]
        return [self.folder / self.binary, *([f"--gtest_filter={self.case}"] if self.case else [])]

    def passes(self, **switches):
        with tempfile.TemporaryDirectory() as scratch:
            runfiles = self.folder / f"{self.binary}.runfiles/petrel"
            environment = dict(os.environ, TEST_TMPDIR=scratch, TEST_SRCDIR=str(runfiles.parent),
                               TEST_WORKSPACE="petrel", **switches)
            try:
                done = subprocess.run(
                    self.command(), cwd=runfiles, env=environment, preexec_fn=bound_memory,
                    timeout=10 + min(SECONDS, 20 * self.seconds if self.asked else SECONDS),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                return False
            return done.returncode == 0

    def learn(self, checks):
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(checks))
            file.flush()
            before = os.times().elapsed
            if not self.passes(PETREL_SWITCH_ASKED=file.name):
                sys.exit(f"{self.binary} {self.case or ''} fails with all checks on")
            self.seconds = os.times().elapsed - before
            self.asked = pathlib.Path(file.name).read_bytes()

    def cases(self):
        """What a long test of googletest consists of."""
        if self.seconds < LONG or self.binary.name.endswith("_fuzz_test"):
            return [self]
        listed = subprocess.run([self.folder / self.binary, "--gtest_list_tests"], text=True,
                                cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout
        names, suite = [], ""
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if name.startswith(" "):
                names.append(suite + name.strip())
            elif name.endswith("."):
                suite = name
        names = [name for name in names if ".DISABLED_" not in name]
        return [Test(self.folder, self.binary, name) for name in names] or [self]


def tests_of(bazel, folder, room, labels, checks, jobs):
    """The room's tests, or those given, fast first, which pass with all switches on."""
    query = " + ".join(labels or ROOMS[room].tests)
    found = subprocess.run([*bazel, "query", f"kind(cc_test, {query})"], cwd=folder, text=True,
                           stdout=subprocess.PIPE, check=True).stdout.split()
    options = [f"--per_file_copt=^runtime/kernels/@{TRAPS}"] if room == "kernels" else []
    subprocess.run([*bazel, "build", f"--jobs={jobs}", *options, *found], cwd=folder, check=True)
    tests = []
    for label in found:
        whole = Test(folder, pathlib.Path("bazel-bin") / label[2:].replace(":", "/"))
        whole.learn(checks)
        for test in whole.cases():
            if test is not whole:
                test.learn(checks)
            tests.append(test)
    return sorted(tests, key=lambda test: test.seconds)


def is_noticed(number, tests):
    return not all(test.passes(PETREL_SWITCH_OFF=str(number))
                   for test in tests if test.asked[number])


def excuses():
    """{(file, condition): reason}"""
    lines = EXCUSED.read_text().splitlines() if EXCUSED.exists() else []
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return {(file, condition): reason for file, condition, reason in rows}


def belongs(file, room, only):
    return fnmatch.fnmatch(file, only) and any(
        fnmatch.fnmatch(file, pattern) for pattern in ROOMS[room].sources)


def named_in(lines, check):
    """Whether the output of an earlier run says that nothing noticed the check."""
    text = f"{check.file}:{check.line}: {check.text}: "
    return any(line.startswith(text) for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", action="append", choices=ROOMS, help="of these (default: all)")
    parser.add_argument("--only", default="*", metavar="GLOB", help="sources that match")
    parser.add_argument("--again", metavar="OUTPUT", type=pathlib.Path,
                        help="only what this earlier output of the same sources names")
    parser.add_argument("--test", metavar="LABEL", action="append",
                        help="by these tests alone: what they do not notice, others may")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", help="folder to keep the copy and its build in")
    args = parser.parse_args()
    rooms = args.room or list(ROOMS)
    again = args.again.read_text().splitlines() if args.again else None
    excused, table, bad = excuses(), [], 0
    stale = set()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = args.work or scratch
        folder = pathlib.Path(scratch) / "petrel"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", TREE, folder], check=True)
        checks = switch_tree(folder, rooms, args.only)
        bazel = ["./bazelw", f"--output_base={scratch}/base"]
        try:
            for room in rooms:
                tests = tests_of(bazel, folder, room, args.test, len(checks), args.jobs)
                own = [check for check in checks if check.room == room]
                tried = [check for check in own if again is None or named_in(again, check)]
                unnoticed, reasons = [], []
                with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                    noticed = pool.map(lambda check: is_noticed(check.number, tests), tried)
                    for check in (check for check, seen in zip(tried, noticed) if not seen):
                        unnoticed.append(check)
                        reasons.append(excused.get((check.file, check.text)))
                        print(f"{check.file}:{check.line}: {check.text}: "
                              f"{reasons[-1] or 'NOT NOTICED'}", flush=True)
                needed = {(check.file, check.text) for check in unnoticed}
                stale |= {key for key in excused if key not in needed and belongs(
                    key[0], room, args.only)}
                missing = reasons.count(None)
                bad += missing
                table.append((room, len(own), len(own) - len(unnoticed),
                              len(unnoticed) - missing, missing))
        finally:
            subprocess.run([*bazel, "shutdown"], cwd=folder, check=False)
            subprocess.run(["chmod", "-R", "u+w", scratch], check=False)
    print("| room | checks | noticed | justified | not noticed |\n|---|---|---|---|---|")
    for row in table:
        print("| " + " | ".join(map(str, row)) + " |")
    for file, condition in sorted(stale):
        print(f"switched_off.txt: {file}: {condition}: excuses nothing")
    return 1 if bad or stale else 0


if __name__ == "__main__":
    sys.exit(main())
