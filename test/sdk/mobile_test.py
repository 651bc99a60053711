# SPDX-License-Identifier: Apache-2.0
"""The archives for phones, of libraries that stand for those that need another compiler.

test/sdk/android and test/sdk/apple look at real ones.
"""

import hashlib
import io
import json
import os
import pathlib
import plistlib
import struct
import unittest
import zipfile

import aar_file
import android_archive
import java_classes
import mach_o
import xcframework_archive
import zip_file

PROCESSORS = {"arm64": (0x0100000c, 0), "x86_64": (0x01000007, 3)}
PLATFORMS = {"macos": 1, "ios": 2, "ios-simulator": 7}


def mach_object(processor, platform, names, private=()):
    """An object with functions that are shown and ones that are not, and one that it lacks."""
    rows = [(name, 0x0f) for name in names] + [(name, 0x1f) for name in private] + \
        [("puts", 0x01)]
    texts, symbols = b"\0", b""
    for name, flags in rows:
        symbols += struct.pack("<IBBHQ", len(texts), flags, 1, 0, 0)
        texts += b"_" + name.encode() + b"\0"
    build = struct.pack("<IIIIII", 0x32, 24, PLATFORMS[platform], 15 << 16, 0, 0)
    start = 32 + len(build) + 24
    table = struct.pack("<IIIIII", 2, 24, start, len(rows), start + len(symbols), len(texts))
    head = struct.pack("<IIIIIIII", 0xfeedfacf, PROCESSORS[processor][0], 0, 1, 2,
                       len(build) + len(table), 0, 0)
    return head + build + table + symbols + texts


def archive(*members):
    data = b"!<arch>\n"
    for number, member in enumerate(members):
        name = f"a_long_name_{number}.o".encode()
        name += bytes(-len(name) % 8)
        size = len(name) + len(member)
        data += f"#1/{len(name):<13}{0:<12}{0:<6}{0:<6}{'644':<8}{size:<10}`\n".encode()
        data += name + member + b"\n" * (size % 2)
    return data


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


class AppleTest(unittest.TestCase):

    def test_tells_what_an_archive_is_for(self):
        data = archive(mach_object("arm64", "ios-simulator", ["f"]),
                       mach_object("arm64", "ios-simulator", ["g"], ["hidden"]))
        self.assertEqual(mach_o.slice_of(data),
                         mach_o.Slice("arm64", "ios-simulator", (15, 0)))
        self.assertEqual(mach_o.names(data), mach_o.Names({"f", "g"}, {"puts"}))
        needs_hidden = archive(mach_object("arm64", "ios", ["f"], ["puts"]),
                               mach_object("arm64", "ios", []))
        self.assertEqual(mach_o.names(needs_hidden), mach_o.Names({"f"}, set()))
        mixed = archive(mach_object("arm64", "ios", []), mach_object("x86_64", "ios", []))
        for wrong in (mixed, archive()):
            with self.assertRaisesRegex(ValueError, "must be for one machine"):
                mach_o.slice_of(wrong)
        with self.assertRaisesRegex(ValueError, "not an archive of objects"):
            mach_o.slice_of(b"\x7fELF")

    def test_lays_archives_behind_each_other(self):
        parts = [archive(mach_object(processor, "macos", ["f"]))
                 for processor in ("arm64", "x86_64")]
        data = mach_o.universal(parts)
        self.assertEqual(struct.unpack_from(">II", data), (0xcafebabe, 2))
        found = {}
        for at in (8, 28):
            number, kind, start, size, align = struct.unpack_from(">IIIII", data, at)
            self.assertEqual(start % (1 << align), 0)
            found[number, kind] = data[start:start + size]
        self.assertEqual(found, dict(zip(PROCESSORS.values(), parts)))
        self.assertEqual(data, mach_o.universal(parts[::-1]))

    def test_framework_has_a_folder_for_each_kind_of_machine(self):
        archives = [archive(mach_object(processor, platform, ["f"]))
                    for processor, platform in (("arm64", "ios"), ("arm64", "ios-simulator"),
                                                ("x86_64", "ios-simulator"), ("arm64", "macos"),
                                                ("x86_64", "macos"))]
        files = xcframework_archive.contents(archives, b"header")
        self.assertEqual(files, xcframework_archive.contents(archives[::-1], b"header"))
        told = plistlib.loads(files["Info.plist"])
        self.assertEqual(told["CFBundlePackageType"], "XFWK")
        rows = {row["LibraryIdentifier"]: row for row in told["AvailableLibraries"]}
        self.assertEqual(set(rows), {"ios-arm64", "ios-arm64_x86_64-simulator",
                                     "macos-arm64_x86_64"})
        self.assertEqual(rows["ios-arm64_x86_64-simulator"]["SupportedPlatformVariant"],
                         "simulator")
        self.assertNotIn("SupportedPlatformVariant", rows["ios-arm64"])
        for name, row in rows.items():
            self.assertIn(f"{name}/{row['LibraryPath']}", files)
            self.assertEqual(files[f"{name}/{row['HeadersPath']}/petrel/petrel.h"], b"header")
            self.assertIn(b'header "../petrel/petrel.h"',
                          files[f"{name}/{row['HeadersPath']}/CPetrel/module.modulemap"])
        with self.assertRaisesRegex(ValueError, "two archives for macos on one processor"):
            xcframework_archive.contents(archives + archives[-1:], b"header")


if __name__ == "__main__":
    unittest.main()
