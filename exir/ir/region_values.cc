// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/region_values.h"

#include <utility>

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

bool is_loop(const Node& node) {
  return !node.regions().empty() && node.op().name != "petrel::cond";
}

}  // namespace petrel::exir
