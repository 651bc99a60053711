# SPDX-License-Identifier: Apache-2.0
"""The archive for phones, of libraries that stand for those that need another compiler.

test/sdk/android looks at a real one.
"""

import hashlib
import io
import json
import os
import pathlib
import unittest
import zipfile

import aar_file
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

    def test_file_tells_of_its_parts_and_of_the_ndk(self):
        work = pathlib.Path(os.environ["TEST_TMPDIR"], "runfiles")
        top = work / "petrel"
        for path in ("NOTICE", "LICENSE", "extension", "runtime"):
            top.mkdir(parents=True, exist_ok=True)
            (top / path).symlink_to(pathlib.Path(path).resolve())
        (work / "debian_sources").symlink_to(pathlib.Path("../debian_sources").resolve())
        (work / "android/notices").mkdir(parents=True)
        (work / "android/notices/NOTICE").write_text("of the NDK")
        self.assertFalse(aar_file.is_built(top))
        for abi in ("arm64-v8a", "x86_64"):
            (top / "dist/android" / abi).mkdir(parents=True)
            for name in ("libpetrel.so", "libpetrel_jni.so"):
                (top / "dist/android" / abi / name).write_text(abi)
        self.assertTrue(aar_file.is_built(top))
        for revision, ending in (("28.1.2", ""), ("stubs 0.abc", "-stubs")):
            (work / "android/revision").write_text(revision + "\n")
            path = aar_file.write(top, work)
            self.assertRegex(path.name, rf"^petrel-android-\d+\.\d+\.\d+{ending}\.aar$")
            with zipfile.ZipFile(path) as opened:
                files = {name: opened.read(name) for name in opened.namelist()}
            self.assertEqual(files["META-INF/petrel/NOTICE.ndk"], b"of the NDK")
            listed = files.pop("META-INF/petrel/SHA256SUMS").decode()
            self.assertEqual(listed, "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n"
                                             for name in sorted(files)))
            bill = json.loads(files["META-INF/petrel/petrel.spdx.json"])
            versions = {each["name"]: each["versionInfo"] for each in bill["packages"]}
            self.assertEqual(versions["android-ndk"], revision.split()[-1])
            self.assertLessEqual({"petrel", "xnnpack", "pthreadpool"}, set(versions))
            self.assertNotIn("g++", versions)

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
