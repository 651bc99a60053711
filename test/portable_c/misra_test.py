# SPDX-License-Identifier: Apache-2.0
"""What cppcheck's add-on for MISRA C:2012 says of generated C: which rules it deviates from is what
docs/misra.md says, no more than ten of them and none that is mandatory.

  test/portable_c/compilers            installs cppcheck
"""

import concurrent.futures
import os
import pathlib
import re
import tempfile
import unittest

import every_option
from command import done

MOST = 10
PAGE = pathlib.Path("docs/misra.md").absolute()
# Of MISRA C:2012 with its amendments 1 and 2.
MANDATORY = {"9.1", "12.5", "13.6", "17.3", "17.4", "17.6", "19.1", "21.13", "21.17", "21.18",
             "21.19", "21.20", "21.22", "22.2", "22.4", "22.5", "22.6"}
# Larger files are numbers alone, of kinds that smaller packages have too; they take hours.
LARGEST = 64 << 10
FOUND = re.compile(r"^(\S+): misra-c2012-([\d.]+):", re.MULTILINE)


def deviations(folder, flags=()):
    """The rules that files of a package deviate from, each with a place. All of them are checked
    at once, as some rules are about a whole program; the self-test is one where it can be."""
    sources = sorted(f.name for f in folder.glob("*.c")
                     if f.name == "net.c" or f.stat().st_size < LARGEST)
    if "#error" not in (folder / "net_selftest.c").read_text():
        flags = (*flags, "-DNET_SELFTEST_MAIN")
    if '#error "define NET_WEAK' in (folder / "net.c").read_text():
        flags = (*flags, "-DNET_WEAK=")
    done(["timeout", "600", "cppcheck", *flags, "-DNET_ALIGNED_PARAM(n)=", "-DNET_ALIGNED(n)=",
          "-DNET_SECTION(n)=", "--addon=misra", "--enable=style", "--std=c99", "--quiet",
          "--max-configs=1", "-I.", "--output-file=misra.txt",
          "--template={file}:{line}: {id}: {message}", *sources], folder)
    text = (folder / "misra.txt").read_text()
    # A file that does not compile is not checked.
    unread = re.search(r"^.*: (\w*[eE]rror\w*|\w*internal\w*): .*|.*Bailing out.*", text,
                       re.MULTILINE)
    if unread is not None:
        raise AssertionError(f"{folder.name}: {unread[0]}")
    return {m[2]: f"{folder.name}/{m[1]}" for m in FOUND.finditer(text)}


def rules_of_page():
    return set(re.findall(r"^\| (\d+\.\d+) \|", PAGE.read_text(), re.MULTILINE))


class MisraTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def test_page_has_few_rules_and_none_that_is_mandatory(self):
        self.assertLessEqual(len(rules_of_page()), MOST)
        self.assertEqual(rules_of_page() & MANDATORY, set())

    def test_deviations_are_found(self):
        (self.folder / "net_selftest.c").write_text("")
        (self.folder / "net.c").write_text("int f(void);\nint f(void) {\n  goto end;\nend:\n"
                                           "  return 2;\n}\n")
        self.assertIn("15.1", deviations(self.folder))

    def test_packages_deviate_from_the_rules_of_the_page(self):
        (self.folder / "models").mkdir()
        folders = [made.write(self.folder) for made in every_option.OPTIONS]
        folders += [made.write(self.folder / "models") for made in every_option.every_model()
                    if made.name not in every_option.REFUSED]
        found = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for one in pool.map(deviations, folders):
                for rule, place in one.items():
                    found.setdefault(rule, place)
        self.assertEqual({r: p for r, p in found.items() if r not in rules_of_page()}, {})
        self.assertEqual(rules_of_page() - set(found), set(), "is not deviated from")


if __name__ == "__main__":
    unittest.main()
