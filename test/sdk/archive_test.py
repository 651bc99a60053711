# SPDX-License-Identifier: Apache-2.0
"""What //dist writes: what is in it, and that apps have enough of it."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tarfile
import unittest
import zipfile

import bazel_packages
import public

FOLDER = pathlib.Path(os.environ["TEST_TMPDIR"])
APPS = pathlib.Path("test/sdk")

# What every Linux with glibc has: Debian's libc6 depends on libgcc-s1.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "libgcc_s.so.1",
                 "ld-linux-x86-64.so.2"}
OF_CPP = {"libstdc++.so.6"}

# Public targets that the SDK has in another form, or not.
NOT_IN_SDK = {
    "//dist:dist", "//extension/fleet:report", "//extension/python:petrel",
    "//extension/python:wheel",
    # Of what generated C is packed with, whose folder brings it.
    "//extension/named_data_map:linked_model_map",
    # Commands of the SDK's users run where they are built.
    "//runtime/platform:older_glibc",
    # Options of the build, which its libraries have behind them.
    "//runtime:messages", "//runtime:sharing",
}

# The oldest glibc that they run with.
GLIBC = (2, 34)


def output(*command, **kwargs):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=True, **kwargs).stdout


def needed(path):
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]",
                          output("readelf", "--dynamic", path)))


def files_in(prefix):
    return [path for path in prefix.rglob("*") if path.is_file()]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class ArchiveTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.paths = {}
        for name in ("first", "second"):
            lines = output("dist/dist", "--output-dir", FOLDER / name).splitlines()
            cls.paths[name] = [pathlib.Path(line) for line in lines]
        whole, runtime, symbols, cls.wheel = cls.paths["first"][:4]
        for path in (whole, runtime, symbols):
            with tarfile.open(path) as archive:
                archive.extractall(FOLDER)
        cls.prefix = FOLDER / whole.name[:-len(".tar.gz")]
        cls.runtime = FOLDER / runtime.name[:-len(".tar.gz")]
        cls.symbols = FOLDER / symbols.name[:-len(".tar.gz")]
        cls.program = FOLDER / "digits.pte"
        output(cls.prefix / "bin/petrel", "export", "examples/quickstart/digits.pt2", "-o",
               cls.program)

    def test_is_the_same_each_time(self):
        for first, second in zip(self.paths["first"], self.paths["second"]):
            self.assertEqual(first.name, second.name)
            self.assertEqual(first.read_bytes(), second.read_bytes(), first.name)

    def test_tells_the_digest_of_each_file(self):
        for prefix in (self.prefix, self.runtime):
            sums = prefix / "share/petrel/SHA256SUMS"
            listed = dict(reversed(line.split("  ")) for line in sums.read_text().splitlines())
            found = {str(path.relative_to(prefix)): digest(path)
                     for path in files_in(prefix) if path != sums}
            self.assertEqual(listed, found)
        sums = (self.wheel.parent / "SHA256SUMS").read_text()
        for path in self.paths["first"]:
            self.assertIn(f"{digest(path)}  {path.name}\n", sums)

    def test_library_of_c_has_its_header_and_its_package(self):
        folder = FOLDER / "c"
        archive, wheel = map(pathlib.Path, output("dist/c_library", "--output-dir", folder)
                             .splitlines())
        platform = re.search(r"py3-none-(manylinux_2_\d+_x86_64)[.]whl$", wheel.name)[1]
        self.assertLessEqual(int(platform.split("_")[2]), GLIBC[1])
        sums = (folder / f"SHA256SUMS-{platform}").read_text()
        for path in (archive, wheel):
            self.assertIn(f"{digest(path)}  {path.name}\n", sums)
        with tarfile.open(archive) as packed:
            packed.extractall(folder)
        prefix = folder / archive.name[:-len(".tar.gz")]
        self.assertEqual(needed(prefix / "lib/libpetrel.so") - OF_THE_SYSTEM, set())
        self.assertEqual(digest(prefix / "lib/libpetrel.so"),
                         digest(self.prefix / "lib/libpetrel.so"))
        self.assertEqual(digest(prefix / "include/petrel/petrel.h"),
                         digest(self.prefix / "include/petrel/petrel.h"))
        with zipfile.ZipFile(wheel) as package:
            self.assertNotIn("petrel_runtime/petrel", package.namelist())
            self.assertIn("petrel_runtime/libpetrel.so", package.namelist())

    def test_bill_names_the_files_and_libraries(self):
        bill = json.loads((self.prefix / "share/petrel/petrel.spdx.json").read_text())
        names = {package["name"] for package in bill["packages"]}
        self.assertLessEqual({"petrel", "xnnpack", "libabsl-dev", "zlib1g-dev", "g++"}, names)
        self.assertNotIn("libssl-dev", names)  # of an example and of tests
        self.assertTrue(all(package["versionInfo"] for package in bill["packages"]))
        self.assertIn("./lib/libpetrel.so", {file["fileName"] for file in bill["files"]})
        known = {"SPDXRef-DOCUMENT"} | {
            each["SPDXID"] for each in bill["packages"] + bill["files"]}
        for relation in bill["relationships"]:
            self.assertIn(relation["spdxElementId"], known)
            self.assertIn(relation["relatedSpdxElement"], known)

    def test_runtime_is_without_the_command_and_its_libraries(self):
        self.assertFalse((self.runtime / "bin").exists())
        bill = json.loads((self.runtime / "share/petrel/petrel.spdx.json").read_text())
        self.assertNotIn("libabsl-dev", {package["name"] for package in bill["packages"]})

    def test_symbols_lie_where_debuggers_look_for_those_of_each_file(self):
        stripped = [self.prefix / path for path in ("bin/petrel", "lib/libpetrel.so",
                                                    "libexec/petrel/used_kernels")]
        expected = set()
        for path in stripped:
            identity = re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "--notes", path))[1]
            expected.add(self.symbols / f"lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug")
            self.assertNotRegex(output("nm", path, stderr=subprocess.STDOUT), r" [tT] ")
        self.assertEqual(set(files_in(self.symbols)), expected)
        for path in expected:
            self.assertRegex(output("nm", "--demangle", path), r" [tT] petrel::")

    def test_holds_no_path_of_this_machine(self):
        place = re.compile(rb"/execroot/|/sandbox/|" + re.escape(os.getcwd().encode()))
        for path in files_in(self.prefix) + files_in(self.symbols):
            self.assertIsNone(place.search(path.read_bytes()), path)

    def test_shared_library_shows_the_c_interface_and_needs_the_system_alone(self):
        library = self.prefix / "lib/libpetrel.so"
        shown = {line.split()[-1].split("@")[0]
                 for line in output("nm", "-D", "--extern-only", "--defined-only",
                                     library).splitlines()}
        self.assertGreater(len(shown), 25)
        self.assertEqual({name for name in shown if not name.startswith("petrel_")}, {"PETREL_1"})
        self.assertLessEqual(needed(library), OF_THE_SYSTEM)

    def test_command_needs_the_system_alone(self):
        self.assertLessEqual(needed(self.prefix / "bin/petrel"), OF_THE_SYSTEM)

    def test_runs_with_older_systems(self):
        for path in ("bin/petrel", "lib/libpetrel.so"):
            symbols = output("objdump", "-T", self.prefix / path)
            wanted = {tuple(map(int, version.split(".")))
                      for version in re.findall(r"\(GLIBC_([\d.]+)\)", symbols)}
            self.assertLessEqual(max(wanted), GLIBC, path)

    def compile_cpp(self, source, app):
        libraries = [f"-lpetrel_{name}" for name in ("module", "kernels", "xnnpack", "threads",
                                                     "core")]
        output("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{self.prefix}/include",
               source, APPS / "registry.cc", "-o", app, f"-L{self.prefix}/lib",
               *libraries, "-lpthread")
        self.assertLessEqual(needed(app), OF_THE_SYSTEM | OF_CPP)

    def test_targets_have_the_labels_of_the_sources(self):
        there = {label for label in public.FOR_USERS if label not in NOT_IN_SDK}
        found = {label for label in bazel_packages.labels(True) if "//third_party" not in label}
        self.assertEqual(found | {"//:module", "//:xnnpack"}, there)
        for prefix, with_compiler in ((self.prefix, True), (self.runtime, False)):
            for label, target in bazel_packages.labels(with_compiler).items():
                package, name = label[2:].split(":")
                build = (prefix / package / "BUILD.bazel").read_text()
                self.assertIn(f'alias(\n    name = "{name}",\n    actual = "//:{target}",', build)
                if "/" in target:
                    self.assertTrue((prefix / target).exists(), target)
                else:
                    self.assertIn(f'    name = "{target}",', (prefix / "BUILD.bazel").read_text())
            for path in re.findall(r'"(lib/[^"]+)"', (prefix / "BUILD.bazel").read_text()):
                self.assertTrue((prefix / path).exists(), path)

    def test_each_library_has_what_it_needs_in_those_it_names(self):
        names = {"core": [], "threads": ["core"], "kernels": ["threads", "core"],
                 "xnnpack": ["threads", "core"], "module": ["core"],
                 "c_api": ["module", "core"], "abseil": []}
        names["compiler"] = ["abseil", "module", "kernels", "xnnpack", "threads", "core"]
        names["command"] = ["compiler", *names["compiler"]]
        names["conformance"] = ["compiler", *names["compiler"]]
        found = {re.sub("^(lib)?petrel_|[.].$", "", path.name): path
                 for path in (self.prefix / "lib").glob("*petrel_*.*")}
        self.assertEqual(set(found), set(names))
        defined, missing = {}, {}
        for name, path in found.items():
            lines = [line.split() for line in output("nm", "--format=posix", path,
                                                     stderr=subprocess.DEVNULL).splitlines()]
            symbols = [line[:2] for line in lines if len(line) > 1]
            defined[name] = {symbol for symbol, kind in symbols if kind in "BDRTVWi"}
            missing[name] = {symbol for symbol, kind in symbols if kind == "U"} - defined[name]
        for name, needs in names.items():
            there = set().union(*(defined[need] for need in needs))
            for other in set(names) - set(needs) - {name}:
                self.assertEqual((missing[name] - there) & defined[other], set(),
                                 f"{name} needs {other}")

    def test_brings_classes_for_java_and_a_package_for_swift(self):
        for prefix in (self.prefix, self.runtime):
            names = {str(path.relative_to(prefix / "share/petrel"))
                     for path in files_in(prefix / "share/petrel")}
            self.assertLessEqual({"java/petrel_jni.c", "java/src/io/petrel/Module.java",
                                  "swift/Package.swift", "swift/Sources/CPetrel/module.modulemap",
                                  "swift/Sources/CPetrel/c_petrel.h",
                                  "swift/Sources/Petrel/Module.swift",
                                  "swift/Tests/PetrelTests/PetrelTests.swift"}, names)

    def test_new_app(self):
        output(self.prefix / "bin/petrel", "new-app", "mine", "-o", FOLDER / "mine")
        self.compile_cpp(FOLDER / "mine/mine.cc", FOLDER / "mine_app")
        self.assertRegex(output(FOLDER / "mine_app", self.program),
                         r"^10 elements of type float32, the first is -?\d")

    def test_app_of_cpp(self):
        app = FOLDER / "cpp_app"
        self.compile_cpp(APPS / "app.cc", app)
        self.assertRegex(output(app, self.program), r"^10 numbers, the first is -?\d")
        self.check_includes("g++", APPS / "app.cc")

    def test_app_of_c(self):
        app = FOLDER / "c_app"
        output("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror",
               f"-I{self.prefix}/include", APPS / "app.c", "-o", app, f"-L{self.prefix}/lib",
               "-lpetrel", f"-Wl,-rpath,{self.prefix}/lib")
        self.assertRegex(output(app, self.program), r"^10 numbers, the first is -?\d")
        self.check_includes("gcc", APPS / "app.c")

    def check_includes(self, compiler, source):
        """All is of the SDK, or of the compiler and its libraries."""
        included = output(compiler, "-M", f"-I{self.prefix}/include", source)
        for word in ("absl", "flatbuffers", "openssl", "nlohmann", "hwy", "rapidjson", "xnnpack.h"):
            self.assertNotIn(f"/{word}", included)
        self.assertIn(str(self.prefix), included)

    def test_wheel_records_its_files(self):
        self.assertRegex(self.wheel.name, r"-py3-none-manylinux_2_\d+_x86_64\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            record = wheel.read(names[-1]).decode()
            points = wheel.read(names[-1].replace("RECORD", "entry_points.txt")).decode()
            package = FOLDER / "site"
            wheel.extractall(package)
        self.assertEqual([line.split(",")[0] for line in record.splitlines()], names)
        self.assertIn("petrel = petrel_runtime._command:main", points)
        self.assertEqual(needed(package / "petrel_runtime/libpetrel.so") - OF_THE_SYSTEM, set())


if __name__ == "__main__":
    unittest.main()
