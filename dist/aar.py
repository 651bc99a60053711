# SPDX-License-Identifier: Apache-2.0
"""Writes the library for Android alone: an AAR, which //dist writes beside all else.

    ./bazelw run --ndk FOLDER //dist:aar -- --output-dir out

    out/petrel-android-0.1.0.aar           petrel-android-0.1.0-stubs.aar without a real NDK
    out/SHA256SUMS-android

docs/android.md says how an app takes it.
"""

import pathlib

import aar_file
import archive_file
import output_folder

TOP = pathlib.Path(__file__).absolute().parents[1]


def main() -> None:
    folder = output_folder.from_arguments("Writes the library for Android.")
    path = aar_file.write(TOP, folder)
    archive_file.write_sums(folder, "SHA256SUMS-android", [path])
    print(path)


if __name__ == "__main__":
    main()
