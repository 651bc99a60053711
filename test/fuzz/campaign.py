# SPDX-License-Identifier: Apache-2.0
"""The part of test/fuzz/campaign that runs the fuzzers; see there.

    campaign.py --choose [--target T]... <TARGETS   labels of those to build
    campaign.py --bin FOLDER --hours N  <TARGETS    runs them

Each target works on a folder of its own in the cache, which begins with the seeds
and finds in the tree and grows from campaign to campaign. What ends a target is made
smaller and put into test/fuzz/corpus/TARGET, where its test replays it. A target spends most
of its time with its program NAME_many (many_main.cc), the rest with libFuzzer.
"""
import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
LEDGER = os.path.join(HERE, "ledger.csv")
HEADER = "date,target,commit,seconds,executions,edges,finds\n"
# A find of more bytes is not put into the tree.
MOST_BYTES = 16384
# Bytes of the longest input, if a target's seeds are longer than others.
LONGEST = {"module": 65536}
# Where libFuzzer's search for rare code costs more than it runs: most of the time of
# `c_api`. Others run smaller inputs with it, and so more of them.
PLAIN = ("c_api", "packed", "verbs")
# Where memory was allocated is for the replay to tell: here it costs a third.
SANITIZER = "malloc_context_size=1"
# What many_main.cc leaves to the sanitizers.
MANY_SANITIZER = SANITIZER + ":max_allocation_size_mb=1500"
# The part of the time that libFuzzer has where there is the other: it follows comparisons.
LIBFUZZER_PART = 1 / 8
# Finds of one run, after which a target waits to be mended.
MOST_FINDS = 5

# What a run of libFuzzer said of itself.
EXECUTIONS = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.M)
PROGRESS = re.compile(r"^#(\d+):?\s.*?cov: (\d+)", re.M)
REASON = re.compile(r"^(?:broken promise: .*|SUMMARY: .*|.*runtime error: .*)$", re.M)
FRAME = re.compile(r"^\s+#\d+ 0x\w+ in (petrel::[^\n(]*|xnn_\w+)", re.M)


def read_log(text):
    """(executions, edges) of a log; 0 for what it does not say."""
    executions = [int(n) for n in EXECUTIONS.findall(text)]
    progress = [(int(n), int(edges)) for n, edges in PROGRESS.findall(text)]
    most = max([n for n, _ in progress] + executions + [0])
    return most, max([edges for _, edges in progress] + [0])


def signature(text):
    """What distinguishes one find from another: the reason and the upper frames."""
    reason = REASON.search(text)
    words = re.sub(r"0x[0-9a-f]+|\d{3,}", "", reason.group() if reason else "")
    return words + " " + " ".join(FRAME.findall(text)[:3])


def short_name(target):
    return target.split(":")[1].rsplit("_", 1)[0]


def choose(targets, wanted):
    """The labels of the targets with these names, or all."""
    names = {short_name(target): target for target in targets if target.endswith("_fuzzer")}
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise SystemExit("campaign: no target %s; there are %s" %
                         (", ".join(unknown), ", ".join(sorted(names))))
    return [names[name] for name in wanted] if wanted else sorted(names.values())


def with_many(targets, chosen):
    """Those chosen, and what calls the same functions more often."""
    names = {short_name(target) for target in chosen}
    return chosen + [target for target in targets
                     if target.endswith("_many") and short_name(target) in names]


