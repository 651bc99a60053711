// SPDX-License-Identifier: Apache-2.0
//
// The values of one method as the file stores them, in order of first use.
// Literals that are equal share an entry; tensors never do.
//
//   int_value(2)            -> 5
//   int_value(2)            -> 5
//   int_list({5, 5})        -> 6     IntList boxes: its items are entries
//   double_list({0.5, 1})   -> 7     DoubleList does not
//
// Writes into the builder it is given, so no other table may be open meanwhile.
#ifndef PETREL_EXIR_EMIT_VALUE_TABLE_H_
#define PETREL_EXIR_EMIT_VALUE_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exir/ir/argument.h"
#include "exir/ir/type.h"
#include "schema/program_generated.h"

namespace petrel::exir {

// Where the bytes of a tensor are; schema/program.fbs says what combinations
// mean.
struct TensorPlace {
  uint32_t data_buffer_idx = 0;
  uint32_t memory_id = 1;     // the arena, counted from 1
  int64_t arena_offset = -1;  // -1: not planned
  bool is_external = false;
  bool grows = false;  // is filled row by row: its sizes vary while it is
  std::string fqn;     // "" when nothing looks the tensor up by name
};

class ValueTable {
 public:
  explicit ValueTable(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) {}

  int32_t null_value();
  int32_t int_value(int64_t value);
  int32_t bool_value(bool value);
  int32_t double_value(double value);
  int32_t string_value(const std::string& value);
  int32_t int_list(const std::vector<int32_t>& entries);
  int32_t double_list(const std::vector<double>& values);
  int32_t bool_list(const std::vector<bool>& values);
  int32_t tensor_list(const std::vector<int32_t>& entries);
  // -1 stands for none.
  int32_t optional_tensor_list(const std::vector<int32_t>& entries);

  int32_t add_tensor(const TensorType& type, const TensorPlace& place);
  // An entry of its own for a scalar that is computed at run time.
  // Precondition: `kind` is not kTensor.
  int32_t add_scalar(Type::Kind kind);

  const std::vector<flatbuffers::Offset<schema::program::EValue>>& entries() const {
    return entries_;
  }

 private:
  // `make` is called unless `key` is known.
  template <typename Make>
  int32_t shared(const std::string& key, Make make);
  template <typename Table>
  int32_t append(schema::program::KernelTypes type, flatbuffers::Offset<Table> table);

  flatbuffers::FlatBufferBuilder& builder_;
  std::vector<flatbuffers::Offset<schema::program::EValue>> entries_;
  std::map<std::string, int32_t> literals_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_VALUE_TABLE_H_
