// SPDX-License-Identifier: Apache-2.0
//
// One argument of a Node: an SSA value, a literal, or a list of either. A node
// holds exactly one Argument per argument of its operator's schema, in schema
// order, defaults filled in.
//
//   Argument(int64_t{2})                 2
//   Argument(std::vector<int64_t>{1,1})  [1,1]
//   Argument(value)                      %relu
//   Argument()                           none
//
// A list that contains a value (sizes with a symbolic member, tensor lists,
// optional tensors) is a list of Arguments; a list of plain ints, floats or
// bools is the typed list. An empty list is an empty int list.
#ifndef PETREL_EXIR_IR_ARGUMENT_H_
#define PETREL_EXIR_IR_ARGUMENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exir/ir/scalar_type.h"

namespace petrel::exir {

class Value;

// torch.memory_format, in the numbering of the `.pte` format.
enum class MemoryFormat : int8_t {
  kContiguous = 0,
  kPreserve = 1,
  kChannelsLast = 2,
  kChannelsLast3d = 3,
};

class Argument {
 public:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<double>;
  using Bools = std::vector<bool>;
  using List = std::vector<Argument>;

  Argument() = default;  // none
  explicit Argument(Value* value) : data_(value) {}
  explicit Argument(int64_t value) : data_(value) {}
  explicit Argument(double value) : data_(value) {}
  explicit Argument(bool value) : data_(value) {}
  explicit Argument(std::string value) : data_(std::move(value)) {}
  explicit Argument(ScalarType value) : data_(value) {}
  explicit Argument(MemoryFormat value) : data_(value) {}
  explicit Argument(Ints value) : data_(std::move(value)) {}
  explicit Argument(Floats value) : data_(std::move(value)) {}
  explicit Argument(Bools value) : data_(std::move(value)) {}
  explicit Argument(List value) : data_(std::move(value)) {}
  static Argument of_values(const std::vector<Value*>& values);

  bool is_none() const { return holds<std::monostate>(); }
  bool is_value() const { return holds<Value*>(); }
  bool is_int() const { return holds<int64_t>(); }
  bool is_float() const { return holds<double>(); }
  bool is_bool() const { return holds<bool>(); }
  bool is_string() const { return holds<std::string>(); }
  bool is_scalar_type() const { return holds<ScalarType>(); }
  bool is_memory_format() const { return holds<MemoryFormat>(); }
  bool is_ints() const { return holds<Ints>(); }
  bool is_floats() const { return holds<Floats>(); }
  bool is_bools() const { return holds<Bools>(); }
  bool is_list() const { return holds<List>(); }

  // Precondition of each accessor: the matching is_...() is true.
  Value* value() const { return std::get<Value*>(data_); }
  int64_t as_int() const { return std::get<int64_t>(data_); }
  double as_float() const { return std::get<double>(data_); }
  bool as_bool() const { return std::get<bool>(data_); }
  const std::string& as_string() const { return std::get<std::string>(data_); }
  ScalarType as_scalar_type() const { return std::get<ScalarType>(data_); }
  MemoryFormat as_memory_format() const { return std::get<MemoryFormat>(data_); }
  const Ints& as_ints() const { return std::get<Ints>(data_); }
  const Floats& as_floats() const { return std::get<Floats>(data_); }
  const Bools& as_bools() const { return std::get<Bools>(data_); }
  const List& as_list() const { return std::get<List>(data_); }

  // int, float or bool as a double (a Scalar argument). Precondition: one of
  // the three.
  bool is_number() const { return is_int() || is_float() || is_bool(); }
  double as_number() const;

  // Every value in this argument, lists included, in order.
  std::vector<Value*> values() const;

  // Puts `to` wherever this argument holds `from`.
  void replace(Value* from, Value* to);

  // Same literals and the same Value pointers; NaN equals NaN.
  bool operator==(const Argument& other) const;
  bool operator!=(const Argument& other) const { return !(*this == other); }

 private:
  template <typename T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }

  std::variant<std::monostate, Value*, int64_t, double, bool, std::string, ScalarType, MemoryFormat,
               Ints, Floats, Bools, List>
      data_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_ARGUMENT_H_
