// SPDX-License-Identifier: Apache-2.0
//
// The operators that have kernels, and what kinds of arguments each takes, for
// programs that call them all.

#ifndef PETREL_TEST_FAULTS_SIGNATURES_H_
#define PETREL_TEST_FAULTS_SIGNATURES_H_

namespace petrel::faults {

struct Signature {
  const char* name;
  // A letter for each: see make_signatures.py; O: a number that is written.
  const char* arguments;
};

inline constexpr Signature kSignatures[] = {
#include "test/faults/signatures.inc"
    {"aten::_local_scalar_dense", "TO"},
    {"aten::sym_numel", "TO"},
    {"aten::sym_size.int", "TIO"},
    {"executorch_prim::add.Scalar", "SSO"},
    {"executorch_prim::et_copy_index.tensor", "WTI"},
    {"executorch_prim::et_view.default", "TAW"},
    {"executorch_prim::floordiv.int", "IIO"},
    {"executorch_prim::lt.Scalar", "SSO"},
    {"executorch_prim::mod.Scalar", "SSO"},
    {"executorch_prim::mul.Scalar", "SSO"},
    {"executorch_prim::round.Scalar", "SO"},
    {"executorch_prim::sym_ite.Scalar", "BSSO"},
    // Petrel's own, which torch has no schema of. Last: seeds choose by number.
    {"petrel::attention.out", "TTTtBFW"},
    {"petrel::int8_table.out", "TTW"},
    {"petrel::int8_add.out", "TTIIIIIIIIIW"},
    {"petrel::int8_mul.out", "TTIIIIIIIIW"},
    {"petrel::int8_matmul.out", "TTIIIIIIIIW"},
    {"petrel::int8_linear.out", "TTtTTIIIIIW"},
    {"petrel::int8_convolution.out", "TTtTTAAAIIIIIIW"},
    {"petrel::int8_average.out", "TAAIIIIIIIW"},
    {"petrel::int8_max_pool.out", "TAAW"},
    {"petrel::int8_softmax.out", "TITIIIIIIW"},
    {"petrel::int8_masked_softmax.out", "TTITIIIIIIW"},
    {"petrel::int8_norm.out", "TIITTIIIIIIIW"},
};

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_SIGNATURES_H_
