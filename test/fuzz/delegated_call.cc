// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/delegated_call.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::fuzz {
namespace {

using backends::xnnpack::Dims;
using backends::xnnpack::GraphBuilder;
using backends::xnnpack::kMaxValueRank;
using backends::xnnpack::NodeKind;
using faults::PlanRecipe;
using faults::Recipe;
using faults::ValueRecipe;
using Types = faults::fb::KernelTypes;

struct Row {
  const char* name;
  NodeKind kind;
  size_t operands;
};

// Arguments between the operands and the output must be 1, as alpha is.
constexpr Row kRows[] = {
    {"aten::abs.out", NodeKind::Abs, 1},
    {"aten::ceil.out", NodeKind::Ceiling, 1},
    {"aten::floor.out", NodeKind::Floor, 1},
    {"aten::neg.out", NodeKind::Negate, 1},
    {"aten::exp.out", NodeKind::Exp, 1},
    {"aten::sigmoid.out", NodeKind::Sigmoid, 1},
    {"aten::tanh.out", NodeKind::Tanh, 1},
    {"aten::sin.out", NodeKind::Sin, 1},
    {"aten::cos.out", NodeKind::Cos, 1},
    {"aten::log.out", NodeKind::Log, 1},
    {"aten::sqrt.out", NodeKind::SquareRoot, 1},
    {"aten::relu.out", NodeKind::Clamp, 1},
    {"aten::rsqrt.out", NodeKind::ReciprocalSquareRoot, 1},
    {"aten::add.out", NodeKind::Add, 2},
    {"aten::sub.out", NodeKind::Subtract, 2},
    {"aten::mul.out", NodeKind::Multiply, 2},
    {"aten::div.out", NodeKind::Div, 2},
    {"aten::maximum.out", NodeKind::Maximum, 2},
    {"aten::minimum.out", NodeKind::Minimum, 2},
};

const Row* find_row(const PlanRecipe& plan) {
  if (plan.operators.size() != 1 || !plan.operators[0].overload) return nullptr;
  const std::string name = *plan.operators[0].name + "." + *plan.operators[0].overload;
  for (const Row& row : kRows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

// A float tensor of an arena or of the caller, in default order, with elements.
std::optional<Dims> dims_of(const ValueRecipe& value) {
  if (value.type != Types::Tensor || value.constant != 0 ||
      value.scalar_type != static_cast<int8_t>(faults::fb::ScalarType::FLOAT) ||
      value.sizes.empty() || value.sizes.size() > kMaxValueRank ||
      !std::is_sorted(value.dim_order.begin(), value.dim_order.end())) {
    return std::nullopt;
  }
  Dims dims;
  for (const int32_t size : value.sizes) {
    if (size < 1) return std::nullopt;
    dims.push_back(static_cast<uint32_t>(size));
  }
  return dims;
}

// Empty when they do not broadcast.
Dims broadcast(const Dims& a, const Dims& b) {
  Dims dims(std::max(a.size(), b.size()), 1);
  for (const Dims* each : {&a, &b}) {
    const size_t shift = dims.size() - each->size();
    for (size_t d = 0; d < each->size(); ++d) {
      uint32_t& size = dims[shift + d];
      if (size != 1 && (*each)[d] != 1 && size != (*each)[d]) return {};
      size = std::max(size, (*each)[d]);
    }
  }
  return dims;
}

}  // namespace

std::optional<Recipe> delegated_call(const Recipe& recipe) {
  const PlanRecipe& plan = recipe.plans[0];
  const Row* const row = find_row(plan);
  if (recipe.plans.size() != 1 || plan.chains[0].size() != 1 || row == nullptr) {
    return std::nullopt;
  }
  const auto value = [&](int32_t id) -> const ValueRecipe& {
    return plan.values[static_cast<size_t>(id)];
  };
  const std::vector<int32_t>& args = plan.chains[0][0].args;
  const int32_t out = args.back();
  for (size_t i = row->operands; value(args[i]).type != Types::Tensor; ++i) {
    if (value(args[i]).number != 1) return std::nullopt;
  }
  GraphBuilder builder;
  Dims result;
  std::vector<uint32_t> operands;
  faults::InstructionRecipe call;
  call.type = faults::fb::InstructionArguments::DelegateCall;
  for (size_t i = 0; i < row->operands; ++i) {
    const std::optional<Dims> dims = dims_of(value(args[i]));
    const auto& inputs = plan.inputs;
    if (!dims || std::find(inputs.begin(), inputs.end(), args[i]) == inputs.end()) {
      return std::nullopt;
    }
    result = i == 0 ? *dims : broadcast(result, *dims);
    operands.push_back(builder.input(*dims));
    call.args.push_back(args[i]);
  }
  const std::optional<Dims> room = dims_of(value(out));
  if (!room || result.empty() || room->size() != result.size()) return std::nullopt;
  call.args.push_back(out);
  auto& node = builder.node(row->kind, operands, {builder.output(result)});
  if (row->kind == NodeKind::Clamp) node.output_min = 0;

  Recipe delegated = recipe;
  PlanRecipe& changed = delegated.plans[0];
  faults::DelegateRecipe delegate;
  delegate.index = static_cast<uint32_t>(delegated.segments.size());
  delegated.segments.push_back(backends::xnnpack::write_payload(builder.graph));
  changed.delegates.push_back(delegate);
  changed.operators.clear();
  changed.chains[0] = {call};
  return delegated;
}

}  // namespace petrel::fuzz
