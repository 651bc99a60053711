# SPDX-License-Identifier: Apache-2.0
"""Exports 200 archives on a farm and compares them with those of the command; see `run`."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from farm import Farm

MODELS = 200
BUILD = """\
load("@petrel//extension/cli:petrel_pte.bzl", "petrel_pte_fleet")

petrel_pte_fleet(
    name = "zoo",
    exec_properties = {"OSFamily": "linux"},
    external_weights = True,
    models = glob(["models/*.pt2"]),
    petrel = "petrel",
)
"""


class Checkout:
    """A workspace with the archives, built with bazelw in an output base of its own."""

    def __init__(self, tree: pathlib.Path, petrel: pathlib.Path, folder: pathlib.Path):
        self.tree, self.folder, self._base = tree, folder, folder.with_name(folder.name + "_base")
        (folder / "models").mkdir(parents=True)
        archives = sorted(path for path in tree.rglob("*.pt2")
                          if not path.relative_to(tree).parts[0].startswith("bazel-"))
        for path in archives[:MODELS]:
            name = "-".join(path.relative_to(tree).parts)
            shutil.copyfile(path, folder / "models" / name)
        shutil.copy(petrel, folder / "petrel")
        (folder / "WORKSPACE").write_text(
            f'workspace(name = "fleet")\nlocal_repository(name = "petrel", path = "{tree}")\n')
        (folder / "BUILD.bazel").write_text(BUILD)

    def bazel(self, *words) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [self.tree / "bazelw", f"--output_base={self._base}", "--max_idle_secs=60", *words],
            env={**os.environ, "PETREL_WORKSPACE": str(self.folder)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=1200)
        if done.returncode:
            print(done.stderr[-3000:], file=sys.stderr)
        return done

    def build(self, *options) -> str:
        """Everything is made anew; what Bazel said of it."""
        self.bazel("clean")
        return self.bazel("build", "--keep_going", *options, "//:zoo").stderr

    def files(self):
        """All that was exported, by paths below the fleet, and the errors by models."""
        zoo = self.folder / "bazel-bin/zoo"
        found = {str(path.relative_to(zoo)): path.read_bytes()
                 for path in zoo.rglob("*") if path.suffix in (".pte", ".ptd")}
        errors = {}
        for path in zoo.rglob("*.status.json"):
            error = json.loads(path.read_text())["error"]
            if error is not None:
                errors[path.name.replace(".status.json", "")] = error
        return found, errors

    def shut_down(self) -> None:
        self.bazel("shutdown")
        subprocess.run(["chmod", "-R", "u+w", self._base], check=False)


def exported_by_the_command(checkout: Checkout, folder: pathlib.Path):
    """The same as Checkout.files(), of the command alone."""
    found, errors = {}, {}
    for archive in sorted((checkout.folder / "models").iterdir()):
        place = folder / "models" / f"{archive.stem}.exported"
        place.mkdir(parents=True)
        program = place / f"{archive.stem}.pte"
        done = subprocess.run([checkout.folder / "petrel", "export", f"models/{archive.name}",
                               "-o", program, "--external-weights", program.with_suffix(".ptd")],
                              cwd=checkout.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            errors[archive.stem] = done.stderr
        found.update({str(path.relative_to(folder)): path.read_bytes() for path in place.iterdir()})
    return found, errors


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what: str, holds: bool) -> None:
        self.passed += holds
        self.failed += not holds
        print(f"{'passed' if holds else 'FAILED'}: {what}", flush=True)


def per_minute(seconds: float) -> str:
    return f"{60 * MODELS / seconds:,.0f} exports per minute"


def named_by_actions(checkout: Checkout):
    """All words and variables of the actions."""
    done = checkout.bazel("aquery", "--output=jsonproto", "mnemonic(PetrelExport, //:all)")
    actions = json.loads(done.stdout)["actions"]
    words = [word for action in actions for word in action["arguments"]]
    return len(actions), words + [
        variable["value"] for action in actions for variable in action.get("environmentVariables", [])]


def check_all(checks: Checks, tree: pathlib.Path, petrel: pathlib.Path, work: pathlib.Path) -> None:
    checkout = Checkout(tree, petrel, work / "checkout")
    start = time.monotonic()
    wanted, errors = exported_by_the_command(checkout, work / "local")
    print(f"the command, one after another: {per_minute(time.monotonic() - start)}; "
          f"{MODELS - len(errors)} programs, {len(errors)} failures")

    def same(files) -> bool:
        return files[0] == wanted and files[1].keys() == errors.keys()

    count, words = named_by_actions(checkout)
    bad = [word for word in words if word.startswith("/") and word != "/bin/bash" or
           str(tree) in word or socket.gethostname() in word]
    checks.check(f"{count} actions name no place of this machine {bad[:3]}",
                 count == MODELS and not bad)
    with Farm(work / "farm") as farm:
        remote = [f"--remote_executor={farm.url}", "--jobs=16"]
        farm.start_worker("one")
        start = time.monotonic()
        said = checkout.build(*remote)
        print(f"one worker: {per_minute(time.monotonic() - start)}")
        checks.check("one worker exports what the command does",
                     f"{MODELS} remote" in said and same(checkout.files()))
        farm.start_worker("two")
        start = time.monotonic()
        said = checkout.build(*remote, "--noremote_accept_cached")
        print(f"two workers: {per_minute(time.monotonic() - start)}, "
              f"{farm.done_by('two')} by the second")
        checks.check("two workers share the work, and export the same",
                     farm.done_by("two") > 20 and same(checkout.files()))
        killed_at = farm.done_by("two") + 20
        killer = threading.Thread(
            target=lambda: farm.wait_until_done("two", killed_at, 300) and farm.kill("two"))
        killer.start()
        start = time.monotonic()
        said = checkout.build(*remote, "--noremote_accept_cached")
        killer.join()
        print(f"two workers, one killed: {time.monotonic() - start:.0f} s")
        checks.check("nothing is lost when a worker is killed",
                     "two" not in farm.workers and f"{MODELS} remote" in said and
                     same(checkout.files()))
        other = Checkout(tree, petrel, work / "elsewhere" / "other")
        said = other.build(f"--remote_cache={farm.url}")
        hits = re.search(r"(\d+) remote cache hit", said)
        print(f"another checkout: {hits[1] if hits else 0} of {MODELS} found in the cache")
        checks.check("another checkout finds all in the cache",
                     hits is not None and int(hits[1]) == MODELS and same(other.files()))
        done = subprocess.run([sys.executable, tree / "extension/fleet/report.py",
                               other.folder / "bazel-bin/zoo.fleet.json"], text=True, check=False,
                              stdout=subprocess.PIPE)
        print("report: " + done.stdout.splitlines()[-1])
        checks.check("the report counts what failed",
                     done.returncode == (1 if errors else 0) and
                     f"{MODELS - len(errors)} exported, {len(errors)} failed" in done.stdout)
        other.shut_down()
    checkout.shut_down()


def main() -> int:
    tree, petrel = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fleet") as work:
        # PostgreSQL runs as a user of its own.
        pathlib.Path(work).chmod(0o755)
        check_all(checks, tree, petrel, pathlib.Path(work))
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
