// SPDX-License-Identifier: Apache-2.0
//
// Steps that run together, row by row, so that what is between them needs no memory but a few
// rows:
//
//   x -> convolution a -> convolution b -> + x       a: ring of 3 rows    b: added to where x lies
//
//   for row in rows of the last:
//     make the rows of a that b takes for it, each into the ring
//     make the row of b, level by level added to the row of x
//
// Each row is made once: nothing is computed twice. What goes in is one tensor, as a whole.
//
// Invariant: the stages are a tree, whose root is the last one; each result is read by one stage.
// All tensors have channels innermost and a batch of 1.
#ifndef PETREL_EXIR_EMIT_C_ROW_BLOCK_H_
#define PETREL_EXIR_EMIT_C_ROW_BLOCK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exir/emit_c/access_order.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/kernel_variants.h"
#include "exir/ir/graph.h"
#include "exir/memory/step_kernels.h"

namespace petrel::exir::emit_c {

// Not a stage, but what goes in.
inline constexpr int kBlockInput = -1;

struct RowStage {
  const Node* node = nullptr;
  const VariantRow* variant = nullptr;  // of a convolution; null for an addition
  Int8Product product;
  // Of a convolution what it reads; of an addition the convolution that adds to the levels which
  // are there.
  int input = kBlockInput;
  int other = kBlockInput;  // of an addition: what is there before
  int64_t height = 0, row_bytes = 0;
  int target = 0;           // the stage whose rows its own are written to
  int64_t ring_rows = 0;    // of its result; 0: it is written to another's rows, or is the last
  int64_t ring_offset = 0;  // in the scratch of the step

  bool is_addition() const { return variant == nullptr; }
  bool has_ring() const { return ring_rows > 0; }
};

struct RowBlock {
  const Value* input = nullptr;
  std::vector<RowStage> stages;  // in the order of the program
  int64_t ring_bytes = 0;
  int64_t scratch_bytes = 0;  // with what the kernels of stages need, behind the rings
  // More than one by one, estimated (kernel_costs.h); none: not known.
  std::optional<int64_t> more_instructions;

  const RowStage& at(int stage) const { return stages[static_cast<size_t>(stage)]; }
  int last() const { return static_cast<int>(stages.size()) - 1; }
};

// One image of levels whose places follow one another, each with all of its channels.
bool lies_by_places(const Value* value);

using VariantOf = std::function<const VariantRow*(const Node& node, const Int8Product& product)>;

// nullopt where the nodes cannot run so.
std::optional<RowBlock> make_row_block(const StepNodes& nodes, const VariantOf& variant_of);

// Rows of stage `input` that must be there for row `row` of the convolution `stage`: row * stride +
// more, within its height.
struct RowsNeeded {
  int64_t stride = 1, more = 0;
};
RowsNeeded rows_needed(const RowStage& stage);

// What the block does with its input and its result.
Accesses accesses_of(const RowBlock& block);
// It adds to its input where it lies: both must begin at one address.
bool adds_to_input(const RowBlock& block);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_ROW_BLOCK_H_
