#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes levels/: programs that call the operators between numbers and levels of 8, 4 and 2 bits,
on random inputs, of all floating types. All results of a type are one output.

  python3 make_level_fixtures.py        (torch 2.13, executorch 1.5.0)

  NAME.pt2  NAME.input_I.npy  NAME.output_O.npy
"""

import pathlib

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401
import executorch.kernels.quantized  # noqa: F401
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401

import make_narrow_fixtures
import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "levels"
ops = torch.ops.quantized_decomposed
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
I8, BOUNDS = torch.int8, (-128, 127, torch.int8)


def tensors(*xs):
    """With a scale and a zero point for each tensor, given or found."""
    results = []
    for x in xs:
        results.append(ops.quantize_per_tensor(x, 0.0371, 3, *BOUNDS))
        results.append(ops.quantize_per_tensor(x, 0.0123, 128, 0, 255, torch.uint8))
        scale, zero = ops.choose_qparams.tensor(x, -128, 127, 1e-5, I8)
        q = ops.quantize_per_tensor.tensor(x, scale, zero, *BOUNDS)
        results += [scale, zero, q, ops.dequantize_per_tensor(q, 0.0371, 3, *BOUNDS, out_dtype=x.dtype),
                    ops.dequantize_per_tensor.tensor(q, scale, zero, *BOUNDS, out_dtype=x.dtype)]
    return results


def groups(scales, zeros, *xs):
    """With those of each channel, or of each row."""
    results = []
    for x in xs:
        scale, zero = ops.choose_qparams_per_token_asymmetric(x, I8)
        q = ops.quantize_per_token(x, scale, zero, *BOUNDS)
        results += [scale, zero, q, ops.dequantize_per_token(q, scale, zero, *BOUNDS, x.dtype)]
        p = ops.quantize_per_channel(x, scales.to(x.dtype), zeros, 1, *BOUNDS)
        results += [p, ops.dequantize_per_channel(p, scales.to(x.dtype), zeros, 1, *BOUNDS, out_dtype=x.dtype),
                    ops.dequantize_per_channel(p, scales, zeros.to(I8), 1, *BOUNDS, out_dtype=torch.float32),
                    ops.dequantize_per_channel(p, scales, None, 1, *BOUNDS, out_dtype=torch.float32)]
    return results


def tables(bytes_, levels, scales, grouped, zeros, at):
    """Rows of tables."""
    results = []
    for s in (scales, grouped):
        for z in (None, zeros[:, :s.shape[1]].to(s.dtype) if s.dim() == 2 else zeros[:, 0].to(s.dtype)):
            results.append(ops.embedding_byte(levels, s, z, -128, 127, at))
            results.append(ops.embedding_4bit(bytes_, s, z, -8, 7, at))
            results.append(ops.embedding_2bit(bytes_, s, z, -2, 1, at.int()))
    results.append(ops.embedding_byte(levels, grouped.half(), None, -128, 127, at))
    results.append(ops.embedding_byte.dtype(levels, scales, None, -128, 127, at, dtype=torch.float16))
    results.append(ops.embedding_4bit.dtype(bytes_, grouped, zeros, -8, 7, at, dtype=torch.float16))
    results.append(ops.embedding_2bit.dtype(bytes_, grouped, zeros, -2, 1, at, dtype=torch.float16))
    return results


def arguments():
    x = torch.randn(3, 5, 7) * 3
    bytes_ = torch.randint(0, 256, (6, 8), dtype=torch.uint8)
    levels = torch.randint(-128, 128, (6, 8), dtype=torch.int8)
    at = torch.tensor([[5, 0, 2], [3, 3, 1]])
    return {
        "tensors": (tensors, tuple(x.to(d) for d in FLOATS)),
        "groups": (groups, (torch.rand(5) * 0.05 + 0.01, torch.randint(-20, 20, (5,)),
                            *(x.to(d) for d in FLOATS))),
        "tables": (tables, (bytes_, levels, torch.rand(6) * 0.02, torch.rand(6, 2) * 0.02,
                            torch.randint(-4, 4, (6, 2)).float(), at)),
    }


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    torch.manual_seed(59)
    for name, (function, args) in arguments().items():
        module = make_narrow_fixtures.Together(function).eval()
        neutral_archive.save(torch.export.export(module, args), OUT / f"{name}.pt2")
        make_narrow_fixtures.save(f"{name}.input", args, OUT)
        with torch.no_grad():
            make_narrow_fixtures.save(f"{name}.output", module(*args), OUT)


if __name__ == "__main__":
    main()
