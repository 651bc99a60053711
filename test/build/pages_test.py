# SPDX-License-Identifier: Apache-2.0
"""What pages say about the tree is so: links lead somewhere, files are where they
are said to be, and the page on architecture names every room and every edge."""
import os
import re
import shlex
import tempfile
import unittest

import rooms

LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")
EXAMPLE = re.compile(r"^    [^\n]*|^```.*?^```", re.M | re.S)
CODE = re.compile(r"`([^`\n]+)`")
ROOM_ROW = re.compile(r"^\| `([\w/]+)` \|", re.M)
COMMAND = re.compile(r"^    (\S[^\n]*)|^(?:\./bazelw|test/)[^\n]*", re.M)
# What the reader of a page makes.
MADE = re.compile(r"\b(mine|zoo)\b")
EDGE = re.compile(r"^    ([\w/, ]+?) +-> (.+)$", re.M)
ARCHITECTURE = "docs/architecture.md"
# Pages of which every path is one of the tree, or has a placeholder in capitals.
EXACT = ("CONTRIBUTING.md", ARCHITECTURE, "docs/delegate_xnnpack.md", "docs/extend.md",
         "docs/portable_c_requirements.md")


def workspace():
    """The source tree that the runfiles point into."""
    here = os.environ["TEST_SRCDIR"]
    name = os.environ["TEST_WORKSPACE"]
    return os.path.dirname(
        os.path.realpath(os.path.join(here, name, "WORKSPACE")))


