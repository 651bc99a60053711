// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/region_values.h"

namespace petrel::exir {

RegionValues region_values(const Node& node) {
  const auto of = [&node](const char* name) {
    const int place = node.op().find_arg(name);
    return place < 0 ? std::vector<Value*>() : node.arguments()[place].values();
  };
  return {of("carried"), of("rows"), of("operands")};
}

bool is_loop(const Node& node) {
  return !node.regions().empty() && node.op().name != "petrel::cond";
}

}  // namespace petrel::exir
