# SPDX-License-Identifier: Apache-2.0
"""The classes of extension/java as a jar, compiled with this machine's JDK for Java 8.

    data = java_classes.jar(top)
"""

import pathlib
import shutil
import subprocess
import tempfile

import zip_file

_MANIFEST = b"Manifest-Version: 1.0\r\n\r\n"


def jar(top: pathlib.Path) -> bytes:
    compiler = shutil.which("javac")
    if compiler is None:
        raise SystemExit("dist: there is no javac; install default-jdk-headless")
    sources = sorted((top / "extension/java/src/io/petrel").glob("*.java"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([compiler, "--release", "8", "-Xlint:-options", "-g:none", "-d", folder,
                        *sources], check=True)
        classes = {str(path.relative_to(folder)): path.read_bytes()
                   for path in sorted(pathlib.Path(folder).rglob("*.class"))}
    return zip_file.packed({"META-INF/MANIFEST.MF": _MANIFEST, **classes})
