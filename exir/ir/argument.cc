// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/argument.h"

#include <cmath>
#include <cstddef>

namespace petrel::exir {
namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void collect(const Argument& argument, std::vector<Value*>* out_values) {
  if (argument.is_value()) out_values->push_back(argument.value());
  if (!argument.is_list()) return;
  for (const Argument& item : argument.as_list()) collect(item, out_values);
}

}  // namespace

Argument Argument::of_values(const std::vector<Value*>& values) {
  List list;
  list.reserve(values.size());
  for (Value* value : values) list.emplace_back(value);
  return Argument(std::move(list));
}

double Argument::as_number() const {
  if (is_int()) return static_cast<double>(as_int());
  if (is_bool()) return as_bool() ? 1.0 : 0.0;
  return as_float();
}

std::vector<Value*> Argument::values() const {
  std::vector<Value*> values;
  collect(*this, &values);
  return values;
}

void Argument::replace(Value* from, Value* to) {
  if (is_value()) {
    if (value() == from) data_ = to;
  } else if (is_list()) {
    for (Argument& item : std::get<List>(data_)) item.replace(from, to);
  }
}

bool Argument::operator==(const Argument& other) const {
  if (data_.index() != other.data_.index()) return false;
  if (is_float()) return same(as_float(), other.as_float());
  if (is_floats()) {
    const Floats& a = as_floats();
    const Floats& b = other.as_floats();
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  }
  return data_ == other.data_;
}

}  // namespace petrel::exir
