// SPDX-License-Identifier: Apache-2.0
#include "extension/export/operator_dtypes.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "exir/ir/graph.h"

namespace petrel::extension {
namespace {

using exir::ArgKind;
using exir::ArgSpec;
using exir::Argument;
using exir::OpInfo;
using exir::ScalarType;

// Floats first.
const std::vector<ScalarType>& all_dtypes() {
  static const auto* const kAll = new std::vector<ScalarType>{
      ScalarType::kFloat, ScalarType::kHalf, ScalarType::kBFloat16, ScalarType::kDouble,
      ScalarType::kByte,  ScalarType::kChar, ScalarType::kShort,    ScalarType::kInt,
      ScalarType::kLong,  ScalarType::kBool};
  return *kAll;
}

// Plain arguments: tensors of `dtype` and `sizes`, and `number` where the operator wants one.
std::vector<Argument> plain_arguments(const OpInfo& op, ScalarType dtype,
                                      const std::vector<int64_t>& sizes, int64_t number,
                                      exir::Graph* graph) {
  std::vector<Argument> arguments;
  for (const ArgSpec& arg : op.args) {
    if (arg.has_default || (arg.is_optional && arg.kind != ArgKind::kTensor)) {
      arguments.push_back(arg.has_default ? arg.default_value : Argument());
    } else if (arg.kind == ArgKind::kTensor) {
      exir::Value* tensor = graph->add_input(exir::TensorType::contiguous(dtype, sizes), arg.name);
      arguments.push_back(arg.is_list ? Argument::of_values({tensor, tensor}) : Argument(tensor));
    } else if (arg.is_list) {
      arguments.emplace_back(Argument::Ints(arg.fixed_length > 0 ? arg.fixed_length : 1, number));
    } else if (arg.kind == ArgKind::kFloat) {
      arguments.emplace_back(0.5);
    } else if (arg.kind == ArgKind::kBool) {
      arguments.emplace_back(false);
    } else if (arg.kind == ArgKind::kString) {
      arguments.emplace_back(std::string("none"));
    } else {
      arguments.emplace_back(number);
    }
  }
  return arguments;
}

bool accepts(const OpInfo& op, ScalarType dtype) {
  for (size_t rank = 1; rank <= 4; ++rank) {
    for (const int64_t number : {1, 4}) {
      exir::Graph graph("probe");
      const std::vector<int64_t> sizes(rank, 4);
      if (op.infer(op, plain_arguments(op, dtype, sizes, number, &graph)).ok()) return true;
    }
  }
  return false;
}

}  // namespace

std::set<ScalarType> accepted_dtypes(const OpInfo& op) {
  bool has_tensor = false;
  for (const ArgSpec& arg : op.args) has_tensor |= arg.kind == ArgKind::kTensor;
  std::set<ScalarType> accepted;
  if (!has_tensor || op.infer == nullptr) return accepted;
  for (const ScalarType dtype : all_dtypes()) {
    if (accepts(op, dtype)) accepted.insert(dtype);
  }
  return accepted;
}

std::string dtypes_text(const std::set<ScalarType>& dtypes) {
  const std::vector<ScalarType>& all = all_dtypes();
  if (dtypes.size() == all.size()) return "all";
  if (dtypes == std::set<ScalarType>(all.begin(), all.begin() + 4)) return "floats";
  if (dtypes == std::set<ScalarType>(all.begin(), all.end() - 1)) return "all but bool";
  std::vector<std::string> names;
  for (const ScalarType dtype : all) {
    if (dtypes.count(dtype) > 0) names.emplace_back(exir::scalar_type_name(dtype));
  }
  return absl::StrJoin(names, " ");
}

}  // namespace petrel::extension
