# SPDX-License-Identifier: Apache-2.0
"""Draws, tensors made of all pairs or places of others, and statistics of elements in order."""

import torch

from inference.calls import DTYPES, B, I, T, call

X, HALF, CHANCES = T(3, 4), T(3, 4, dt="f16"), T(3, 4, dt="f64", fill=0.5)

for op in ("uniform", "normal_functional", "exponential", "log_normal", "cauchy"):
    call(op, X)
    call(op, HALF, 0.5)
for op in ("uniform_", "normal_", "exponential_", "log_normal_", "cauchy_"):
    call(op, X)
    call(op, HALF, 0.5)
for op in ("geometric", "geometric_"):
    for x in (X, HALF, I(3, 4)):
        call(op, x, 0.5)
call("bernoulli", CHANCES)
call("bernoulli", HALF)
for op in ("bernoulli.p", "bernoulli_.float"):
    call(op, X, 0.25)
    call(op, I(3, 4), 0.25)
for op in ("bernoulli.Tensor", "bernoulli_.Tensor"):
    call(op, X, CHANCES)
    call(op, I(3, 4), T(4, fill=0.5))
call("normal.Tensor_Tensor", X, X)
call("normal.Tensor_Tensor", X, T(4, dt="f64"))
call("normal.Tensor_float", HALF)
call("normal.float_Tensor", 1.0, CHANCES)
call("normal.float_float", 1.0, 2.0, [3, 4])
call("normal.float_float", 1.0, 2.0, [3, 4], dtype=torch.float16)
call("randint", 5, [2, 3])
call("randint", 5, [], dtype=torch.float32)
call("randint.low", -2, 5, [2, 3], dtype=torch.int8)
call("randint_like", X, 5)
call("randint_like", I(3), 5, dtype=torch.int32)
call("randint_like.low_dtype", X, 2, 5)
call("randperm", 6)
call("randperm", 0, dtype=torch.int32)
call("multinomial", T(5, fill=1), 2)
call("multinomial", T(2, 5, dt="f64", fill=1), 7, True)
call("rrelu", X)
call("rrelu", HALF, 0.5, 0.75)

call("block_diag", [T(2, 3), T(4), T()])
call("block_diag", [T(2, 3), I(1, 2), T(0, 3, dt="f16")])
call("cartesian_prod", [T(3), T(2), T(0)])
call("cartesian_prod", [I(3)])
call("kron", T(2, 3), T(4, 1))
call("kron", T(2), I(3, 4, 5))
call("kron", T(), B(3))
call("diagflat", X)
call("diagflat", I(2), -3)
call("diagflat", T(), 1)
for op in ("tril_indices", "triu_indices"):
    call(op, 3, 5)
    call(op, 5, 3, 2)
    call(op, 4, 4, -2, dtype=torch.int32)
    call(op, 0, 4)
for op in ("quantile", "nanquantile"):
    call(op, X, T(3, fill=0.5))
    call(op, X, T(), 1, True)
    call(op, T(2, 3, 4, dt="f64"), T(2, dt="f64"), -2, interpolation="lower")
    call(op + ".scalar", X, 0.5)
    call(op + ".scalar", X, 0.25, 0, True, interpolation="nearest")
call("dist", X, T(4))
call("dist", X, T(3, 1, dt="f64"), 1)
call("sum_to_size", T(2, 3, 4), [3, 1])
call("sum_to_size", X, [3, 4])
call("triplet_margin_loss", X, X, X)
call("triplet_margin_loss", X, T(1, 4), T(3, 4, dt="f64"), 1.0, 2.0, 1e-6, True, 0)
call("cosine_embedding_loss", X, X, I(3))
call("cosine_embedding_loss", X, X, I(3), 0.5, 0)
call("cosine_embedding_loss", T(4), T(4), I(), 0.5, 0)
call("linalg_norm.ord_str", X, "fro")
call("linalg_norm.ord_str", T(2, 3, 4), "fro", [0, 2], True)
call("mH", T(2, 3, 4))
call("matrix_H", X)

for op in ("scatter.value_reduce", "scatter_.value_reduce"):
    call(op, X, 0, I(2, 4), 2.0, reduce="add")
    call(op, X, 1, I(3, 2), 2.0, reduce="multiply")
for op in ("index_reduce", "index_reduce_"):
    call(op, X, 0, I(2), T(2, 4), "amax")
    call(op, HALF, 1, I(5), T(3, 5, dt="f16"), "mean", include_self=False)
call("scatter_.reduce", X, 0, I(2, 4), T(2, 4), reduce="multiply")
call("scatter_reduce_.two", X, 0, I(2, 4), T(2, 4), "prod")


class Unit(T):
    """Unit matrices of the last size, in batches of the other ones."""

    def __init__(self, *sizes, dt="f32"):
        super().__init__(*sizes, sizes[-1], dt=dt)

    def make(self):
        return torch.eye(self.sizes[-1], dtype=DTYPES[self.dt]).expand(self.sizes).clone()


for op in ("inverse", "linalg_inv", "linalg_inv_ex", "det", "linalg_det", "cholesky",
           "linalg_cholesky"):
    call(op, Unit(3))
    call(op, Unit(2, 3))
    call(op, Unit(2, 3, dt="f64"))
call("linalg_solve", Unit(3), T(3))
call("linalg_solve", Unit(2, 3), T(2, 3))
call("linalg_solve", Unit(2, 3), T(3, 4))
call("linalg_solve", Unit(2, 3), T(5, 1, 3, 4))
call("linalg_solve", Unit(2, 3), T(2, 4, 3), left=False)

for op in ("slogdet", "linalg_slogdet", "logdet", "matrix_exp", "linalg_matrix_exp",
           "cholesky_inverse", "linalg_cholesky_ex"):
    call(op, Unit(3))
    call(op, Unit(2, 3))
    call(op, Unit(2, 3, dt="f64"))
call("linalg_solve_ex", Unit(3), T(3))
call("linalg_solve_ex", Unit(2, 3), T(5, 1, 3, 4))
call("linalg_solve_ex", Unit(2, 3), T(2, 4, 3), left=False)
call("linalg_solve_triangular", Unit(3), T(3, 2), upper=True)
call("linalg_solve_triangular", Unit(2, 3), T(5, 1, 3, 4), upper=False)
call("linalg_solve_triangular", Unit(3, dt="f64"), T(2, 4, 3, dt="f64"), upper=False, left=False)
call("cholesky_solve", T(3, 2), Unit(3))
call("cholesky_solve", T(5, 1, 3, 4), Unit(2, 3), True)
call("_trilinear", T(3, 4), T(2, 4, 5), T(3, 5), [1, 3], [0], [1, 2], [2, 3])
call("_trilinear", T(3, 1), T(4), T(3, 4), [], [0], [], [1], 0)
for op in ("_linalg_det", "_linalg_slogdet"):
    call(op, Unit(3))
    call(op, Unit(2, 3, dt="f64"))
call("_linalg_solve_ex", Unit(3), T(3))
call("_linalg_solve_ex", Unit(2, 3), T(2, 3, 4))
call("triangular_solve", T(3, 2), Unit(3))
LAYER = (8, 2, T(24, 8), T(24), T(8, 8), T(8), True, False, 1e-5, T(8), T(8), T(8), T(8), T(6, 8), T(6),
         T(8, 6), T(8))
call("_transformer_encoder_layer_fwd", T(3, 5, 8), *LAYER)
call("_transformer_encoder_layer_fwd", T(3, 5, 8), *LAYER, B(3, 5), 1)
call("triangular_solve", T(5, 1, 3, 4), Unit(2, 3), False, True)
