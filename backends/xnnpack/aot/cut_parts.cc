// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/cut_parts.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "exir/ops/handles.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::Node;
using exir::SizeExpression;
using exir::Support;
using exir::Value;

// As many values are looked at between a cut and a join.
constexpr size_t kMostValues = 64;

bool may_be_0(const SizeExpression& size) { return size.range().low <= 0 && !size.has_unknown(); }

bool may_be_empty(const Value& value) {
  if (!value.type().is_tensor() || !value.tensor().is_dynamic()) return false;
  const std::vector<SizeExpression> sizes = value.tensor().all_sizes();
  return std::any_of(sizes.begin(), sizes.end(), may_be_0);
}

// Whether a size of `part` that may be 0 is another one in `whole`.
bool is_part(const Value& part, const Value& whole) {
  if (!may_be_empty(part)) return false;
  const std::vector<SizeExpression> sizes = part.tensor().all_sizes();
  const std::vector<SizeExpression> of_whole = whole.tensor().all_sizes();
  for (size_t i = 0; i < sizes.size() && i < of_whole.size(); ++i) {
    if (may_be_0(sizes[i]) && sizes[i] != of_whole[i]) return true;
  }
  return false;
}

bool cuts(const Node& node) {
  return node.is(exir::aten::slice_Tensor) && is_part(*node.result(), *node.input(exir::arg::self));
}

bool joins(const Node& node, const Value& part) {
  return node.is(exir::aten::cat, exir::aten::constant_pad_nd) && is_part(part, *node.result());
}

bool keeps_parts(const Node& node) {
  return node.num_results() == 1 &&
         (node.op().has(exir::kElementwise) || node.op().has(exir::kView));
}

void add(const Value* value, std::vector<const Value*>* values) {
  if (values->size() == kMostValues || !may_be_empty(*value)) return;
  if (std::find(values->begin(), values->end(), value) == values->end()) values->push_back(value);
}

bool was_cut(const Value& value) {
  std::vector<const Value*> values;
  add(&value, &values);
  for (size_t i = 0; i < values.size(); ++i) {
    const Node* producer = values[i]->producer();
    if (producer == nullptr) continue;
    if (cuts(*producer)) return true;
    if (!keeps_parts(*producer)) continue;
    for (const Value* operand : producer->operands()) add(operand, &values);
  }
  return false;
}

bool will_be_joined(const Value& value) {
  std::vector<const Value*> values;
  add(&value, &values);
  for (size_t i = 0; i < values.size(); ++i) {
    for (const Node* user : values[i]->users()) {
      if (joins(*user, *values[i])) return true;
      if (keeps_parts(*user)) add(user->result(), &values);
    }
  }
  return false;
}

}  // namespace

Support check_cut_parts(const Node& node) {
  bool has_part = false;
  for (const Value* operand : node.operands()) {
    const bool joins_it = joins(node, *operand);
    if (!(joins_it || keeps_parts(node)) || !was_cut(*operand)) continue;
    if (joins_it) return Support::no("a part that it joins has no elements for some sizes");
    has_part = true;
  }
  if (!has_part || !will_be_joined(*node.result())) return Support::yes();
  return Support::no("it has no elements for some sizes, and is joined to others");
}

}  // namespace petrel::backends::xnnpack::aot
