// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/contiguous_constants.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "exir/pass/strides.h"

namespace petrel::exir {
namespace {

// `data` of `type` in row-major order, made whenever it is read.
Blob rearranged(const Blob& data, const TensorType& type) {
  return Blob::produced(data.size(), [data, type](absl::Span<uint8_t> out) {
    const Blob::Bytes in = data.bytes();
    const size_t item = item_size(type.dtype);
    const Strides strides = dense_strides(type);
    Sizes index(type.rank(), 0);
    int64_t place = 0;
    for (size_t at = 0; at + item <= out.size(); at += item) {
      std::memcpy(out.data() + at,
                  in.data() + static_cast<size_t>(place) * item, item);
      for (size_t i = type.rank(); i-- > 0;) {
        place += strides[i];
        if (++index[i] < type.sizes[i]) break;
        place -= strides[i] * type.sizes[i];
        index[i] = 0;
      }
    }
  });
}

}  // namespace

absl::StatusOr<bool> contiguous_constants(Graph& graph, const PassContext&) {
  bool changed = false;
  for (Value* value : graph.constants()) {
    const Constant& constant = *value->constant();
    if (constant.type.is_contiguous() ||
        constant.data.size() != static_cast<size_t>(constant.type.nbytes())) {
      continue;
    }
    auto made = std::make_shared<Constant>(constant);
    made->data = rearranged(constant.data, constant.type);
    made->type =
        TensorType::contiguous(constant.type.dtype, constant.type.sizes);
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
