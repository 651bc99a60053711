// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/row_block.h"

#include <algorithm>

#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

constexpr int64_t kWord = 4;

int64_t whole_words(int64_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

class BlockMaker {
 public:
  BlockMaker(const StepNodes& nodes, const VariantOf& variant_of)
      : nodes_(nodes), variant_of_(variant_of) {}

  std::optional<RowBlock> make() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = *nodes_[i];
      if (node.num_results() != 1 || !lies_by_places(node.result())) return std::nullopt;
      if (i + 1 < nodes_.size() && !is_inner(node.result())) return std::nullopt;
      RowStage stage;
      stage.node = &node;
      stage.height = node.result()->tensor().sizes[2];
      stage.row_bytes = node.result()->tensor().nbytes() / stage.height;
      stage.target = static_cast<int>(i);
      const bool is_made = node.is(petrel_ops::int8_add) ? add(&stage) : convolve(&stage);
      if (!is_made) return std::nullopt;
      block_.stages.push_back(std::move(stage));
    }
    if (block_.input == nullptr || !place()) return std::nullopt;
    return std::move(block_);
  }

 private:
  // Read by one stage, which is among them.
  bool is_inner(const Value* value) const {
    const bool is_alone = value->users().size() == 1 && value->output_uses() == 0;
    return is_alone && std::find(nodes_.begin(), nodes_.end(), value->users()[0]) != nodes_.end();
  }

  // What a stage reads: another one, or what goes in, which is one value.
  bool find(const Value* value, int* stage) {
    for (size_t i = 0; i < block_.stages.size(); ++i) {
      if (block_.stages[i].node->result() != value) continue;
      *stage = static_cast<int>(i);
      return true;
    }
    *stage = kBlockInput;
    if (value->is_constant() || !lies_by_places(value)) return false;
    if (block_.input == nullptr) block_.input = value;
    return block_.input == value;
  }

  bool convolve(RowStage* stage) {
    const auto product = int8_product(*stage->node);
    if (!product.has_value() || product->is_linear || product->batch != 1) return false;
    stage->product = *product;
    stage->variant = variant_of_(*stage->node, *product);
    if (stage->variant == nullptr || stage->variant->order == AccessOrder::kUnknown) return false;
    return find(stage->node->input(arg::input), &stage->input);
  }

  bool is_dense(int stage) const {
    return stage != kBlockInput && !block_.at(stage).is_addition() &&
           block_.at(stage).product.groups == 1;
  }

  // The operand that reads rows of a ring adds to the levels of the other: rows of what goes in are
  // read before anything is written over them.
  bool add(RowStage* stage) {
    const Value* self = stage->node->input(arg::self);
    const Value* other = stage->node->input(arg::other);
    if (self->tensor().sizes != stage->node->result()->tensor().sizes) return false;
    if (other->tensor().sizes != stage->node->result()->tensor().sizes || self == other) {
      return false;
    }
    if (!find(self, &stage->input) || !find(other, &stage->other)) return false;
    if (!adds_last(stage->input, stage->other)) std::swap(stage->input, stage->other);
    return is_dense(stage->input);
  }

  bool adds_last(int stage, int other) const {
    if (is_dense(stage) != is_dense(other)) return is_dense(stage);
    const auto reads_ring = [&](int i) {
      return i != kBlockInput && block_.at(i).input != kBlockInput;
    };
    return reads_ring(stage) != reads_ring(other) ? reads_ring(stage) : stage > other;
  }

  // Says which rows each stage writes to, and where rings are.
  bool place() {
    for (int i = block_.last(); i >= 0; --i) {
      const RowStage stage = block_.at(i);
      if (stage.is_addition()) {
        retarget(stage.input, stage.target);
        if (stage.other != kBlockInput) retarget(stage.other, stage.target);
      } else if (stage.input != kBlockInput) {
        RowStage& from = block_.stages[static_cast<size_t>(stage.input)];
        from.ring_rows = std::min(
            from.height, (stage.product.kernel_height - 1) * stage.product.dilation_height + 1);
      }
    }
    int64_t scratch = 0;
    for (RowStage& stage : block_.stages) {
      if (stage.has_ring()) {
        stage.ring_offset = block_.ring_bytes;
        block_.ring_bytes += whole_words(stage.ring_rows * stage.row_bytes);
      }
      if (!stage.is_addition()) {
        scratch = std::max(scratch, stage.variant->scratch_bytes(stage.product));
      }
    }
    block_.scratch_bytes = block_.ring_bytes + scratch;
    return true;
  }

  void retarget(int stage, int target) {
    block_.stages[static_cast<size_t>(stage)].target = target;
  }

  const StepNodes& nodes_;
  const VariantOf& variant_of_;
  RowBlock block_;
};