def read(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read()


def folders_and_files(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders
                            if not f.startswith((".", "bazel-")))
        yield os.path.relpath(folder, tree), names


def pages(tree):
    return [os.path.normpath(os.path.join(folder, name))
            for folder, names in folders_and_files(tree)
            for name in names if name.endswith(".md")]


def broken_links(tree):
    found = []
    for page in pages(tree):
        text = EXAMPLE.sub("", read(tree, page))
        for target in LINK.findall(text):
            path = os.path.join(tree, os.path.dirname(page), target)
            if not os.path.exists(path):
                found.append("%s: %s" % (page, target))
    return found


def is_placeholder(path):
    return any(len(word) > 1 and word.isupper() for word in re.split(r"[\W_]+", path)
               if word not in ("BUILD", "LICENSE", "NOTICE", "README", "MANIFEST"))


def expanded(path):
    """`a/b.{h,cc}` as a/b.h and a/b.cc."""
    choice = re.match(r"(.*)\{([^}]*)\}(.*)$", path)
    if not choice:
        return [path]
    return [choice.group(1) + middle + choice.group(3)
            for middle in choice.group(2).split(",")]


def is_made(tree, path):
    """Whether the BUILD file of the path's folder names it, as an output."""
    folder, _, name = path.rpartition("/")
    build = os.path.join(folder, "BUILD.bazel")
    return os.path.exists(os.path.join(tree, build)) and \
        '"%s"' % name in read(tree, build)


def has_target(tree, label):
    """Whether `//a/b:c`, `//a/b` or a pattern such as `//a/...` names something. Macros
    add a word to their name: `program` also makes `program_fuzz_test`."""
    package, _, name = label.lstrip("/").partition(":")
    if package.endswith("..."):
        return os.path.isdir(os.path.join(tree, package[:-len("...")]))
    build = os.path.join(package, "BUILD.bazel")
    target = name or package.rpartition("/")[2]
    if not os.path.exists(os.path.join(tree, build)):
        return False
    words = target.split("_")
    text = read(tree, build)
    return target == "all" or any('"%s"' % "_".join(words[:n]) in text
                                  for n in range(1, len(words) + 1))


def command_things(line):
    """The labels and files of the tree that a command line names."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # no command
        return
    program = words[0] if words else ""
    if program == "./bazelw":
        end = words.index("--") if "--" in words else len(words)
        yield from (word for word in words[2:end] if word.startswith("//"))
    elif re.match(r"(test|\.ci|bazel-bin)/", program):
        yield program
    elif program == "python3" and len(words) > 1 and "/" in words[1]:
        yield words[1]


def wrong_commands(tree, page):
    """What commands of a page name and is not there."""
    found = []
    for match in COMMAND.finditer(read(tree, page)):
        for thing in command_things(match.group().strip()):
            if is_placeholder(thing) or MADE.search(thing):
                continue
            if thing.startswith("bazel-bin/"):
                folder, _, name = thing[len("bazel-bin/"):].rpartition("/")
                thing = "//%s:%s" % (folder, name)
            is_there = has_target(tree, thing) if thing.startswith("//") else \
                os.path.exists(os.path.join(tree, thing))
            if not is_there:
                found.append("%s: %s" % (page, thing))
    return found


def missing_files(tree, page):
    """Paths of the tree that a page names and that are not there."""
    found = []
    for text in CODE.findall(read(tree, page)):
        words = text.split()
        if len(words) != 1 or "/" not in text or is_placeholder(text):
            continue
        label = text.startswith("//")
        package, _, name = text.lstrip("/").partition(":")
        if package.split("/")[0] not in rooms.ROOMS:
            continue
        paths = expanded(package)
        if label:
            if not has_target(tree, text):
                found.append(text)
                continue
            if package.endswith("..."):
                paths = [package[:-len("...")]]
        for path in paths:
            if "*" in path:
                folder, _, pattern = path.rpartition("/")
                names = os.listdir(os.path.join(tree, folder))
                pattern = re.compile(re.escape(pattern).replace(r"\*", ".*"))
                if not any(pattern.fullmatch(each) for each in names):
                    found.append(path)
            elif not os.path.exists(os.path.join(tree, path)) and \
                    not is_made(tree, path):
                found.append(path)
    return found


def rooms_of(tree):
    """Folders with code of their own, two levels deep, or three in kernels."""
    found = set()
    for folder, names in folders_and_files(tree):
        levels = folder.split("/")
        if levels[0] not in ("schema", "runtime", "exir", "backends", "extension"):
            continue
        if levels[0] == "backends":
            if len(levels) == 2:
                found.add(folder)
        elif "BUILD.bazel" in names and folder not in ("runtime", "exir"):
            found.add("/".join(levels[:3 if levels[1:2] == ["kernels"] else 2]))
    return found


def wrong_rooms(tree):
    listed = set(ROOM_ROW.findall(read(tree, ARCHITECTURE)))
    return sorted(["%s is not listed" % r for r in rooms_of(tree) - listed] +
                  ["%s is not there" % r for r in listed
                   if not os.path.isdir(os.path.join(tree, r))])


class PagesTest(unittest.TestCase):

    def test_links_lead_somewhere(self):
        self.assertGreater(len(pages(workspace())), 15)
        self.assertEqual(broken_links(workspace()), [])

    def test_named_files_are_there(self):
        for page in EXACT:
            with self.subTest(page):
                self.assertEqual(missing_files(workspace(), page), [])

    def test_commands_name_what_is_there(self):
        tree = workspace()
        self.assertEqual([wrong for page in pages(tree) for wrong in wrong_commands(tree, page)],
                         [])

    def test_every_room_is_named(self):
        self.assertGreater(len(rooms_of(workspace())), 20)
        self.assertEqual(wrong_rooms(workspace()), [])

    def test_edges_are_those_that_are_allowed(self):
        text = read(workspace(), ARCHITECTURE)
        section = text.split("### Who may know whom")[1].split("\n## ")[0]
        stated = {}
        for left, right in EDGE.findall(section):
            for source in left.split(", "):
                stated[source] = right
        for package in rooms.FOLDING_PACKAGES:
            self.assertTrue(stated[package].startswith("runtime"), package)
        for package, shared in rooms.SHARED_PACKAGES.items():
            self.assertEqual(stated[package], ", ".join(shared))
        for room in ("schema", "runtime", "exir", "extension",
                     "backends/X/format", "backends/X/aot",
                     "backends/X/runtime", "test", "examples", "docs"):
            self.assertIn(room, stated)
        for source, right in stated.items():
            for destination in re.findall(r"[\w/]+", right):
                if destination.split("/")[0] not in rooms.ROOMS:
                    continue  # words
                edge = rooms.Edge("//%s:a" % source.replace("X", "x"),
                                  "//%s:b" % destination.replace("X", "x"),
                                  False, False)
                self.assertIsNone(rooms.violation(edge), edge)


class BrokenPageTest(unittest.TestCase):

    def setUp(self):
        self.tree = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])

    def write(self, path, text):
        path = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def test_links_and_files_that_are_not_there_are_found(self):
        self.write("exir/ops/BUILD.bazel", "cc_library(name = \"ops\")\n"
                   "genrule(name = \"make\", outs = [\"made.h\"])\n")
        self.write("exir/ops/unary_ops.cc", "")
        self.write("docs/a.md",
                   "    f[0](x)\n```\nf[0](y)\n```\n"
                   "[b](b.md) [here](a.md#x) [far](https://a.org/b.md)\n"
                   "`exir/ops/made.h` `exir/ops/table.h` `exir/ops/NAME.h`\n"
                   "`exir/ops/*_ops.cc` `exir/ops/*_rules.cc`\n"
                   "`exir/ops/unary_ops.{h,cc}` `//exir/ops` `//exir/ops:table`\n")
        self.assertEqual(broken_links(self.tree), ["docs/a.md: b.md"])
        self.assertEqual(missing_files(self.tree, "docs/a.md"), [
            "exir/ops/table.h", "exir/ops/*_rules.cc", "exir/ops/unary_ops.h",
            "//exir/ops:table"])

    def test_commands_on_what_is_not_there_are_found(self):
        self.write("exir/ops/BUILD.bazel", "cc_test(name = \"ops_test\")\nfuzz(name = \"a\")\n")
        self.write("test/perf/peers", "")
        self.write("docs/a.md",
                   "    ./bazelw test --config=asan //exir/ops:ops_test //exir/ops:a_fuzzer\n"
                   "    ./bazelw run //exir/ops:gone -- //no/label\n    it's prose\n"
                   "```sh\n./bazelw test //exir/...\n./bazelw test //exir/gone/...\n```\n"
                   "    test/perf/peers  # compares\n    test/perf/gone\n"
                   "    bazel-bin/exir/ops/ops_test\n    bazel-bin/exir/ops/other\n")
        self.assertEqual(wrong_commands(self.tree, "docs/a.md"), [
            "docs/a.md: //exir/ops:gone", "docs/a.md: //exir/gone/...",
            "docs/a.md: test/perf/gone", "docs/a.md: //exir/ops:other"])

    def test_rooms_that_are_new_or_gone_are_found(self):
        self.write("exir/ops/BUILD.bazel", "")
        self.write("runtime/kernels/fast/BUILD.bazel", "")
        self.write("backends/mine/aot/BUILD.bazel", "")
        self.write(ARCHITECTURE, "| `exir/ops` | a |\n| `exir/old` | b |\n")
        self.assertEqual(wrong_rooms(self.tree), [
            "backends/mine is not listed", "exir/old is not there",
            "runtime/kernels/fast is not listed"])


if __name__ == "__main__":
    unittest.main()
