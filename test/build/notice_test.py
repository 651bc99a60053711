# SPDX-License-Identifier: Apache-2.0
"""NOTICE names every library, tool and patch of the build, and every source file
names its own licence."""
import builtins
import os
import re
import tempfile
import types
import unittest
from unittest import mock

LICENCES = frozenset((
    "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
    "GPL-2.0-only",
    "GPL-2.0-or-later", "GPL-3.0-or-later WITH GCC-exception-3.1", "MIT",
    "MPL-2.0", "PSF-2.0", "Zlib"))

# A line of a list: name, packages or purpose, licence.
ENTRY = re.compile(r"^    (\w+) {2,}(\S.*?) {2,}(\S.*)$", re.M)
PATCH = re.compile(r"^    (third_party/\S+\.patch)$", re.M)

SPDX = "SPDX-License-Identifier: Apache-2.0"
NOT_SOURCE = (".bin", ".csv", ".ir", ".md", ".npy", ".patch", ".pt2", ".ptd",
              ".pte", ".pyc", ".q.json", ".safetensors", ".svg", ".txt", ".typed", "LICENSE",
              "MANIFEST", "NOTICE")


def workspace():
    """The source tree that the runfiles point into."""
    here = os.environ["TEST_SRCDIR"]
    name = os.environ["TEST_WORKSPACE"]
    return os.path.dirname(
        os.path.realpath(os.path.join(here, name, "WORKSPACE")))


