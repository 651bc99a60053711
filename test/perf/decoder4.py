#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a decoder with weights of 4 bits in Petrel, ExecuTorch and llama.cpp.

  ./bazelw build //extension/cli:petrel
  test/perf/decoder4 [--petrel BINARY] [--size 151m] [--rounds N] [--runs N] [--threads 1,2]
                     [--peers wheel,llama] [--work DIR] [--json OUT.json]

The decoder is Llama's kind, with random weights of 4 bits in groups of 32
(decoder4_model.py). Petrel and ExecuTorch get one archive of torch, with dynamic int8
activations (a scale for each row); llama.cpp gets the same levels and scales as a GGUF file
(decoder4_gguf.py) and quantises activations in blocks of 32. Caches of keys and values are
floats, in llama.cpp halves, its default.

First each side reads a prompt of 128 tokens and eight more, one at a time. Its logits must be
within 30 dB of eager torch's of the weights that the levels stand for, with activations in
floats; a side whose logits are not is not timed. Then rounds, of a process for each side in
turn, with the prompt read again and again, and the token behind it. Tokens per second are
medians over the rounds; so are ratios, petrel / peer (of loading and memory peer / petrel):
above 1 Petrel is better. Petrel's peak of memory is the whole process's, those of the others
what came on top of Python and their code.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import agreement  # noqa: E402
import decoder4_model  # noqa: E402
from command import Failed  # noqa: E402
from decoder4_sides import PROMPT, Llama, Petrel, Wheel, made  # noqa: E402
from neutral_archive import save  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

MIN_DB = 30
MORE = 8  # tokens after the prompt
PEERS = ["wheel", "llama"]


def expected_logits(decoder: decoder4_model.Decoder4, model: torch.nn.Module,
                    tokens: torch.Tensor) -> np.ndarray:
    decoder4_model.forget(model)
    with torch.no_grad():
        logits = [model(tokens[:, :PROMPT], torch.tensor([0]))]
        for at in range(PROMPT, tokens.shape[1]):
            logits.append(model(tokens[:, at:at + 1], torch.tensor([at])))
    decoder4_model.forget(model)
    return torch.cat(logits).numpy()


def made_sides(decoder, archive: pathlib.Path, args, work: pathlib.Path) -> list:
    sides = [Petrel(args.petrel, work, archive)]
    if "wheel" in args.peers:
        sides.append(Wheel(decoder, archive, work))
    if "llama" in args.peers:
        sides.append(Llama(decoder, archive, work))
    return sides


def agreeing(sides: list, tokens: pathlib.Path, expected: np.ndarray, threads: int) -> list:
    kept = []
    for side in sides:
        try:
            made = side.logits(tokens, threads)
            if made.shape != expected.shape:
                raise Failed(f"logits are {made.shape}, expected {expected.shape}")
            db = min(agreement.signal_to_noise(a, y) for a, y in zip(made, expected))
            print(f"  {side.name:8s}{db:6.1f} dB, the worst of {len(made)} calls, {threads} "
                  "thread(s)", flush=True)
            if not db >= MIN_DB:
                raise Failed(f"has {db:.1f} dB, must have {MIN_DB}")
            kept.append(side)
        except Failed as why:
            print(f"  {side.name} is not timed: {why}", flush=True)
    return kept


# Name, unit, of which figure, whether more is better.
ROWS = [("prefill", "tokens/s", lambda f: PROMPT * 1e6 / f["prefill"], True),
        ("decode", "tokens/s", lambda f: 1e6 / f["decode"], True),
        ("load", "ms", lambda f: f["load"] / 1e3, False),
        ("peak memory", "MB", lambda f: f["peak MB"], False)]


def time_sides(sides: list, tokens: pathlib.Path, threads: int, args) -> list[dict]:
    figures: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
    for start in range(args.rounds):
        first = start % len(sides)  # nobody always comes after the same one
        for side in sides[first:] + sides[:first]:
            figures[side.name].append(side.measure(tokens, threads, args.runs))
    names = list(figures)
    print(f"\n{threads} thread(s), {args.rounds} rounds\n  {'':24s}" +
          "".join(f"{n:>10s}" for n in names) + "".join(f"{'to ' + n:>12s}" for n in names[1:]))
    rows = []
    for name, unit, of, more in ROWS:
        values = {n: [of(f) for f in figures[n]] for n in names}
        medians = {n: statistics.median(v) for n, v in values.items()}
        ratios = {n: statistics.median(a / b if more else b / a for a, b in
                                       zip(values["petrel"], values[n])) for n in names[1:]}
        print(f"  {name + ', ' + unit:24s}" + "".join(f"{m:10.1f}" for m in medians.values()) +
              "".join(f"{r:12.2f}" for r in ratios.values()), flush=True)
        rows.append({"threads": threads, "what": name, "unit": unit, "values": medians,
                     "ratios": ratios})
    return rows


def peers(word: str) -> list[str]:
    chosen = word.split(",")
    for peer in chosen:
        if peer not in PEERS:
            raise argparse.ArgumentTypeError(f"'{peer}' is none of {', '.join(PEERS)}")
    return chosen


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--size", choices=decoder4_model.SIZES, default="151m")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here, and use those that are there")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3, help="of the prompt, eight times of a token")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--peers", type=peers, default=PEERS, help=", ".join(PEERS))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    numbers = [int(n) for n in args.threads.split(",")]
    rows: list[dict] = []
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        work = (args.work or pathlib.Path(scratch)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        decoder = decoder4_model.make(decoder4_model.SIZES[args.size])
        every = torch.randint(0, decoder.size.vocabulary, (1, PROMPT + MORE))
        np.save(work / "tokens.npy", every.numpy())
        expected = expected_logits(decoder, decoder.floats, every)
        eager = expected_logits(decoder, decoder.model, every)
        count = sum(levels.numel() for levels, _ in decoder.levels.values())
        print(f"{count / 1e6:.1f} million weights of 4 bits; eager torch with activations of int8 has "
              f"{min(map(agreement.signal_to_noise, eager, expected)):.1f} dB of those in floats",
              flush=True)
        archive = work / f"decoder4_{args.size}.pt2"
        if not made(archive, pathlib.Path(decoder4_model.__file__)):
            save(decoder4_model.export(decoder, PROMPT), archive)
        all_sides = made_sides(decoder, archive, args, work)
        for threads in numbers:
            sides = agreeing(all_sides, work / "tokens.npy", expected, threads)
            failed |= len(sides) < len(all_sides)
            if not sides or sides[0].name != "petrel":
                return 1
            rows += time_sides(sides, work / "tokens.npy", threads, args)
        print("\nfiles: " + ", ".join(f"{s.name} {s.file.stat().st_size / 1e6:.1f} MB"
                                      for s in all_sides) + f"; packed by petrel {all_sides[0].packed:.1f} MB")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
