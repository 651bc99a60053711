// SPDX-License-Identifier: Apache-2.0
//
// How many instructions kernels of integers take, by how often their loops run. The table is
// measured, by test/perf/kernel_costs; it is of the targets that boards have, compiled with -O2.
//
//   price_of(block, plain_variant_of, Target::kCortexM4);   // 140992 more than one by one
#ifndef PETREL_EXIR_EMIT_C_KERNEL_COSTS_H_
#define PETREL_EXIR_EMIT_C_KERNEL_COSTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "exir/emit_c/kernel_options.h"
#include "exir/emit_c/row_block.h"

namespace petrel::exir::emit_c {

// What the nodes of a block take together, row by row, more than one by one with the variants that
// `plain` tells; less where that is negative. nullopt where the target or a variant was not
// measured.
std::optional<int64_t> price_of(const RowBlock& block, const VariantOf& plain, Target target);

// "about 140992 instructions more than one by one", for people.
std::string price_text(const RowBlock& block, Target target);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_COSTS_H_
