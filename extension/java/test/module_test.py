# SPDX-License-Identifier: Apache-2.0
"""The Java API on this machine's JVM, which checks each call of the native half.

Compiles both with javac and gcc, and runs ModuleTest.
"""

import glob
import os
import pathlib
import shutil
import subprocess
import unittest

HERE = pathlib.Path("extension/java")
C_API = pathlib.Path("extension/c_api").absolute()
FOLDER = pathlib.Path(os.environ["TEST_TMPDIR"])


def java_home():
    """Of the JDK that Bazel needs, too."""
    found = shutil.which("javac")
    homes = [pathlib.Path(found).resolve().parents[1]] if found else []
    homes += [pathlib.Path(path) for path in sorted(glob.glob("/usr/lib/jvm/*"))]
    return next(home for home in homes if (home / "include/jni.h").exists())


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)


class ModuleTest(unittest.TestCase):

    def succeed(self, *command):
        done = run(*command)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_module(self):
        java = java_home()
        self.succeed(java / "bin/javac", "-Xlint:all", "-Werror", "--release", "8", "-Xlint:-options",
                     "-d", FOLDER / "classes", *HERE.glob("src/io/petrel/*.java"),
                     HERE / "test/ModuleTest.java")
        self.succeed("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC",
                     "-shared", f"-I{java}/include", f"-I{java}/include/linux", f"-I{C_API}",
                     HERE / "petrel_jni.c", "-o", FOLDER / "libpetrel_jni.so", f"-L{C_API}",
                     "-lpetrel", f"-Wl,-rpath,{C_API}")
        said = self.succeed(java / "bin/java", "-Xcheck:jni", "-Dfile.encoding=UTF-8",
                            "-Dsun.jnu.encoding=UTF-8", f"-Djava.library.path={FOLDER}", "-cp",
                            FOLDER / "classes", "ModuleTest", HERE / "test",
                            "examples/quickstart/digits.bin")
        self.assertIn("all is well", said)
        # What -Xcheck:jni complains of does not end the program.
        for word in ("WARNING", "FATAL"):
            self.assertNotIn(word, said)


if __name__ == "__main__":
    unittest.main()
