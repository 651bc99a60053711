# SPDX-License-Identifier: Apache-2.0
"""Models whose sizes vary from call to call, and models with control flow.

  module, example, dynamic_shapes, calls = MODELS["mlp"]()

`calls` is a list of argument tuples: the smallest and the largest sizes and one
or two between, and for control flow both branches. One torch seed makes all.
"""

import torch
from torch import nn
from torch._higher_order_ops import map as higher_order_map
from torch._higher_order_ops import scan, while_loop
from torch.export import Dim

from branch_models import BranchNumbers, Choice, Nested, SizeBranches
from image_models import Fills, Ranges, Resamples, Resizes, Unfolds, Windows, WritesOut
from mask_models import MaskedPlaces, MaskRows, Masks, Selected
from norm_models import Norms
from number_models import (Limits, NumberArguments, NumberRefusals, Numbers, Powers,
                           ReturnedNumbers)
from slope_models import RowSlopes, Slopes
from sound_models import Vocoder


def seeded(module: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            scale = 0.5 / max(parameter.shape[-1], 1) ** 0.5
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale * 2)
    return module.eval()


def draw(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(s * 31**i for i, s in enumerate(shape)))
    return torch.randn(*shape, generator=generator)


def mlp():
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 4))
    calls = [(draw(n, 8),) for n in (1, 5, 16)]
    return seeded(module), (draw(3, 8),), ({0: Dim("batch", max=16)},), calls


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.down = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        x = torch.nn.functional.max_pool2d(x, 2)
        x = torch.nn.functional.hardswish(self.down(x))
        return self.head(torch.flatten(self.pool(x), 1))


def cnn_batch():
    calls = [(draw(n, 3, 16, 16),) for n in (1, 3, 6)]
    return seeded(Cnn()), (draw(2, 3, 16, 16),), ({0: Dim("batch", max=6)},), calls


class Pixels(nn.Module):
    """Keeps the image: two convolutions and a residual."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 6, 3, padding=1)
        self.b = nn.Conv2d(6, 3, 3, padding=1)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x))), torch.sigmoid(x).mean((2, 3))


def cnn_image():
    calls = [(draw(1, 3, h, w),) for h, w in ((8, 8), (12, 30), (32, 24))]
    shapes = ({2: Dim("height", min=8, max=32), 3: Dim("width", min=8, max=32)},)
    return seeded(Pixels()), (draw(1, 3, 16, 20),), shapes, calls


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.place = nn.Embedding(24, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 7)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1])
        return self.head(self.layers(self.embed(tokens) + self.place(places)))


def tokens(n: int) -> torch.Tensor:
    return torch.arange(n).mul(7).remainder(50).unsqueeze(0)


def encoder():
    calls = [(tokens(n),) for n in (2, 9, 24)]
    return seeded(Encoder()), (tokens(5),), ({1: Dim("length", min=2, max=24)},), calls


class Prefill(nn.Module):
    """A decoder's causal attention over a prompt of any length, written out."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 50)
        self.register_buffer("mask", torch.ones(24, 24).tril().bool())

    def forward(self, tokens):
        b, n = tokens.shape
        x = self.embed(tokens)
        q, k, v = self.qkv(x).view(b, n, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) / 8**0.5
        scores = scores.masked_fill(~self.mask[:n, :n], float("-inf"))
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, 16)
        places = torch.arange(n).unsqueeze(1).expand(n, 16)
        y = torch.where(places < n // 2, y, y * 0.5)
        return self.out(y)[:, -1]


def prefill():
    calls = [(tokens(n),) for n in (2, 11, 20)]
    return seeded(Prefill()), (tokens(5),), ({1: Dim("length", min=2, max=20)},), calls


class Sizes(nn.Module):
    """What people do with sizes."""

    def forward(self, x, y):
        n, m = x.shape
        joined = torch.cat([x, y], 0)
        flat = joined.reshape(-1)
        cut = joined[1:, : m - 1]
        grid = x.unsqueeze(-1).expand(n, m, 3).reshape(n, -1)
        steps = torch.arange(m, dtype=torch.float32) * (1.0 / m)
        twice = x.repeat(2, 1)
        square = x.t() @ x / n
        chosen = torch.where(x > 0, x, torch.zeros_like(x))
        return flat, cut, grid, steps + x, twice, square, chosen, torch.ones(n, 2) * m + x[:, :2]


def sizes():
    calls = [(draw(n, m), draw(k, m)) for n, m, k in ((2, 4, 3), (5, 9, 2), (8, 12, 6))]
    shapes = (
        {0: Dim("n", min=2, max=8), 1: Dim("m", min=4, max=12)},
        {0: Dim("k", min=2, max=6), 1: Dim("m", min=4, max=12)},
    )
    return Sizes().eval(), (draw(3, 6), draw(4, 6)), shapes, calls


class FewRows(nn.Module):
    """Counts from the end of rows whose number hardly varies: 3 but for the smallest."""

    def forward(self, x):
        rows = x.index_select(0, torch.arange(torch.sym_min(x.shape[0], 3)))
        return rows.select(0, -2) * 2.0


def few_rows():
    calls = [(draw(n, 4),) for n in (2, 3, 50)]
    return FewRows().eval(), (draw(20, 4),), ({0: Dim("n", min=2, max=1000)},), calls


class Ordered(nn.Module):
    """Rows in order and padded to as many as there may be; places are counted around."""

    def forward(self, x, places):
        rows = x.shape[0]
        padded = nn.functional.pad(x, (-1, 1, 8 - rows, rows), value=2.0)
        ordered, order = x.sort(0, descending=True)
        return (padded, ordered, order, x.median(0).values, places % rows, x.cumprod(0),
                torch.div(places, rows, rounding_mode="floor"))


def ordered():
    calls = [(draw(n, 3), torch.arange(-4, 9) * 3) for n in (1, 4, 8)]
    return Ordered(), (draw(3, 3), torch.arange(13)), ({0: Dim("rows", min=1, max=8)}, None), calls


def cond():
    x = draw(3, 6)
    return seeded(Choice()), (x,), None, [(x.abs(),), (-x.abs(),)]


def cond_varying():
    calls = [(draw(n, 6).abs() * sign,) for n in (1, 4, 8) for sign in (1, -1)]
    return seeded(Choice()), (draw(3, 6),), ({0: Dim("rows", max=8)},), calls


def cond_nested():
    x, y = draw(2, 5).abs(), draw(3, 5)[:2].abs()
    return seeded(Nested()), (x, y), None, [(x, y), (x, -y), (-x, y)]


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)

    def forward(self, rows, weight):
        def body(row, weight):
            return torch.relu(self.a(row)) @ weight + 1

        return higher_order_map(body, rows, weight) * 2


