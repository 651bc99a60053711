# SPDX-License-Identifier: Apache-2.0
"""The archive for phones, of libraries that stand for those that need another compiler.

test/sdk/android looks at a real one.
"""

import io
import json
import pathlib
import unittest
import zipfile

import android_archive
import java_classes
import zip_file


class AndroidTest(unittest.TestCase):

    def contents(self, revision="28.0.13004108\n"):
        libraries = {abi: {"libpetrel.so": f"c {abi}".encode(), "libpetrel_jni.so": b"java"}
                     for abi in ("x86_64", "arm64-v8a")}
        return android_archive.contents("1.2.3", android_archive.ndk_of(revision), libraries,
                                        b"classes", b"header")

    def test_has_what_gradle_and_cmake_look_for(self):
        files = self.contents()
        self.assertIn(b'minSdkVersion="24"', files["AndroidManifest.xml"])
        self.assertEqual(files["jni/arm64-v8a/libpetrel.so"], b"c arm64-v8a")
        self.assertEqual(json.loads(files["prefab/prefab.json"])["version"], "1.2.3")
        told = json.loads(files["prefab/modules/petrel/libs/android.x86_64/abi.json"])
        self.assertEqual(told, {"abi": "x86_64", "api": 24, "ndk": 28, "stl": "none",
                                "static": False})
        self.assertNotIn("META-INF/petrel/STUBS", files)
        self.assertNotIn("prefab/modules/petrel/libs/android.x86_64/libpetrel_jni.so", files)

    def test_says_that_stubs_are_stubs(self):
        self.assertIn("META-INF/petrel/STUBS", self.contents("stubs 0.abc\n"))
        with self.assertRaisesRegex(SystemExit, "the NDK is 'none', must be given: --ndk FOLDER"):
            android_archive.ndk_of("none\n")

    def test_has_no_dates_and_one_order(self):
        data = zip_file.packed(self.contents())
        self.assertEqual(data, zip_file.packed(self.contents()))
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            self.assertEqual(opened.namelist(), list(self.contents()))
            self.assertEqual({entry.date_time[0] for entry in opened.infolist()}, {1980})

    def test_classes_are_the_same_each_time(self):
        first, second = java_classes.jar(pathlib.Path(".")), java_classes.jar(pathlib.Path("."))
        self.assertEqual(first, second)
        with zipfile.ZipFile(io.BytesIO(first)) as jar:
            self.assertIn("io/petrel/Module.class", jar.namelist())
            # Of Java 8.
            self.assertEqual(jar.read("io/petrel/Tensor.class")[7], 52)


if __name__ == "__main__":
    unittest.main()
