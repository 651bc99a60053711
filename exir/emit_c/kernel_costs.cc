// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/kernel_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/kernel_variants.h"

namespace petrel::exir::emit_c {
namespace {

// Calls, taps or words spread, words kept, levels written, words or taps multiplied.
constexpr size_t kLoops = 5;
using Loops = std::array<double, kLoops>;

struct CostRow {
  Target target;
  const char* variant;
  Loops instructions;
};

constexpr CostRow kRows[] = {
#include "exir/emit_c/kernel_costs.inc"
};

constexpr char kAddition[] = "add";
constexpr char kVectorVariant[] = "im2col-dot";
constexpr char kAddedLevel[] = "add-level";

std::optional<double> instructions_of(Target target, absl::string_view variant,
                                      const Loops& loops) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const CostRow& one) {
    return one.target == target && one.variant == variant;
  });
  if (row == std::end(kRows)) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < kLoops; ++i) sum += row->instructions[i] * loops[i];
  return sum;
}

// A target whose vectors are of 16 levels fills them up.
int64_t words_of(const Int8Product& product, Target target, absl::string_view variant) {
  const bool has_vectors = target == Target::kCortexM55 && variant == kVectorVariant;
  const int64_t lanes = has_vectors ? 16 : 4;
  return (product.depth() + lanes - 1) / lanes * (lanes / 4);
}

// Of a call for all rows, or of one for each.
Loops loops_of(const Int8Product& product, Target target, absl::string_view variant, bool by_rows) {
  const auto calls = static_cast<double>(by_rows ? product.out_height : 1);
  const auto taps = static_cast<double>(product.taps());
  const auto height = static_cast<double>(product.out_height);
  const auto width = static_cast<double>(product.out_width);
  if (product.is_depthwise()) {
    const double fours = static_cast<double>(product.groups) / 4;
    const auto kernel_height = static_cast<double>(product.kernel_height);
    const double rows =
        by_rows ? height * kernel_height
                : (height - 1) * static_cast<double>(product.stride_height) + kernel_height;
    const double row_width = (width - 1) * static_cast<double>(product.stride_width) +
                             static_cast<double>(product.kernel_width);
    return {calls, fours * rows * row_width, calls * fours * taps, fours * height * width,
            fours * height * width * taps};
  }
  // Two places at once.
  const double places = calls * 2 * std::ceil((by_rows ? width : height * width) / 2);
  const auto words = static_cast<double>(words_of(product, target, variant));
  const auto filters = static_cast<double>(product.all_filters());
  return {calls, places * taps, places * words, places * filters, places * filters * words};
}

std::optional<double> instructions_of(const Int8Product& product, Target target,
                                      absl::string_view variant, bool by_rows) {
  return instructions_of(target, variant, loops_of(product, target, variant, by_rows));
}

double levels_of(const RowStage& stage) {
  return static_cast<double>(stage.node->result()->tensor().numel());
}

}  // namespace

std::optional<int64_t> price_of(const RowBlock& block, const VariantOf& plain, Target target) {
  double price = 0;
  for (const RowStage& stage : block.stages) {
    std::optional<double> together, alone;
    if (stage.is_addition()) {
      together = instructions_of(target, kAddedLevel, {0, 0, 0, levels_of(stage), 0});
      alone = instructions_of(target, kAddition, {1, 0, 0, levels_of(stage), 0});
    } else {
      together = instructions_of(stage.product, target, stage.variant->name, /*by_rows=*/true);
      const VariantRow* const variant = plain(*stage.node, stage.product);
      alone = instructions_of(stage.product, target, variant->name, /*by_rows=*/false);
    }
    if (!together.has_value() || !alone.has_value()) return std::nullopt;
    price += *together - *alone;
  }
  return static_cast<int64_t>(std::llround(price));
}

std::string price_text(const RowBlock& block, Target target) {
  if (!block.more_instructions.has_value()) {
    return absl::StrCat("at a price that was not measured for target ", name_of(target));
  }
  const int64_t more = *block.more_instructions;
  return absl::StrCat("about ", std::abs(more), " instructions ", more < 0 ? "less" : "more",
                      " than one by one");
}

}  // namespace petrel::exir::emit_c
