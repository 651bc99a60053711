// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/partitioner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/costs.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/varying_partition.h"
#include "backends/xnnpack/format/shape_rules.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::Support;

// `what` goes before the value's name: "result 'x' is ...".
Support check_value(const char* what, const exir::Value& value) {
  const auto no = [&](const std::string& why) {
    return Support::no(absl::StrCat(what, " '", value.name(), "' ", why));
  };
  if (!value.type().is_tensor()) return no("is a number computed at run time");
  const exir::TensorType& type = value.tensor();
  if (type.dtype != exir::ScalarType::kFloat) {
    return no(absl::StrCat("is ", exir::to_string(type), ", must be f32"));
  }
  const size_t minimum = value.is_constant() ? 0 : 1;
  if (type.rank() < minimum || type.rank() > kMaxValueRank) {
    return no(absl::StrCat("has rank ", type.rank(), ", must be in [", minimum, ", ", kMaxValueRank,
                           "]"));
  }
  if (type.numel() == 0) return no("has no elements");
  if (static_cast<uint64_t>(type.nbytes()) > kMaxValueBytes) {
    return no(absl::StrCat("has ", type.nbytes(), " bytes, must be at most ", kMaxValueBytes));
  }
  if (!value.is_constant() && !type.is_contiguous()) return no("is not contiguous");
  if (value.is_constant() && value.constant()->is_mutable()) return no("is a mutable buffer");
  return Support::yes();
}

}  // namespace

Support XnnpackPartitioner::supports(const exir::Node& node) const {
  const OpRow* row = find_row(node.op());
  if (row == nullptr) return Support::no("XNNPACK has no such operator");
  if (node.num_results() != 1) {
    return Support::no(absl::StrCat("it has ", node.num_results(), " results, must have 1"));
  }
  if (Support s = check_value("result", *node.result()); !s.supported) return s;
  bool computes = false;
  bool varies = node.result()->type().is_dynamic();
  for (const exir::Value* operand : node.operands()) {
    if (Support s = check_value("operand", *operand); !s.supported) return s;
    computes |= !operand->is_constant();
    varies |= operand->type().is_dynamic();
  }
  if (!computes) return Support::no("all operands are constants");
  if (Support s = row->check(node); !s.supported) return s;
  return varies ? supports_varying(node) : Support::yes();
}

bool XnnpackPartitioner::keeps(const exir::OpInfo& op) const { return find_row(op) != nullptr; }

bool XnnpackPartitioner::worthwhile(const std::vector<const exir::Node*>& nodes) const {
  return std::any_of(nodes.begin(), nodes.end(), [](const exir::Node* node) {
    const OpRow* row = find_row(node->op());
    return row != nullptr && !row->only_moves;
  });
}

std::optional<exir::GroupCosts> XnnpackPartitioner::costs(const exir::Graph& partition) const {
  return costs_of(partition);
}

}  // namespace petrel::backends::xnnpack::aot