class Target:
    """One target: its program, its corpus, what it found."""

    def __init__(self, name, bin_folder, cache):
        self.name = name
        folder = os.path.join(bin_folder, "test/fuzz")
        self.program = os.path.join(folder, name + "_fuzzer")
        self.many = os.path.join(folder, name + "_many")
        # Programs read their data relative to this.
        self.place = os.path.join(self.program + ".runfiles", "petrel")
        self.seeds = os.path.join(folder, name + "_corpus")
        self.corpus = os.path.join(cache, name)
        self.artifacts = os.path.join(cache, "finds", name) + "/"
        os.makedirs(self.corpus, exist_ok=True)
        os.makedirs(self.artifacts, exist_ok=True)
        self.longest = "-max_len=%d" % LONGEST.get(name, 8192)
        self.executions = self.edges = 0
        self.finds = {}  # signature -> path

    def command(self, seconds):
        options = [
            "-max_total_time=%d" % max(1, seconds), "-rss_limit_mb=3000",
            "-malloc_limit_mb=1500", "-timeout=10", "-print_final_stats=1",
            "-artifact_prefix=" + self.artifacts, self.longest,
            # What the product says of each file is not to be kept; reports are.
            "-close_fd_mask=3"
        ] + (["-entropic=0"] if self.name in PLAIN else [])
        return [self.program] + options

    def many_command(self, seconds):
        return [self.many, "-max_total_time=%d" % max(1, seconds),
                "-seed=%d" % random.randrange(1, 2**31), "-artifact_prefix=" + self.artifacts,
                self.longest]

    def call(self, command, seconds):
        """The output of a fuzzer, whatever its end."""
        log = self.artifacts + "log"
        sanitizer = MANY_SANITIZER if command[0] == self.many else SANITIZER
        with open(log, "wb") as out:
            try:
                subprocess.run(command, cwd=self.place, stdout=subprocess.DEVNULL, stderr=out,
                               timeout=seconds + 120, check=False,
                               env=dict(os.environ, ASAN_OPTIONS=sanitizer))
            except subprocess.TimeoutExpired:
                pass
        with open(log, encoding="utf-8", errors="replace") as text:
            return text.read()

    def run(self, seconds):
        if os.path.exists(self.many):
            part = seconds * LIBFUZZER_PART
            self.run_with(self.command, part)
            self.run_with(self.many_command, seconds - part)
        else:
            self.run_with(self.command, seconds)

    def run_with(self, command, seconds):
        end = time.monotonic() + seconds
        while len(self.finds) < MOST_FINDS:
            left = end - time.monotonic()
            known = set(os.listdir(self.artifacts))
            text = self.call(command(left) + [self.corpus, self.seeds], left)
            executions, edges = read_log(text)
            self.executions += executions
            self.edges = max(self.edges, edges)
            new = [name for name in set(os.listdir(self.artifacts)) - known
                   if name.startswith(("crash-", "timeout-", "oom-", "leak-"))]
            if executions == 0 and not new:
                self.finds["it does not start"] = ""
                print(text[-2000:])
                return
            for name in new:
                self.keep(self.artifacts + name, text)
            if time.monotonic() >= end - 1:
                return

    def keep(self, path, text):
        """Puts a find, made smaller, into the tree, unless it is known."""
        mark = signature(text)
        if mark in self.finds:
            return
        small = path + ".small"
        self.call([self.program, "-minimize_crash=1", "-max_total_time=30", "-rss_limit_mb=3000",
                   "-timeout=10", "-exact_artifact_path=" + small, path], 30)
        if not os.path.exists(small):
            shutil.copy(path, small)
        self.finds[mark] = path
        print("%s: %s\n  %s" % (self.name, mark, path))
        with open(small, "rb") as file:
            data = file.read()
        if len(data) > MOST_BYTES:
            print("  has %d bytes, which is too much for the tree" % len(data))
            return
        folder = os.path.join(HERE, "corpus", self.name)
        os.makedirs(folder, exist_ok=True)
        find = os.path.join(folder, "find_" + hashlib.sha256(data).hexdigest()[:12])
        with open(find, "wb") as out:
            out.write(data)
        print("  is now %s" % os.path.relpath(find))


def ledger_line(date, name, commit, seconds, target):
    return "%s,%s,%s,%d,%d,%d,%d\n" % (date, name, commit, seconds, target.executions,
                                       target.edges, len(target.finds))


def add_to_ledger(line, path=LEDGER):
    is_new = not os.path.exists(path)
    with open(path, "a", encoding="utf-8") as out:
        out.write((HEADER if is_new else "") + line)


def table(path=LEDGER):
    """The ledger summed up by target, as the page on fuzzing shows it."""
    sums = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            date, name, _, seconds, executions, edges, finds = line.split(",")
            entry = sums.setdefault(name, [0, 0, 0, 0, date])
            entry[0] += int(seconds)
            entry[1] += int(executions)
            entry[2] = max(entry[2], int(edges))
            entry[3] += int(finds)
            entry[4] = max(entry[4], date)
    lines = ["| target | hours | executions | edges | finds | last run |",
             "|---|---|---|---|---|---|"]
    for name, (seconds, executions, edges, finds, date) in sorted(sums.items()):
        lines.append("| `%s` | %.2f | %s | %s | %d | %s |" % (
            name, seconds / 3600, "{:,}".format(executions), "{:,}".format(edges), finds, date))
    return "\n".join(lines) + "\n"


def write_page(page=os.path.join(HERE, "../../docs/fuzzing.md")):
    """Puts the table into the page."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"\| target \| hours .*?\n\n", lambda _: table() + "\n", text, flags=re.S)
    with open(page, "w", encoding="utf-8") as out:
        out.write(text)


def arguments():
    parser = argparse.ArgumentParser(prog="test/fuzz/campaign")
    parser.add_argument("--hours", type=float)
    parser.add_argument("--seconds", type=float, help="of each target")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--no-ledger", action="store_true")
    parser.add_argument("--choose", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bin", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    labels = sys.stdin.read().split()
    targets = choose(labels, options.target)
    if options.choose:
        print("\n".join(with_many(labels, targets)))
        return 0
    if (options.hours is None) == (options.seconds is None):
        raise SystemExit("campaign: say --hours N or --seconds N")
    seconds = options.seconds or options.hours * 3600 / len(targets)
    cache = os.environ.get("PETREL_FUZZ_FOLDER") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "petrel", "fuzz")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, check=False,
                            stdout=subprocess.PIPE).stdout.decode().strip()
    failed = 0
    for label in targets:
        name = short_name(label)
        target = Target(name, options.bin, cache)
        target.run(seconds)
        failed += bool(target.finds)
        line = ledger_line(time.strftime("%Y-%m-%d"), name, commit, seconds, target)
        print(line, end="", flush=True)
        if not options.no_ledger:
            add_to_ledger(line)
    if not options.no_ledger:
        write_page()
    print("%d passed, %d failed" % (len(targets) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
