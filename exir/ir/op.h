// SPDX-License-Identifier: Apache-2.0
//
// What the compiler knows about an operator: one OpInfo per overload, all of
// them rows of the table in exir/ops. Nodes point at their OpInfo.
//
//   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//   \__ name __/\ov/  \________________ args _________________/
//
// OpInfos live for the whole process and are compared by address, or with the
// handles that //exir/ops generates from the table: a name that no row
// has does not compile.
//
//   node.is(aten::add_Tensor, aten::add_Scalar)
//   node.argument(arg::alpha)
#ifndef PETREL_EXIR_IR_OP_H_
#define PETREL_EXIR_IR_OP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/ir/argument.h"
#include "exir/ir/type.h"

namespace petrel::exir {

// A row of the operator table.
struct OpHandle {
  static constexpr uint16_t kNoRow = 0xffff;

  uint16_t row = kNoRow;  // in all_ops()

  constexpr bool operator==(OpHandle other) const { return row == other.row; }
  constexpr bool operator!=(OpHandle other) const { return row != other.row; }
};

// The name of an argument, the same one in all schemas that have it.
struct ArgHandle {
  static constexpr uint16_t kNoName = 0xffff;

  uint16_t name = kNoName;  // in all_arg_names()
  const char* text = "";    // "self", for messages

  constexpr bool operator==(ArgHandle other) const { return name == other.name; }
  constexpr bool operator!=(ArgHandle other) const { return name != other.name; }
};

enum class ArgKind : uint8_t {
  kTensor,
  kScalar,  // int, float or bool literal, or a scalar value
  kInt,     // also SymInt, see is_symbolic
  kFloat,
  kBool,
  kString,
  kScalarType,
  kLayout,
  kDevice,
  kMemoryFormat,
};

struct ArgSpec {
  std::string name;
  ArgHandle handle;  // none in operators that are not in the table
  ArgKind kind = ArgKind::kTensor;
  bool is_list = false;             // Tensor[], int[2], bool[] ...
  size_t fixed_length = 0;          // 2 for int[2]: one int stands for two
  bool is_optional = false;         // may be none
  bool has_optional_items = false;  // Tensor?[]
  bool is_symbolic = false;         // SymInt: may be computed at run time, as an int may not
  bool has_default = false;
  Argument default_value;
  bool is_written = false;  // Tensor(a!): the operator writes through it
  // The dtype, layout, device and pin_memory of an operator that makes a new
  // tensor. Its out-variant has no such arguments: the out tensor says it all.
  bool is_tensor_option = false;

  // Whether a number that is computed at run time may stand here, or in a list of these.
  bool takes_computed_number() const { return is_symbolic || kind == ArgKind::kScalar; }
};

enum OpTrait : uint32_t {
  kNoTraits = 0,
  kPure = 1u << 0,         // no effect but its results: may be dropped, moved
  kElementwise = 1u << 1,  // out[i] depends on in[i] only (after broadcasting)
  kView = 1u << 2,         // result aliases argument 0
  kReduction = 1u << 3,
  kInPlace = 1u << 4,   // writes an argument; removed by functionalisation
  kIdentity = 1u << 5,  // result equals argument 0 (detach, eval dropout)
  kEffect = 1u << 6,    // assertions: no results, may be dropped
  // Draws from the runtime's one sequence of random numbers. Never pure: folded,
  // merged, dropped or moved across another one, it would give other numbers
  // than the model does, or all that come after it would.
  kRandom = 1u << 7,
  // A size of a result depends on data: its rule knows the most that it may be.
  kDataSized = 1u << 8,
};

// Types of the results of `op` applied to `arguments`; InvalidArgument names
// the argument that does not fit.
using InferFn = absl::StatusOr<std::vector<Type>> (*)(const struct OpInfo& op,
                                                      absl::Span<const Argument> arguments);

struct OpInfo {
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor"; "" for the default overload
  std::vector<ArgSpec> args;
  size_t num_results = 1;        // fixed results; see has_list_result
  bool has_list_result = false;  // Tensor[]: one IR result per element
  uint32_t traits = kNoTraits;
  InferFn infer = nullptr;

  // The out-variant that a `.pte` calls: name "aten::add", overload "out".
  // Empty when nothing executes this operator as it is. Its arguments are those
  // of this schema but its tensor options, followed by one out tensor per result
  // (one list of them when has_list_result).
  std::string out_name;
  std::string out_overload;

  // The operator that computes the same from the same arguments without writing
  // (add of add_), or the view that shows what this one copies (view of
  // view_copy); null when there is none.
  const OpInfo* twin = nullptr;

  OpHandle handle;  // none when not in the table

  // One of these rows.
  template <typename... Handles>
  bool is(Handles... handles) const {
    return ((handle == handles) || ...);
  }
  bool has(OpTrait trait) const { return (traits & trait) != 0; }
  // "aten.add.Tensor", "aten.conv2d.default": the spelling of the text form.
  std::string full_name() const;
  // Index in `args`; -1 when there is no such argument.
  int find_arg(const std::string& arg_name) const;
  int find_arg(ArgHandle arg) const;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_OP_H_
