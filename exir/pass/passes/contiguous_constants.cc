// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/contiguous_constants.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "exir/pass/framework/constant_data.h"

namespace petrel::exir {
absl::StatusOr<bool> contiguous_constants(Graph& graph, const PassContext&) {
  bool changed = false;
  for (Value* value : graph.constants()) {
    const Constant& constant = *value->constant();
    if (constant.type.is_contiguous() ||
        constant.data.size() != static_cast<size_t>(constant.type.nbytes())) {
      continue;
    }
    auto made = std::make_shared<Constant>(constant);
    made->data = in_row_major_order(constant.data, constant.type);
    made->type = TensorType::contiguous(constant.type.dtype, constant.type.sizes);
    const std::string name = value->name();
    Value* replacement = graph.add_constant(std::move(made));
    graph.replace_all_uses(value, replacement);
    // Writes go to a buffer by its Value, which replace_all_uses leaves alone.
    std::vector<BufferWrite> writes = graph.buffer_writes();
    for (BufferWrite& write : writes) {
      if (write.buffer == value) write.buffer = replacement;
    }
    graph.set_buffer_writes(std::move(writes));
    graph.erase_constant(value);
    graph.rename(replacement, name);
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