def cond_sizes():
    calls = [(draw(n, 4), draw(2, m), torch.tensor([k])) for n, m, k in
             ((6, 8, 2), (1, 2, 3), (5, 9, 9), (4, 9, -5))]
    rows, columns = Dim("rows", max=9), Dim("columns", min=2, max=9)
    return seeded(SizeBranches()), calls[0], ({0: rows}, {1: columns}, {}), calls


def cond_numbers():
    calls = [(draw(3), torch.tensor(a), torch.tensor(b)) for a, b in
             ((1.0, 2.5), (1.0, -3.0), (-1.0, -3.0), (-1.0, 0.5))]
    return BranchNumbers(), calls[0], None, calls


def map_rows():
    calls = [(draw(5, 3, 4), draw(6, 4)), (-draw(5, 3, 4), draw(6, 4))]
    return seeded(Rows()), calls[0], None, calls


def map_varying():
    calls = [(draw(n, 3, 4), draw(6, 4)) for n in (2, 5, 9)]
    return seeded(Rows()), (draw(4, 3, 4), draw(6, 4)), ({0: Dim("n", min=2, max=9)}, {}), calls


class Recurrent(nn.Module):
    """Carries a state from row to row, and swaps two others."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, state, rows):
        def body(carried, row):
            state, left, right = carried
            state = torch.tanh(self.a(state) + row)
            return (state, right + row, left.clone()), (state * 2, right.clone())

        (state, left, right), (rows, rights) = scan(body, (state, state - 1, state + 1), rows)
        return state, left, right, rows, rights


def scan_rows():
    calls = [(draw(3, 4), draw(5, 3, 4)), (-draw(3, 4), draw(5, 3, 4))]
    return seeded(Recurrent()), calls[0], None, calls


def scan_varying():
    calls = [(draw(3, 4), draw(n, 3, 4)) for n in (2, 5, 9)]
    return seeded(Recurrent()), (draw(3, 4), draw(4, 3, 4)), ({}, {0: Dim("n", min=2, max=9)}), calls


class Until(nn.Module):
    """Rounds until a bound is passed, which may be none, with a loop in a branch of a round."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x, bound):
        def grow(x):
            return while_loop(lambda x: x.sum() < 1, lambda x: (x + 1,), (x,))[0]

        def body(i, x):
            x = torch.relu(self.a(x)) + x
            return i + 1, torch.cond(x.sum() < 0, grow, lambda x: x * 1.5, (x,))

        i, x = while_loop(lambda i, x: (i < 8) & (x.abs().sum() < bound), body, (torch.tensor(0), x))
        return i, x * 2


