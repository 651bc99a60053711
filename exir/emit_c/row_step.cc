// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/row_step.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/emit_c/int8_calls.h"
#include "exir/emit_c/node_calls.h"
#include "exir/emit_c/node_problems.h"
#include "exir/emit_c/node_step.h"
#include "exir/emit_c/renamed.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

class RowText {
 public:
  RowText(const RowBlock& block, const Places& places, const Package& package,
          KernelLibrary* library)
      : block_(block), places_(places), package_(package), library_(*library) {}

  absl::StatusOr<std::string> make() {
    for (int i = 0; i < block_.last(); ++i) {
      if (block_.at(i).has_ring()) absl::StrAppend(&text_, "  int32_t ", row(i), " = 0;\n");
    }
    const int last = block_.last();
    absl::StrAppend(&text_, "  for (int32_t ", row(last), " = 0; ", row(last), " < ",
                    block_.at(last).height, "; ++", row(last), ") {\n");
    PETREL_RETURN_IF_ERROR(prepare(last, row(last), 2));
    PETREL_RETURN_IF_ERROR(add_row(last, row(last), 2));
    return text_ + "  }\n";
  }

 private:
  static std::string row(int stage) { return absl::StrCat("row_", stage); }
  static std::string indent(int depth) { return std::string(static_cast<size_t>(2 * depth), ' '); }

  const Node& last_node() const { return *block_.at(block_.last()).node; }

  // Loops that make the rows of rings which `stage` reads for its row.
  absl::Status prepare(int index, const std::string& at, int depth) {
    const RowStage& stage = block_.at(index);
    if (stage.is_addition()) {
      if (stage.other != kBlockInput) PETREL_RETURN_IF_ERROR(prepare(stage.other, at, depth));
      return prepare(stage.input, at, depth);
    }
    if (stage.input == kBlockInput) return absl::OkStatus();
    const RowsNeeded needed = rows_needed(stage);
    const std::string next = row(stage.input);
    std::string least = needed.stride == 1 ? at : absl::StrCat(at, " * ", needed.stride);
    if (needed.more != 0) {
      absl::StrAppend(&least, needed.more > 0 ? " + " : " - ", std::abs(needed.more));
    }
    absl::StrAppend(&text_, indent(depth), "for (; ", next, " < ", block_.at(stage.input).height,
                    " && ", next, " <= ", least, "; ++", next, ") {\n");
    PETREL_RETURN_IF_ERROR(prepare(stage.input, next, depth + 1));
    PETREL_RETURN_IF_ERROR(add_row(stage.input, next, depth + 1));
    absl::StrAppend(&text_, indent(depth), "}\n");
    return absl::OkStatus();
  }

  // Where row `at` of a stage is written: in a ring, or in the result of the block.
  std::string written(const RowStage& stage, const std::string& at) const {
    const RowStage& target = block_.at(stage.target);
    if (!target.has_ring()) {
      return absl::StrCat(places_.write(last_node().result()), " + ", at, " * ", target.row_bytes);
    }
    return absl::StrCat(places_.scratch(last_node(), "int8_t", target.ring_offset), " + ", at,
                        " % ", target.ring_rows, " * ", target.row_bytes);
  }

  absl::Status add_row(int index, const std::string& at, int depth) {
    const RowStage& stage = block_.at(index);
    if (!stage.is_addition()) return add_convolution(stage, at, "", depth);
    if (stage.other != kBlockInput) {
      PETREL_RETURN_IF_ERROR(add_row(stage.other, at, depth));
    } else {
      PETREL_RETURN_IF_ERROR(add_copy(stage, at, depth));
    }
    const RowStage& from = block_.at(stage.input);
    const bool adds_self = stage.node->input(arg::self) == from.node->result();
    PETREL_ASSIGN_OR_RETURN(const KernelFunction sum,
                            library_.add(addition_of_levels(*stage.node, adds_self)));
    return add_convolution(from, at, sum.name, depth);
  }

  // What goes in is added to: it must be where the row is written.
  absl::Status add_copy(const RowStage& stage, const std::string& at, int depth) {
    const bool is_there = !block_.at(stage.target).has_ring() &&
                          places_.bytes(block_.input) == places_.bytes(last_node().result());
    if (is_there) return absl::OkStatus();
    absl::StrAppend(&text_, indent(depth), "memcpy(", written(stage, at), ",\n", indent(depth + 2),
                    places_.read(block_.input), " + ", at, " * ", stage.row_bytes, ", ",
                    stage.row_bytes, "u);\n");
    return absl::OkStatus();
  }

  // `store` is a function that stores a level, "" for one that only does that.
  absl::Status add_convolution(const RowStage& stage, const std::string& at,
                               const std::string& store, int depth) {
    const KernelChoice& choice = *package_.pools->kernels->find(stage.node);
    KernelCall call = convolution_of_rows(choice);
    if (!store.empty()) call.tokens["STORE_LEVEL"] = store;
    std::string from = places_.read(block_.input);
    if (stage.input != kBlockInput) {
      const RowStage& input = block_.at(stage.input);
      from = places_.scratch(last_node(), "int8_t", input.ring_offset);
      if (input.ring_rows < input.height) {
        call.tokens["HELD_ROW"] = absl::StrCat("h % ", input.ring_rows);
      }
    }
    const Node& node = *stage.node;
    call.arguments = {
        from, places_.read(node.input(arg::weight)), places_.read(node.input(arg::bias)),
        places_.read(node.input(arg::multiplier)), places_.read(node.input(arg::shift))};
    if (choice.variant->scratch_bytes(choice.product) > 0) {
      call.arguments.push_back(
          places_.scratch(last_node(), scratch_type(*choice.variant), block_.ring_bytes));
    }
    call.arguments.push_back(written(stage, at));
    call.varying = {{"row_", at}};
    PETREL_ASSIGN_OR_RETURN(const KernelFunction function, library_.add(call));
    absl::StrAppend(&text_, indent(depth), renamed(package_, function.name), "(", at, ",\n",
                    indent(depth + 2),
                    absl::StrJoin(call.arguments, absl::StrCat(",\n", indent(depth + 2))), ");\n");
    return absl::OkStatus();
  }

  const RowBlock& block_;
  const Places& places_;
  const Package& package_;
  KernelLibrary& library_;
  std::string text_;
};

}  // namespace

absl::StatusOr<CStep> make_row_step(const RowBlock& block, const Places& places,
                                    const Storage& storage, const std::string& number,
                                    const Package& package, KernelLibrary* library) {
  const Node& last = *block.at(block.last()).node;
  CStep step;
  step.function = absl::StrCat(number, "_rows");
  step.kernel = kernel_of(last, storage);
  step.node = last.result()->name();
  step.comment = "Together, row by row:";
  for (const RowStage& stage : block.stages) {
    const std::string variant = stage.is_addition() ? "" : stage.variant->name;
    absl::StrAppend(&step.comment, "\n", comment_of(*stage.node),
                    variant.empty() ? "" : "\n  variant ", variant);
    step.together.push_back(
        {stage.node->result()->name(), kernel_of(*stage.node, storage), variant});
  }
  step.ring_bytes = block.ring_bytes;
  step.more_instructions = block.more_instructions;
  PETREL_ASSIGN_OR_RETURN(step.body, RowText(block, places, package, library).make());
  return step;
}

}  // namespace petrel::exir::emit_c