def read(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read()


def files(tree):
    """Paths of all files, but not of what Bazel, git and editors keep there."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [f for f in folders if f == ".ci" or
                      not f.startswith((".", "bazel-", "__pycache__"))]
        found += [os.path.relpath(os.path.join(folder, name), tree)
                  for name in names if not name.startswith(".")]
    return sorted(found)


class BazelNames(dict):
    """Python's names, and any other as a thing of Bazel's that does nothing."""

    def __missing__(self, name):
        return mock.MagicMock()


def repositories(tree):
    """The attributes of each repository that WORKSPACE takes from elsewhere.

    It and the files that it loads are run as Python, whose subset they are.
    """
    found = []

    def run(package, file):
        def load(label, *names):
            if label.startswith("@"):
                scope.update((name, mock.MagicMock()) for name in names)
                return
            there, _, loaded = label.rpartition(":")
            loaded = run(there[len("//"):] or package, loaded)
            scope.update((name, loaded[name]) for name in names)

        scope = {"__builtins__": BazelNames(vars(builtins)), "load": load,
                 "Label": str, "local_repository": declare,
                 "native": types.SimpleNamespace(
                     local_repository=declare, register_toolchains=lambda *_: None),
                 "repository_rule": lambda **_: declare}
        path = os.path.join(package, file)
        exec(compile(read(tree, path), path, "exec"), scope)
        return scope

    def declare(**attributes):
        # Folders of the tree are ours; `packages` only fetches for the others.
        if attributes.get("path", "/").startswith("/") and \
                "packages" not in attributes:
            found.append(attributes)

    run("", "WORKSPACE")
    return found


def installed_packages(tree):
    """The Debian packages that bazelw asks for."""
    lists = re.findall(r"packages\+?=\(([^)]*)\)", read(tree, "bazelw"))
    return set(" ".join(lists).split())


def complaints(tree):
    """What NOTICE lacks, and what it names that the build does not have."""
    notice = read(tree, "NOTICE")
    entries = {name: (text, licence)
               for name, text, licence in ENTRY.findall(notice)}
    found = ["%s: '%s' is not a known licence" % (name, licence)
             for name, (_, licence) in entries.items()
             if licence not in LICENCES]

    declared = repositories(tree)
    found += ["repository %s is missing" % rule["name"]
              for rule in declared if rule["name"] not in entries]

    words = set(" ".join(text for text, _ in entries.values()).split())
    packages = installed_packages(tree)
    found += ["package %s is missing" % p for p in packages - words]
    names = {rule["name"] for rule in declared}
    found += ["%s is not a part of the build" % name
              for name, (text, _) in entries.items()
              if name not in names and not packages & set(text.split())]

    named = PATCH.findall(notice)
    applied = {patch[len("//"):].replace(":", "/")
               for rule in declared for patch in rule.get("patches", [])}
    kept = {path for path in files(tree) if path.endswith(".patch")}
    found += ["patch %s is missing" % p for p in (applied | kept) - set(named)]
    found += ["patch %s is not applied" % p for p in set(named) - applied]
    return sorted(found)


def without_licence(tree):
    """Source files, and files that patches add, that do not open with SPDX."""
    read_files, found = 0, []
    for path in files(tree):
        if path.endswith(".patch"):
            for name, line in re.findall(
                    r"^--- /dev/null\n\+\+\+ b/(\S+)\n@@.*\n\+(.*)",
                    read(tree, path), re.M):
                if SPDX not in line:
                    found.append("%s in %s" % (name, path))
        # Inputs of readers, which hold any bytes.
        if path.endswith(NOT_SOURCE) or "/corpus/" in path:
            continue
        read_files += 1
        if not any(SPDX in line for line in read(tree, path).split("\n", 2)[:2]):
            found.append(path)
    return read_files, found


class TreeTest(unittest.TestCase):

    def test_notice_names_what_the_build_takes_from_elsewhere(self):
        self.assertGreater(len(repositories(workspace())), 15)
        self.assertGreater(len(installed_packages(workspace())), 15)
        self.assertEqual(complaints(workspace()), [])

    def test_notice_holds_the_licence_of_each_library_built_from_source(self):
        texts = read(workspace(), "NOTICE").split("5. Licence texts")[1].lower()
        built = [rule["name"] for rule in repositories(workspace())
                 if "build_file" in rule]
        self.assertGreater(len(built), 3)
        for name in built:
            self.assertIn("\n%s\n" % name, texts)

    def test_source_files_open_with_their_licence(self):
        read_files, found = without_licence(workspace())
        self.assertGreater(read_files, 1000)
        self.assertEqual(found, [])

    def test_licence_is_the_text_that_apache_publishes(self):
        text = read(workspace(), "LICENSE")
        self.assertIn("Version 2.0, January 2004", text)
        self.assertIn("END OF TERMS AND CONDITIONS", text)


class BrokenTreeTest(unittest.TestCase):

    def setUp(self):
        self.tree = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        self.write("NOTICE", "")
        self.write("bazelw", "packages=(\n  gcc libx-dev\n)\n")
        self.write("WORKSPACE", "load(\"//a:b.bzl\", \"all\")\nall()\n")
        self.write("a/b.bzl", "_debian = repository_rule(attrs = {})\n"
                   "def all():\n"
                   "    _debian(name = \"x\", package = \"libx-dev\",\n"
                   "            patches = [\"//third_party/x:one.patch\"])\n")
        self.write("third_party/x/one.patch", "")

    def write(self, path, text):
        path = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def test_everything_that_an_empty_notice_lacks_is_found(self):
        self.assertEqual(complaints(self.tree), [
            "package gcc is missing", "package libx-dev is missing",
            "patch third_party/x/one.patch is missing",
            "repository x is missing"])

    def test_a_notice_that_is_right_and_one_that_is_old(self):
        right = ("    x     libx-dev    MIT\n"
                 "    gcc   gcc         GPL-3.0-or-later WITH GCC-exception-3.1\n"
                 "    third_party/x/one.patch\n")
        self.write("NOTICE", right)
        self.assertEqual(complaints(self.tree), [])
        self.write("NOTICE", right + "    y    liby-dev    Mine\n"
                   "    third_party/x/two.patch\n")
        self.assertEqual(complaints(self.tree), [
            "patch third_party/x/two.patch is not applied",
            "y is not a part of the build",
            "y: 'Mine' is not a known licence"])

    def test_files_without_a_licence_are_found(self):
        for path in ("bazelw", "WORKSPACE", "a/b.bzl"):
            self.write(path, "#!/bin/sh\n# %s\n" % SPDX)
        self.write("a/b.cc", "// A comment.\n//\n// %s\n" % SPDX)
        self.write("third_party/x/one.patch",
                   "--- /dev/null\n+++ b/src/new.c\n@@ -0,0 +1,2 @@\n+int x;\n")
        self.assertEqual(without_licence(self.tree), (
            4, ["a/b.cc", "src/new.c in third_party/x/one.patch"]))


if __name__ == "__main__":
    unittest.main()
