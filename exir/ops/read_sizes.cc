// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/read_sizes.h"

#include <vector>

#include "exir/ops/paths.h"

namespace petrel::exir {

using rules::Size;

rules::Sizes sizes_of(const TensorType& type) {
  if (!type.is_dynamic()) return sizes_of(type.sizes);
  return rules::Sizes(type.expressions.begin(), type.expressions.end());
}

rules::Sizes sizes_of(const Value* x) { return sizes_of(x->tensor()); }

rules::Sizes sizes_of(const Sizes& numbers) { return rules::Sizes(numbers.begin(), numbers.end()); }

Size numel_of(const Value* x) { return product(sizes_of(x)); }

rules::Sizes leading(const rules::Sizes& sizes, size_t count) {
  return rules::Sizes(sizes.begin(), sizes.end() - static_cast<ptrdiff_t>(count));
}

Size product(const rules::Sizes& sizes) {
  Size n = 1;
  for (const Size& size : sizes) n *= size;
  return n;
}

bool is_size(const Argument& argument) {
  if (argument.is_int()) return true;
  if (!argument.is_value()) return false;
  const Type& type = argument.value()->type();
  return type.kind == Type::Kind::kInt && type.number.has_value();
}

Size size_in(const Argument& argument) {
  if (argument.is_int()) return {argument.as_int()};
  return {*argument.value()->type().number};
}

rules::Sizes sizes_in(const Argument& argument, size_t length) {
  if (is_size(argument)) return rules::Sizes(length, size_in(argument));
  rules::Sizes sizes;
  if (argument.is_ints()) {
    sizes = sizes_of(argument.as_ints());
  } else if (argument.is_list()) {
    for (const Argument& item : argument.as_list()) {
      if (!is_size(item)) return {};
      sizes.push_back(size_in(item));
    }
  }
  return sizes.size() == 1 && length > 1 ? rules::Sizes(length, sizes[0]) : sizes;
}

bool holds(const Argument& argument, const rules::Sizes& sizes) {
  const bool is_list = argument.is_ints() || argument.is_list();
  return is_list && is_always(sizes_in(argument, 0), sizes);
}

bool holds(const Argument& argument, const Size& size) {
  return is_size(argument) && is_always(size_in(argument), size);
}

int64_t fixed_int(const Argument& argument) {
  if (argument.is_int()) return argument.as_int();
  rules::Paths::lose();
  return 1;
}

double fixed_number(const Argument& argument) {
  if (argument.is_number()) return argument.as_number();
  rules::Paths::lose();
  return 1;
}

bool is_always(const Size& a, const Size& b) { return a.expression() == b.expression(); }

bool is_always(const rules::Sizes& a, const rules::Sizes& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!is_always(a[i], b[i])) return false;
  }
  return true;
}

bool is_at_least(const Size& a, const Size& b) {
  const MaybeSize more = subtract(a.expression(), b.expression());
  return more && more->range().low >= 0;
}

bool is_at_most(const Size& a, const Size& b) { return is_at_least(b, a); }

}  // namespace petrel::exir
