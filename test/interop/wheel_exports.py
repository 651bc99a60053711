# SPDX-License-Identifier: Apache-2.0
"""Exports of the wheel, kept: it takes minutes to lower an LSTM.

  report = wheel_exports.export({"forward": lstm_pt2}, "xnnpack", 0, out_pte)

An export is looked for by the digests of the archives, of wheel_export.py and
of the list of packages, in a folder beside the environment's; deleting that
folder only costs time. The report is the one of the export that made it.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(sys.prefix + "-exports")
TIMEOUT_S = 3600


class ExportError(Exception):
    """The wheel could not export; the text is its last line of complaint."""


def _digest(path: pathlib.Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _key(methods: dict[str, pathlib.Path], backend: str, external: int) -> str:
    key = hashlib.sha256(json.dumps([sorted(methods), backend, external]).encode())
    for path in (*(methods[m] for m in sorted(methods)), HERE / "wheel_export.py",
                 HERE / "requirements.txt"):
        key.update(_digest(path))
    return key.hexdigest()[:32]


def _make(methods: dict[str, pathlib.Path], backend: str, external: int,
          folder: pathlib.Path) -> None:
    models = [w for m, f in methods.items() for w in ("--method", f"{m}={f}")]
    if list(methods) == ["forward"]:
        models = [methods["forward"]]
    words = [sys.executable, HERE / "wheel_export.py", *models, "--backend", backend,
             "-o", folder / "out.pte"]
    if external:
        words += ["--external", external]
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True,
                              timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise ExportError(f"the wheel did not end lowering in {TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise ExportError(f"the wheel's export: {lines[-1] if lines else 'no message'}")
    (folder / "report.json").write_text(done.stdout.splitlines()[-1])


def export(methods: dict[str, pathlib.Path], backend: str, external: int,
           out: pathlib.Path, fresh: bool = False) -> dict[str, float]:
    """Puts OUT.pte and its .ptd files in place; `fresh` exports in any case."""
    kept = FOLDER / _key(methods, backend, external)
    if fresh:
        shutil.rmtree(kept, ignore_errors=True)
    if not (kept / "report.json").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            made = pathlib.Path(scratch) / "made"
            made.mkdir()
            _make(methods, backend, external, made)
            try:
                os.rename(made, kept)
            except OSError:  # another run was quicker
                if not (kept / "report.json").exists():
                    raise
    out.parent.mkdir(parents=True, exist_ok=True)
    for file in kept.glob("out.*"):
        shutil.copyfile(file, out.with_suffix(file.name.removeprefix("out")))
    return json.loads((kept / "report.json").read_text())
