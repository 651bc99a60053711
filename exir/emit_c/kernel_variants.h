// SPDX-License-Identifier: Apache-2.0
//
// The variants of kernels of integers, one row each: which operator, on which targets it is taken
// without being asked for, and what it needs. All of them compile everywhere and compute the same
// bits (docs/int8.md); where a processor lacks an instruction, C stands for it.
//
//   const VariantRow* row = choose_variant(product, Target::kCortexM4);
//   row->name;                     "im2col-smlad"
//   row->scratch_bytes(product);   1152, which the memory plan has for its step
//
// The first row of the table that fits and names the target is chosen. The last row of each
// operator needs nothing, takes sizes that vary, and is what the runtime's kernel computes.
#ifndef PETREL_EXIR_EMIT_C_KERNEL_VARIANTS_H_
#define PETREL_EXIR_EMIT_C_KERNEL_VARIANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/kernel_options.h"

namespace petrel::exir::emit_c {

// How a variant wants its weight.
enum class Packing {
  kAsStored,   // as the program has it; biases, shifts and zero points too
  kPairWords,  // words of four levels; one of each of two filters after the other
  kQuadWords,  // the same of four filters
  kTapWords,   // words of four channels, tap by tap
  kRows,       // filters, channels innermost
  kTaps,       // taps, channels innermost
};

// In which order a kernel with channels innermost reads its input and writes its output, row after
// row. The checker of plans and the planner both go by it; //test/portable_c:shadow_test compares
// it with what the code does.
enum class AccessOrder {
  kUnknown,       // never shares bytes
  kPlaces,        // all that a place takes is read before the place is written
  kFourFilters,   // it is read anew for every four filters, one by one where fewer are left
  kSixteenTaps,   // a place is written sixteen channels at a time, each after its own taps
  kFourChannels,  // four channels of all rows come before the next four
};

struct VariantRow {
  const char* name;
  const char* kernel;  // "petrel::int8_convolution.out"
  unsigned targets;    // bits of Target
  const char* source;  // below runtime/micro
  Packing packing;
  bool (*fits)(const Int8Product& product);
  int64_t (*scratch_bytes)(const Int8Product& product);
  AccessOrder order;
  const char* needs;  // for people
};

absl::Span<const VariantRow> variant_rows();

// Whether it computes `product`, on any target.
bool fits(const VariantRow& row, const Int8Product& product);
// Never null.
const VariantRow* choose_variant(const Int8Product& product, Target target);
// For a row of a block of steps that share memory: less scratch, one row at a time. Null for none.
const VariantRow* choose_row_variant(const Int8Product& product, Target target);
// The operator that `product` is a node of.
absl::string_view kernel_of(const Int8Product& product);

// Names of targets, "cortex-m4"; and the other way, false for none.
const char* name_of(Target target);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_VARIANTS_H_
