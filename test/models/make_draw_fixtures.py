#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes draws/draws.pt2: random numbers of every kind, 20,000 of each.

  python3 make_draw_fixtures.py        (torch 2.13)

What is known of each is in test/compile_and_run/draws_test.py.
"""

import pathlib

import torch

import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "draws"


class Draws(torch.nn.Module):
    """`p` has chances in [0, 1], of 20,000 elements; `w` four weights."""

    def forward(self, p, w):
        empty = torch.empty_like(p)
        return {
            "rand_like": torch.rand_like(p),
            "randn_like": torch.randn_like(p),
            "uniform": empty.clone().uniform_(-1, 3),
            "normal": empty.clone().normal_(2, 0.5),
            "normal_tensors": torch.normal(p, p),
            "normal_mean": torch.normal(p, 2.0),
            "normal_deviation": torch.normal(1.0, p),
            "exponential": empty.clone().exponential_(4),
            "log_normal": empty.clone().log_normal_(0, 0.25),
            "cauchy": empty.clone().cauchy_(1, 2),
            "geometric": empty.clone().geometric_(0.25),
            "bernoulli": torch.bernoulli(p),
            "bernoulli_number": torch.bernoulli(p, p=0.75),
            "bernoulli_in_place": empty.clone().bernoulli_(0.125),
            "bernoulli_of": empty.clone().bernoulli_(p),
            "randint": torch.randint(-3, 5, (20000,)),
            "randint_high": torch.randint(3, (20000,), dtype=torch.int32),
            "randint_like": torch.randint_like(p, 2, 9),
            "randperm": torch.randperm(20000),
            "multinomial": torch.multinomial(w, 20000, replacement=True),
            "multinomial_once": torch.multinomial(w.expand(20000, 4), 1),
            "multinomial_apart": torch.multinomial(w.expand(20000, 4), 2),
            "gumbel": torch.nn.functional.gumbel_softmax(w.log().expand(20000, 4), hard=True),
        }


def main() -> None:
    OUT.mkdir(exist_ok=True)
    inputs = (torch.rand(20000), torch.rand(4))
    neutral_archive.save(torch.export.export(Draws(), inputs), OUT / "draws.pt2")


if __name__ == "__main__":
    main()
