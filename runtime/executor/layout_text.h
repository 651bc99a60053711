// SPDX-License-Identifier: Apache-2.0
//
// LayoutText: a layout in words of messages, cut if it does not fit.
//
//   LayoutText(ScalarType::Float, sizes, order).text   "float32 [2, 3] order [0, 1]"

#ifndef PETREL_RUNTIME_EXECUTOR_LAYOUT_TEXT_H_
#define PETREL_RUNTIME_EXECUTOR_LAYOUT_TEXT_H_

#include <cstdint>
#include <cstdio>

#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

struct LayoutText {
  LayoutText(ScalarType type, Span<const int32_t> sizes, Span<const uint8_t> dim_order) {
    append("%s [", to_string(type));
    for (size_t i = 0; i < sizes.size(); ++i) append(i == 0 ? "%d" : ", %d", sizes[i]);
    append("] order [");
    for (size_t i = 0; i < dim_order.size(); ++i) append(i == 0 ? "%d" : ", %d", dim_order[i]);
    append("]");
  }
  template <typename... Args>
  void append(const char* format, Args... args) {
    const int added = std::snprintf(text + used, sizeof(text) - used, format, args...);
    if (added > 0) used += static_cast<size_t>(added);
    if (used >= sizeof(text)) used = sizeof(text) - 1;
  }

  char text[160] = "";
  size_t used = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_LAYOUT_TEXT_H_
