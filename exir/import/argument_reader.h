// SPDX-License-Identifier: Apache-2.0
//
// Reads the arguments of a node by the schema of its operator: bound by name,
// defaults filled in, each in the one form that the IR has for its kind.
//
//   {"name": "padding", "arg": {"as_ints": [1]}}      int[2]  ->  [1,1]
//   {"name": "other", "arg": {"as_int": 3}}           Tensor  ->  constant 3
//
// A Python number where the schema has a tensor becomes a constant of rank 0.
// Its dtype is what the number would have promoted the other tensors to, so
// that it changes nothing about the result.
#ifndef PETREL_EXIR_IMPORT_ARGUMENT_READER_H_
#define PETREL_EXIR_IMPORT_ARGUMENT_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/import/json.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// An error where a list at `place` has more values than any argument may hold: whoever puts
// another value in the place of one goes through all of them.
absl::Status check_value_count(const Json& place, size_t count);

class ArgumentReader {
 public:
  // Gives what a name stands for: a value, or a literal for a scalar that has
  // one value. An error when nothing has that name.
  using Lookup = std::function<absl::StatusOr<Argument>(const std::string&)>;

  // Constants are added to `graph`, which must outlive the reader.
  ArgumentReader(Graph* graph, Lookup lookup) : graph_(graph), lookup_(std::move(lookup)) {}

  // `inputs` is the list of named arguments of a node. Errors name the
  // argument. With `places_out`, tensors that `op` has no argument for go there.
  absl::StatusOr<std::vector<Argument>> read(const OpInfo& op, const Json& inputs,
                                             std::vector<Argument>* places_out = nullptr);

  // Complex literals and dtypes are read as those of one part; otherwise they are errors.
  enum class Part : uint8_t { kWhole, kReal, kImaginary };
  void set_part(Part part) { part_ = part; }

 private:
  absl::StatusOr<Argument> read_one(const ArgSpec& spec, const Json& union_);
  absl::StatusOr<Argument> read_list(const ArgSpec& spec, const std::string& tag,
                                     const Json& payload);
  absl::StatusOr<Argument> named_tensor(const Json& holder);
  absl::StatusOr<Argument> scalar_or_name(const Json& union_);
  absl::StatusOr<Argument> number_constant_value(const Argument& number, ScalarType dtype);
  absl::StatusOr<Argument> number_tensor(const Argument& number, ScalarType dtype);
  absl::Status replace_numbers(const OpInfo& op, std::vector<Argument>* arguments);

  friend class GraphReader;

  Graph* graph_;
  Lookup lookup_;
  Part part_ = Part::kWhole;
  std::map<std::string, ConstantPtr> numbers_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_ARGUMENT_READER_H_
