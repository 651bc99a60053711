# SPDX-License-Identifier: Apache-2.0
"""The wheel is one by the rules, and works where nothing else of Petrel is."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAM = """
import sys, numpy, petrel
program = petrel.export(sys.argv[1])
image = numpy.load(sys.argv[2])
scores, = petrel.load(program)["forward"](image)
assert scores.shape == (1, 10), scores.shape
assert petrel.__file__.startswith(sys.argv[3]), petrel.__file__
assert "torch" not in sys.modules
bundled = [line.split()[-1] for line in open("/proc/self/maps") if "libabsl" in line]
assert bundled and all(path.startswith(sys.argv[3]) for path in bundled), bundled
print(int(scores.argmax()))
"""


class WheelTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))
        done = subprocess.run(["extension/python/wheel/wheel", "--output-dir",
                               str(cls.folder / "dist")], stdout=subprocess.PIPE, text=True,
                              check=True)
        cls.path = pathlib.Path(done.stdout.strip())
        cls.wheel = zipfile.ZipFile(cls.path)
        cls.names = cls.wheel.namelist()

    def test_is_named_by_version_and_tag(self):
        major, minor = sys.version_info[:2]
        machine = os.uname().machine
        self.assertRegex(
            self.path.name,
            rf"^petrel-\d+\.\d+\.\d+-cp{major}{minor}-cp{major}{minor}"
            rf"-manylinux_2_\d+_{machine}\.whl$")
        self.assertEqual(os.listdir(self.path.parent), [self.path.name])

    def test_record_lists_every_file_with_its_digest(self):
        record, = [name for name in self.names if name.endswith("RECORD")]
        self.assertEqual(self.names[-1], record)
        rows = list(csv.reader(io.StringIO(self.wheel.read(record).decode())))
        self.assertEqual([row[0] for row in rows], self.names)
        for name, digest, size in rows[:-1]:
            data = self.wheel.read(name)
            made = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            self.assertEqual(digest, "sha256=" + made.decode())
            self.assertEqual(int(size), len(data))
        self.assertEqual(rows[-1][1:], ["", ""])

    def test_metadata_has_what_installers_ask_for(self):
        text = {name.split("/")[-1]: self.wheel.read(name).decode() for name in self.names
                if ".dist-info/" in name and "licenses" not in name}
        for line in ("Metadata-Version: 2.1", "Name: petrel", "Requires-Dist: numpy"):
            self.assertIn(line, text["METADATA"].splitlines())
        tag = self.path.name.split("-", 2)[2][:-len(".whl")]
        self.assertIn(f"Tag: {tag}", text["WHEEL"].splitlines())
        self.assertIn("Root-Is-Purelib: false", text["WHEEL"].splitlines())

    def test_is_typed(self):
        self.assertIn("petrel/py.typed", self.names)
        self.assertIn("petrel/_petrel.pyi", self.names)

    def test_module_is_named_for_the_python_that_it_is_for(self):
        major, minor = sys.version_info[:2]
        self.assertIn(
            f"petrel/_petrel.cpython-{major}{minor}-{os.uname().machine}-linux-gnu.so", self.names)
        text = self.wheel.read(next(n for n in self.names if n.endswith("METADATA"))).decode()
        self.assertIn(f"Requires-Python: =={major}.{minor}.*", text.splitlines())

    def test_bundled_libraries_come_with_their_licences(self):
        libraries = [name for name in self.names if name.startswith("petrel/_libs/")]
        licences = [name for name in self.names if "/licenses/" in name]
        for library in libraries:
            stem = re.split(r"\.so|_", library.split("/")[-1])[0]
            self.assertTrue(any(stem in licence for licence in licences), library)

    def test_static_libraries_come_with_their_licences(self):
        licences = {name.split("/")[-1] for name in self.names if "/licenses/" in name}
        self.assertLessEqual({"pybind11-dev.txt", "nlohmann-json3-dev.txt", "libcli11-dev.txt",
                              "g++.txt"}, licences)

    def test_modes_are_those_of_files_and_programs(self):
        for entry in self.wheel.infolist():
            runs = ".so" in entry.filename or entry.filename == "petrel/petrel"
            if not entry.filename.endswith("/RECORD"):
                self.assertEqual(entry.external_attr >> 16, 0o100755 if runs else 0o100644,
                                 entry.filename)

    def test_unpacks_with_the_tool_that_compares_digests(self):
        unpacked = self.folder / "unpacked"
        subprocess.run(["/usr/bin/python3", "-I", "-m", "wheel", "unpack", self.path, "-d",
                        unpacked], stdout=subprocess.DEVNULL, check=True)
        tree, = unpacked.iterdir()
        self.assertEqual({str(path.relative_to(tree)) for path in tree.rglob("*")
                          if path.is_file()}, set(self.names))

    def test_brings_the_licence_and_the_notice(self):
        for name, words in (("LICENSE", "Apache License"), ("NOTICE", "Petrel")):
            path, = [n for n in self.names if n.endswith(f".dist-info/licenses/{name}")]
            self.assertIn(words, self.wheel.read(path).decode())

    def test_same_bytes_when_written_again(self):
        other = self.folder / "again"
        subprocess.run(["extension/python/wheel/wheel", "--output-dir", str(other)],
                       stdout=subprocess.DEVNULL, check=True)
        self.assertEqual((other / self.path.name).read_bytes(), self.path.read_bytes())

    def test_exports_and_runs_alone(self):
        site = self.folder / "site"
        self.wheel.extractall(site)
        clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site)}
        done = subprocess.run(
            ["/usr/bin/python3", "-c", PROGRAM,
             os.path.realpath("examples/quickstart/digits.pt2"),
             os.path.realpath("examples/quickstart/digit.npy"), str(site)],
            env=clean, cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True)
        self.assertRegex(done.stdout, r"^\d\n$")

    def test_brings_the_command(self):
        entries, = [name for name in self.names if name.endswith("/entry_points.txt")]
        self.assertEqual(self.wheel.read(entries).decode(),
                         "[console_scripts]\npetrel = petrel._command:main\n")
        program = self.wheel.getinfo("petrel/petrel")
        self.assertEqual(program.external_attr >> 16, 0o100755)
        site = self.folder / "with_command"
        self.wheel.extractall(site)
        (site / "petrel/petrel").chmod(0o755)  # which an installer does, and zipfile does not
        model = os.path.realpath("examples/quickstart/digits.pt2")
        clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site)}
        for main in (["-m", "petrel"], ["-c", "from petrel._command import main; main()"]):
            subprocess.run(["/usr/bin/python3", *main, "export", model, "-o", "m.pte"],
                           env=clean, cwd=self.folder, stdout=subprocess.DEVNULL, check=True)
            self.assertGreater((self.folder / "m.pte").stat().st_size, 0)
            (self.folder / "m.pte").unlink()
        wrong = subprocess.run(["/usr/bin/python3", "-m", "petrel", "no-verb"], env=clean,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("no-verb", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