// The order in which a block makes its rows, as the code of it does.
class RowWalk {
 public:
  RowWalk(const RowBlock& block, Accesses* accesses)
      : block_(block), accesses_(*accesses), next_(block.stages.size(), 0) {}

  void run() {
    for (int64_t row = 0; row < block_.at(block_.last()).height; ++row) {
      prepare(block_.last(), row);
      make(block_.last(), row, kBlockInput);
    }
  }

 private:
  // Makes what is read from rings for the row.
  void prepare(int index, int64_t row) {
    const RowStage& stage = block_.at(index);
    if (stage.is_addition()) {
      if (stage.other != kBlockInput) prepare(stage.other, row);
      return prepare(stage.input, row);
    }
    if (stage.input == kBlockInput) return;
    const RowsNeeded needed = rows_needed(stage);
    int64_t& next = next_[static_cast<size_t>(stage.input)];
    for (; next < block_.at(stage.input).height && next <= row * needed.stride + needed.more;
         ++next) {
      prepare(stage.input, next);
      make(stage.input, next, kBlockInput);
    }
  }

  // `addition` is that whose levels a convolution adds to, or kBlockInput.
  void make(int index, int64_t row, int addition) {
    const RowStage& stage = block_.at(index);
    if (stage.is_addition()) {
      if (stage.other != kBlockInput) make(stage.other, row, kBlockInput);
      return make(stage.input, row, index);
    }
    const bool reads = stage.input == kBlockInput;
    const bool writes = stage.target == block_.last();
    Accesses made;
    add_product({&stage.product, stage.variant->order, row, row + 1, reads, writes}, &made);
    const bool adds_input = addition != kBlockInput && block_.at(addition).other == kBlockInput;
    for (const Access& access : made) {
      // What it adds to lies where it writes.
      if (access.is_write && adds_input) accesses_.push_back({false, access.begin, access.end});
      accesses_.push_back(access);
    }
    if (adds_input && !writes) {
      accesses_.push_back({false, row * stage.row_bytes, (row + 1) * stage.row_bytes});
    }
  }

  const RowBlock& block_;
  Accesses& accesses_;
  std::vector<int64_t> next_;
};

}  // namespace

bool lies_by_places(const Value* value) {
  if (!value->type().is_tensor()) return false;
  const TensorType& type = value->tensor();
  if (type.rank() != 4 || type.is_dynamic() || type.sizes[0] != 1) return false;
  if (type.dtype != ScalarType::kChar || type.numel() == 0) return false;
  if (type.sizes[1] == 1 || type.sizes[2] * type.sizes[3] == 1) return true;
  return type.dim_order == std::vector<uint8_t>{0, 2, 3, 1};
}

std::optional<RowBlock> make_row_block(const StepNodes& nodes, const VariantOf& variant_of) {
  return BlockMaker(nodes, variant_of).make();
}

RowsNeeded rows_needed(const RowStage& stage) {
  const Int8Product& product = stage.product;
  return {product.stride_height,
          (product.kernel_height - 1) * product.dilation_height - product.padding_top};
}

Accesses accesses_of(const RowBlock& block) {
  Accesses accesses;
  RowWalk(block, &accesses).run();
  return accesses;
}

bool adds_to_input(const RowBlock& block) {
  const RowStage& last = block.at(block.last());
  if (last.is_addition() && last.other == kBlockInput) return true;
  return std::any_of(block.stages.begin(), block.stages.end(), [&](const RowStage& stage) {
    return stage.is_addition() && stage.target == block.last() && stage.other == kBlockInput;
  });
}

}  // namespace petrel::exir::emit_c
