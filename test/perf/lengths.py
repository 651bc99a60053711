#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times one encoder with five lengths of text, each run with another than the one before.

  ./bazelw build //extension/cli:petrel //test/perf:in_turn
  test/perf/lengths [--petrel BINARY] [--in-turn BINARY] [--rounds N] [--seconds S]
                    [--threads N] [--lengths 8,24,50,77,128]

The encoder of forty.py's text_encoder_50 is exported once, with a length that varies up to 128.
Each engine has it in one process, and a run's time is the median; those of the rounds are the
least. Prints, by length: microseconds of Petrel in turn, what that is of the same length again and
again, and peer / petrel in turn. An engine that differs from eager torch is not timed.
"""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import agreement  # noqa: E402
import peer_networks  # noqa: E402
import wheel_exports  # noqa: E402
from command import Failed, command  # noqa: E402
from lengths_runner import ENGINES, tokens_of  # noqa: E402
from sides import pinned  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

LONGEST = 128
SEED = 7


def encoder() -> torch.nn.Module:
    torch.manual_seed(SEED)
    return peer_networks.MAKERS["text_encoder_50"]().eval()


def write_archive(path: pathlib.Path) -> None:
    tokens = torch.from_numpy(tokens_of(50))
    length = torch.export.Dim("length", min=2, max=LONGEST)
    torch.export.save(
        torch.export.export(encoder(), (tokens,), dynamic_shapes=({1: length},)), path)


def models(args, work: pathlib.Path) -> dict[str, pathlib.Path]:
    """The file of each engine that has one."""
    archive = work / "encoder.pt2"
    write_archive(archive)
    found = {"petrel": work / "petrel.pte"}
    command(args.petrel, "export", archive, "--backend", "xnnpack", "-o", found["petrel"])
    try:
        wheel_exports.export({"forward": archive}, "xnnpack", 0, work / "wheel.pte")
        found["wheel"] = work / "wheel.pte"
    except wheel_exports.ExportError as why:
        print(f"wheel is not timed: {why}")
    try:
        command(sys.executable, HERE / "to_onnx.py", archive, work / "encoder.onnx")
        found.update({peer: work / "encoder.onnx" for peer in ("onnxruntime", "openvino")})
    except Failed as why:
        print(f"onnxruntime and openvino are not timed: {why}")
    return found


def words(args, engine: str, model: pathlib.Path, seconds: float) -> list[object]:
    lengths = args.lengths.split(",")
    if engine == "petrel":
        return [*pinned(args.threads), args.in_turn, model, args.threads, seconds, *lengths]
    return [*pinned(args.threads), sys.executable, HERE / "lengths_runner.py", engine, model,
            "--lengths", args.lengths, "--threads", args.threads, "--seconds", seconds]


def outputs(args, engine: str, model: pathlib.Path, work: pathlib.Path) -> dict[str, np.ndarray]:
    folder = work / f"{engine}_outputs"
    folder.mkdir()
    if engine != "petrel":
        command(*words(args, engine, model, 0.0), "--output-dir", folder)
        return {length: np.load(folder / f"{length}.npy") for length in args.lengths.split(",")}
    found = {}
    for length in args.lengths.split(","):
        np.save(folder / "tokens.npy", tokens_of(int(length)))
        command(args.petrel, "run", model, "--input", folder / "tokens.npy", "--output-dir", folder)
        found[length] = np.load(folder / "output_0.npy")
    return found


def is_right(args, engine: str, model: pathlib.Path, work: pathlib.Path) -> bool:
    try:
        for length, made in outputs(args, engine, model, work).items():
            with torch.no_grad():
                expected = encoder()(torch.from_numpy(tokens_of(int(length)))).numpy()
            agreement.compare([made], [expected])
        return True
    except (Failed, agreement.Disagreement) as why:
        print(f"{engine} is not timed: {why}", flush=True)
        return False


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "in-turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lengths", default="8,24,50,77,128", help=f"2 to {LONGEST}")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        engines = {e: m for e, m in models(args, work).items() if is_right(args, e, m, work)}
        if "petrel" not in engines:
            return 1
        best: dict[str, dict[str, list[float]]] = {}
        for _ in range(args.rounds):
            for engine, model in engines.items():
                output = command(*words(args, engine, model, args.seconds))
                for length, times in json.loads(output.splitlines()[-1]).items():
                    known = best.setdefault(length, {}).get(engine, times)
                    best[length][engine] = [min(pair) for pair in zip(known, times)]
    peers = [engine for engine in ENGINES if engine in engines]
    print(f"{'length':>8s}{'us':>10s}{'/ alone':>10s}" + "".join(f"{p:>14s}" for p in peers))
    for length, row in best.items():
        in_turn, alone = row["petrel"]
        print(f"{length:>8s}{in_turn:10,.0f}{in_turn / alone:10.2f}" +
              "".join(f"{row[peer][0] / in_turn:14.2f}" for peer in peers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
