# SPDX-License-Identifier: Apache-2.0
"""When a result counts as equal to eager torch's.

  worst = compare(outputs, expected)   # raises Disagreement
  compare(outputs, expected, min_db=25)   # of integers, whose roundings differ
"""

import dataclasses

import numpy as np

MAX_ERROR = 1e-4  # of the largest expected magnitude
MIN_COSINE = 0.99999
MIN_SPREAD = 0.01  # an expected output must not be nearly constant


class Disagreement(Exception):
    """The result differs; the text says which output and how."""


@dataclasses.dataclass
class Worst:
    error: float = 0.0
    cosine: float = 1.0

    def include(self, other: "Worst") -> None:
        self.error = max(self.error, other.error)
        self.cosine = min(self.cosine, other.cosine)


def signal_to_noise(actual: np.ndarray, expected: np.ndarray) -> float:
    """In dB; infinite where nothing differs."""
    noise = np.square(actual - expected).sum()
    return float(10 * np.log10(np.square(expected).sum() / noise)) if noise else np.inf


def compare_one(actual: np.ndarray, expected: np.ndarray, min_db: float | None = None) -> Worst:
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise Disagreement(
            f"is {actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}"
        )
    if expected.dtype.kind in "iub":  # tokens, not quantities
        if (actual != expected).any():
            raise Disagreement(f"has {int((actual != expected).sum())} other integers")
        return Worst()
    a, y = actual.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    if y.std() <= MIN_SPREAD:
        raise Disagreement(f"proves nothing, expected values spread only {y.std():.3g}")
    if not np.isfinite(a).all():
        raise Disagreement("is not finite")
    norms = np.linalg.norm(a) * np.linalg.norm(y)
    worst = Worst(
        error=float(np.abs(a - y).max() / np.abs(y).max()),
        cosine=float(a @ y / norms) if norms else 0.0,
    )
    if min_db is not None:
        if (db := signal_to_noise(a, y)) < min_db:
            raise Disagreement(f"has {db:.1f} dB, must have {min_db}")
    elif worst.error > MAX_ERROR or worst.cosine < MIN_COSINE:
        raise Disagreement(f"error {worst.error:.2e}, cosine {worst.cosine:.7f}")
    return worst


def compare(actual: list[np.ndarray], expected: list[np.ndarray],
            min_db: float | None = None) -> Worst:
    if len(actual) != len(expected):
        raise Disagreement(f"{len(actual)} outputs, expected {len(expected)}")
    worst = Worst()
    for i, (a, y) in enumerate(zip(actual, expected)):
        try:
            worst.include(compare_one(a, y, min_db))
        except Disagreement as why:
            raise Disagreement(f"output {i} {why}") from None
    return worst


def rule_holds() -> str:
    """A table whose rule lets wrong results pass would be worth nothing."""
    y = [np.linspace(-1, 1, 50, dtype=np.float32), np.array([[0.5, 2.0]], dtype=np.float32)]
    compare([a + np.float32(1e-6) for a in y], y)
    tokens = [np.array([[7, 9]])]
    compare(tokens, [t.copy() for t in tokens])
    try:
        compare([t + [0, 1] for t in tokens], tokens)
    except Disagreement:
        pass
    else:
        raise Disagreement("another token counts as equal")
    wrong = {
        "an error of 2e-4": [y[0] + np.float32(2e-4), y[1]],
        "one wrong element of the second output": [y[0], y[1] * np.float32([1, 1.01])],
        "a missing output": y[:1],
        "another shape": [y[0], y[1].T],
        "another dtype": [y[0].astype(np.float64), y[1]],
        "a NaN": [y[0], y[1] * np.float32(np.nan)],
        "swapped outputs": y[::-1],
    }
    for what, actual in wrong.items():
        try:
            compare(actual, y)
        except Disagreement:
            continue
        raise Disagreement(f"{what} counts as equal")
    compare([a * np.float32(1.01) for a in y], y, min_db=39)
    try:
        compare([a * np.float32(1.01) for a in y], y, min_db=41)
    except Disagreement:
        pass
    else:
        raise Disagreement("too few dB count as equal")
    try:
        compare([np.ones(4)], [np.ones(4)])
    except Disagreement:
        return f"{len(wrong) + 1} kinds"
    raise Disagreement("a constant result counts as proof")
