// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/arguments.h"

#include <cstdio>

namespace petrel::backends::xnnpack::aot {

std::optional<std::vector<int64_t>> ints_argument(const exir::Argument& argument, size_t count) {
  if (argument.is_int()) return std::vector<int64_t>(count, argument.as_int());
  if (!argument.is_ints()) return std::nullopt;
  const std::vector<int64_t>& list = argument.as_ints();
  if (list.empty() || list.size() == count) return list;
  if (list.size() == 1) return std::vector<int64_t>(count, list[0]);
  return std::nullopt;
}

std::optional<double> number_argument(const exir::Argument& argument,
                                      std::optional<double> absent) {
  if (argument.is_none()) return absent;
  if (!argument.is_number()) return std::nullopt;
  return argument.as_number();
}

std::optional<size_t> axis_argument(int64_t axis, size_t rank) {
  const int64_t signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::optional<int64_t> fixed(const exir::rules::Size& size) {
  if (!size.expression().is_constant()) return std::nullopt;
  return size.expression().constant();
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

}  // namespace petrel::backends::xnnpack::aot
