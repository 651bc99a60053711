# SPDX-License-Identifier: Apache-2.0
"""Writes the library for macOS and iOS: a package of SwiftPM over an XCFramework.

    ./bazelw run --config=zig_apple //dist:xcframework -- --output-dir out

    out/petrel-apple-0.1.0.tar.gz      Package.swift, Sources, CPetrel.xcframework
    out/SHA256SUMS-apple

docs/ios.md says how an app takes it.
"""

import pathlib

import archive_file
import described
import facts
import notice
import output_folder
import xcframework_archive

HERE = pathlib.Path(__file__).absolute().parent


def main() -> None:
    folder = output_folder.from_arguments("Writes the library for macOS and iOS.")
    top = HERE.parent
    name = f"petrel-apple-{facts.version_of(top)}"
    built = [path.read_bytes() for path in sorted((HERE / "apple").glob("*/libpetrel.a"))]
    files = {f"{xcframework_archive.NAME}/{path}": data
             for path, data in xcframework_archive.contents(
                 built, (top / "extension/c_api/petrel.h").read_bytes()).items()}
    swift = top / "extension/swift"
    for path in [swift / "Package.swift", *sorted(swift.glob("Sources/Petrel/*")),
                 *sorted(swift.glob("Tests/*/*"))]:
        files[str(path.relative_to(swift))] = path.read_bytes()
    # Apple's library of C++ is in its systems.
    linked = [library for library in notice.libraries((top / "NOTICE").read_text(), False)
              if library != notice.LIBSTDCPP]
    path = folder / f"{name}.tar.gz"
    archive_file.write(path, archive_file.packed(
        name, described.described(top, name, files, linked)))
    archive_file.write_sums(folder, "SHA256SUMS-apple", [path])
    print(path)


if __name__ == "__main__":
    main()
