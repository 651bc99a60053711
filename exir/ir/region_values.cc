// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/region_values.h"

#include <utility>

#include "exir/ir/size_difference.h"

namespace petrel::exir {

RegionValues region_values(const Node& node) {
  const auto of = [&node](const char* name) {
    const int place = node.op().find_arg(name);
    return place < 0 ? std::vector<Value*>() : node.arguments()[place].values();
  };
  return {of("carried"), of("rows"), of("operands")};
}

TensorType row_of(const TensorType& tensor) {
  std::vector<SizeExpression> sizes = tensor.all_sizes();
  sizes.erase(sizes.begin());
  const Sizes bounds(tensor.sizes.begin() + 1, tensor.sizes.end());
  return TensorType::dynamic(tensor.dtype, std::move(sizes), bounds);
}

const Value* find_other_row_count(const std::vector<Value*>& rows) {
  for (const Value* tensor : rows) {
    if (!are_equal(tensor->tensor().size(0), rows[0]->tensor().size(0))) return tensor;
  }
  return nullptr;
}

bool is_loop(const Node& node) {
  return !node.regions().empty() && node.op().name != "petrel::cond";
}

}  // namespace petrel::exir