def while_bound():
    x = draw(3, 4)
    calls = [(y, torch.tensor(float(b))) for y in (x, -x, -x.abs()) for b in (1, 30, 1000)]
    return seeded(Until()), calls[0], None, calls


class FoundStart(nn.Module):
    """Rows from a start that is an element of a tensor."""

    def forward(self, x, start):
        first = start[0].item()
        torch._check(first >= 0)
        torch._check(first <= 4)
        return x.narrow(0, first, 2) * 2


def found_start():
    calls = [(draw(6, 3), torch.tensor([n])) for n in (0, 3, 4)]
    return FoundStart(), calls[0], None, calls


class Places(nn.Module):
    """A row, two rows, and a row that is written, at places that elements of tensors tell: of the
    first nothing says its bounds, and those of the others are beyond the fewest rows."""

    def forward(self, x, place, start, at):
        first, second = start.item(), at.item()
        torch._check(first >= 0)
        torch._check(first <= 4)
        torch._check(second >= 0)
        torch._check(second <= 5)
        row = x[place]
        return (row * 2, x.narrow(0, first, 2) * 2,
                torch.slice_scatter(x, row[None] + 1, 0, second, second + 1))


def found_places():
    calls = [(draw(rows, 3), torch.tensor(place), torch.tensor(start), torch.tensor(at))
             for rows, place, start, at in ((4, 2, 2, 3), (6, -1, 4, 5), (5, 0, 0, 0),
                                            (4, -4, 1, 1), (5, -2, 3, 4))]
    return Places(), calls[0], ({0: Dim("rows", min=4, max=6)}, {}, {}, {}), calls


class Found(nn.Module):
    """Rows, a row and sizes that an element of a tensor tells, which may be none of them."""

    def forward(self, x, n):
        count = n.item()
        torch._check(count >= 1)
        torch._check(count <= 6)
        pair = x.narrow(0, count, 2)
        return pair * 2, x[:count].sum(1), x.select(0, count) + count, torch.ones(count, 2)


def found_rows():
    calls = [(draw(8, 3), torch.tensor(n)) for n in (1, 3, 6)]
    return Found(), calls[1], None, calls


class Scaled(nn.Module):  # By numbers that elements of tensors are.
    def forward(self, x, n, half):
        clamped = torch.clamp(x, -1, 1) / x.shape[0]
        return x * n.item(), x + x.max().item(), clamped, x - half.item(), x + half.bfloat16().item()


def found_scales():
    calls = [(draw(rows, 3), torch.tensor(n), torch.tensor(half).half())
             for rows, n, half in ((2, -7, -0.1), (5, 0, 6e-8), (9, 2**40, 65504.0))]
    return Scaled(), calls[1], ({0: Dim("rows", min=2, max=9)}, {}, {}), calls


def found_limits():
    calls = [(draw(rows, 3), torch.tensor(n, dtype=torch.float64))
             for rows, n in ((2, 0.3), (5, -0.25), (9, 1e30), (4, float("inf")))]
    return Limits(), calls[0], ({0: Dim("rows", min=2, max=9)}, {}), calls


def fills():
    calls = [(draw(rows, 3),) for rows in (2, 5, 9)]
    return Fills(), calls[1], ({0: Dim("rows", min=2, max=9)},), calls


def outs():
    calls = [(draw(rows, 3),) for rows in (2, 5, 9)]
    return WritesOut(), calls[1], ({0: Dim("rows", min=2, max=9)},), calls


def resizes():
    calls = [(draw(1, 2, h, w),) for h, w in ((3, 3), (5, 8), (9, 3), (8, 9))]
    shapes = ({2: Dim("height", min=3, max=9), 3: Dim("width", min=3, max=9)},)
    return Resizes(), (draw(1, 2, 5, 6),), shapes, calls


def resamples():
    calls = [(draw(1, 2, h, w),) for h, w in ((3, 3), (5, 8), (9, 3), (8, 9))]
    shapes = ({2: Dim("height", min=3, max=9), 3: Dim("width", min=3, max=9)},)
    return Resamples(), (draw(1, 2, 5, 6),), shapes, calls


def unfolds():
    calls = [(draw(n, 2, h, w),) for n, h, w in ((1, 4, 4), (2, 5, 8), (3, 8, 4), (2, 9, 9))]
    shapes = ({0: Dim("batch", min=1, max=3), 2: Dim("height", min=4, max=9),
               3: Dim("width", min=4, max=9)},)
    return Unfolds(), (draw(2, 2, 5, 6),), shapes, calls


def windows():
    _, example, shapes, calls = unfolds()
    return Windows(), example, shapes, calls


def slopes():
    calls = [(draw(n, 3, h, w),) for n, h, w in ((1, 5, 5), (3, 6, 12), (2, 12, 9))]
    shapes = ({0: Dim("batch", max=3), 2: Dim("height", min=5, max=12),
               3: Dim("width", min=5, max=12)},)
    return seeded(Slopes()), (draw(2, 3, 7, 8),), shapes, calls


def row_slopes():
    calls = [(draw(n, 3, length),) for n, length in ((1, 4), (3, 12), (2, 9))]
    shapes = ({0: Dim("batch", max=3), 2: Dim("length", min=4, max=12)},)
    return seeded(RowSlopes()), (draw(2, 3, 7),), shapes, calls


def norms():
    calls = [(draw(1, 3, height, 5),) for height in (4, 12, 9)]
    return seeded(Norms()), calls[2], ({2: Dim("height", min=4, max=12)},), calls


def vocoder():
    calls = [(draw(n, frames, 4),) for n, frames in ((1, 9), (3, 12), (2, 20))]
    shapes = ({0: Dim("batch", min=1, max=3), 1: Dim("frames", min=9, max=20)},)
    return seeded(Vocoder()), (draw(2, 11, 4),), shapes, calls


def ranges():
    calls = [(draw(rows),) for rows in (4, 7, 20)]
    return Ranges(), (draw(6),), ({0: Dim("rows", min=4, max=20)},), calls


def numbers():
    calls = [(draw(rows, 3),) for rows in (2, 5, 10)]
    return Numbers(), (draw(6, 3),), ({0: Dim("rows", min=2, max=10)},), calls


def number_arguments():
    calls = [(draw(rows, 3),) for rows in (2, 5, 10)]
    return NumberArguments(), (draw(6, 3),), ({0: Dim("rows", min=2, max=10)},), calls


def number_refusals():
    calls = [(draw(rows, 3),) for rows in (3, 5, 10)]
    return NumberRefusals(), (draw(6, 3),), ({0: Dim("rows", min=2, max=10)},), calls


def powers():
    calls = [(draw(rows, 3),) for rows in (2, 5, 10)]
    return Powers(), calls[1], ({0: Dim("rows", min=2, max=10)},), calls


def returned_numbers():
    calls = [(draw(rows, 3), draw(2, columns)) for rows, columns in ((2, 7), (5, 2), (10, 4))]
    shapes = ({0: Dim("rows", min=2, max=10)}, {1: Dim("columns", min=2, max=7)})
    return ReturnedNumbers(), (draw(6, 3), draw(2, 5)), shapes, calls


def masks():
    calls = [
        (draw(6, 4) + shift, draw(6, 4).flip(0), torch.tensor([2])) for shift in (0, -9, 9)
    ]
    return seeded(Masks()), calls[0], None, calls


def mask_rows():
    calls = [(draw(rows, 4) + shift,) for rows, shift in ((6, 0), (9, -9), (2, 9))]
    return seeded(MaskRows()), calls[0], ({0: Dim("rows", min=2, max=9)},), calls


def masked_places():
    calls = [
        (draw(rows, 3) + shift, torch.arange(rows) % 4) for rows, shift in ((5, 0), (9, -9), (2, 9))
    ]
    rows = Dim("rows", min=2, max=9)
    return MaskedPlaces(), calls[0], ({0: rows}, {0: rows}), calls


def selected():
    calls = [(draw(n, 4), draw(4) * s + t) for n, s, t in ((5, 1, 0), (2, 1, 9), (9, 1, -9))]
    return Selected(), calls[0], ({0: Dim("rows", min=2, max=9)}, {}), calls


MODELS = {
    f.__name__: f
    for f in (
        mlp, cnn_batch, cnn_image, encoder, prefill, sizes,
        cond, cond_varying, cond_nested, cond_sizes, cond_numbers, map_rows, map_varying, few_rows,
        scan_rows, scan_varying, while_bound, found_start, found_places, found_rows, found_scales,
        found_limits, resizes, resamples, unfolds, windows, vocoder, ranges, fills, outs, numbers,
        number_arguments, number_refusals, powers, returned_numbers, masks, mask_rows, masked_places,
        selected, ordered, slopes, row_slopes, norms,
    )
}  # fmt: skip


def export(name: str):
    """The exported program, and the calls with what eager torch makes of them."""
    module, example, shapes, calls = MODELS[name]()
    with torch.no_grad():
        program = torch.export.export(module, example, dynamic_shapes=shapes)
        results = []
        for arguments in calls:
            out = module(*arguments)
            results.append([out] if isinstance(out, torch.Tensor) else list(out))
    return program, calls, results
