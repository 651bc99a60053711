// SPDX-License-Identifier: Apache-2.0
//
// ProgramView: the only way to read a program. verify_program makes it, so
// whoever has one reads what was verified: no list is absent, no index is out of
// range, every part belongs to the table it is asked of, and no question needs a
// check of its own.
//
//   PETREL_ASSIGN_OR_RETURN(const ProgramView program, verify_program(file));
//   for (uint32_t i = 0; i < program.num_methods(); ++i) {
//     const MethodView method = program.method(i);
//     for (const int32_t input : method.inputs()) use(method.value(input));
//   }
//
// Views are small values that point into the bytes that were verified, which
// whoever loaded them keeps. Indices that the program holds (values, operators,
// delegates, segments) may be passed to the method or program they come from as
// they are; any other index must be below its num_...(), else the process ends.

#ifndef PETREL_RUNTIME_PROGRAM_PROGRAM_VIEW_H_
#define PETREL_RUNTIME_PROGRAM_PROGRAM_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/result.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"
#include "runtime/core/tag.h"
#include "runtime/core/tensor.h"

namespace petrel::schema::program {
struct BackendDelegate;
struct Chain;
struct EValue;
struct ExecutionPlan;
struct Instruction;
struct Program;
}  // namespace petrel::schema::program

namespace petrel::runtime {

class Program;
struct ProgramDataMapState;
struct ProgramFile;

// A range of bytes after the flatbuffer; `offset` counts from the segment base.
struct SegmentView {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Texts of a program end with a NUL behind their last byte.
struct NamedDataView {
  std::string_view key;
  uint32_t segment = 0;
};

// What a program says of a tensor.
struct TensorView {
  ScalarType scalar_type = ScalarType::Float;
  Span<const int32_t> sizes;
  Span<const uint8_t> dim_order;
  TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC;
  // Of the constant or the initial value; 0 if it has neither in the program.
  uint32_t data_index = 0;
  // Counted from 1; 0 if the tensor lies in none.
  uint32_t arena = 0;
  uint64_t arena_offset = 0;
  bool is_external = false;
  // Empty for most tensors, never for external ones.
  std::string_view name;

  bool is_planned() const { return arena != 0; }
  // Of the program or from outside: memory that nothing writes.
  bool is_constant() const { return !is_planned() && (data_index != 0 || is_external); }
  bool is_inner_constant() const { return !is_planned() && data_index != 0 && !is_external; }
  // Does not overflow.
  size_t nbytes() const;
};

class ValueView final {
 public:
  Tag tag() const;
  // 0, empty or nothing unless the value has that tag.
  int64_t as_int() const;
  bool as_bool() const;
  double as_double() const;
  std::string_view as_string() const;
  std::optional<TensorView> as_tensor() const;
  // The name of a tensor that has one: cheaper than all of it.
  std::string_view tensor_name() const;
  Span<const uint8_t> bool_items() const;
  Span<const double> double_items() const;
  // Indices of values of the same method.
  Span<const int64_t> int_items() const;
  // The same, of a list of tensors or of optional tensors; -1 is none.
  Span<const int32_t> tensor_items() const;

 private:
  friend class MethodView;
  explicit ValueView(const schema::program::EValue* value) : value_(value) {}
  const schema::program::EValue* value_;
};

struct OperatorView {
  std::string_view name;
  // Empty if there is none.
  std::string_view overload;
};

struct InstructionView {
  enum class Kind : uint8_t {
    Kernel,    // operator `target` with `args`
    Delegate,  // delegate `target` with `args`
    Move,      // value `from` to value `to`
    Jump,      // to instruction `target` of the chain unless value `from` is true
    Free,      // value `from` is not used again
  };

  Kind kind = Kind::Free;
  uint32_t target = 0;
  uint32_t from = 0;
  uint32_t to = 0;
  // Values.
  Span<const int32_t> args;
};

// Of an instruction whose type is one of those, with content. For verify_program, which then
// checks what it says, and for ChainView.
InstructionView view_of(const schema::program::Instruction& from);

class ChainView final {
 public:
  uint32_t num_instructions() const;
  InstructionView instruction(uint32_t index) const;

 private:
  friend class MethodView;
  explicit ChainView(const schema::program::Chain* chain) : chain_(chain) {}
  const schema::program::Chain* chain_;
};

struct CompileSpecView {
  std::string_view key;
  Span<const uint8_t> value;
};

class DelegateView final {
 public:
  std::string_view backend() const;
  // The payload is segment `payload()`, or else that one of the inline payloads.
  bool is_segment() const;
  uint32_t payload() const;
  uint32_t num_specs() const;
  CompileSpecView spec(uint32_t index) const;

 private:
  friend class MethodView;
  explicit DelegateView(const schema::program::BackendDelegate* delegate) : delegate_(delegate) {}
  const schema::program::BackendDelegate* delegate_;
};

class MethodView final {
 public:
  // Which method of the program it is.
  uint32_t index() const { return index_; }
  std::string_view name() const;
  Span<const int32_t> inputs() const;
  Span<const int32_t> outputs() const;
  uint32_t num_values() const;
  ValueView value(uint32_t index) const;
  ValueView value(int32_t index) const { return value(static_cast<uint32_t>(index)); }
  uint32_t num_operators() const;
  OperatorView op(uint32_t index) const;
  uint32_t num_delegates() const;
  DelegateView delegate(uint32_t index) const;
  // At least 1.
  uint32_t num_chains() const;
  ChainView chain(uint32_t index) const;
  // Arenas count from 1: arena_bytes(i) is for 1 <= i <= num_arenas().
  uint32_t num_arenas() const;
  uint64_t arena_bytes(uint32_t arena) const;
  // How results nest, as the exporter wrote it; empty if it did not.
  std::string_view output_encoding() const;

 private:
  friend class ProgramView;
  MethodView(const schema::program::ExecutionPlan* plan, uint32_t index)
      : plan_(plan), index_(index) {}
  const schema::program::ExecutionPlan* plan_;
  uint32_t index_;
};

class ProgramView final {
 public:
  uint32_t num_methods() const;
  MethodView method(uint32_t index) const;
  std::optional<MethodView> find_method(std::string_view name) const;
  uint32_t num_segments() const;
  SegmentView segment(uint32_t index) const;
  uint32_t num_named_data() const;
  NamedDataView named_data(uint32_t index) const;
  // The first entry of that key from `begin` on; num_named_data() if there is none.
  uint32_t find_named_data(std::string_view key, uint32_t begin = 0) const;
  // Constants are entries of one segment, if there is one; else, in old files,
  // they lie in the flatbuffer.
  std::optional<uint32_t> constant_segment() const;
  // Of a tensor's data_index: where it begins in that segment.
  uint64_t constant_offset(uint32_t index) const;
  Span<const uint8_t> inline_constant(uint32_t index) const;
  // The number of inline constants, of which 0 is reserved.
  uint32_t num_inline_constants() const;
  // Initial values, likewise.
  std::optional<uint32_t> state_segment() const;
  uint64_t state_offset(uint32_t index) const;
  Span<const uint8_t> inline_payload(uint32_t index) const;

 private:
  friend Result<ProgramView> verify_program(const ProgramFile& file);
  friend class Program;
  friend struct ProgramDataMapState;
  // Of what is being loaded: nobody else has it.
  ProgramView() = default;
  explicit ProgramView(const schema::program::Program* program) : program_(program) {}
  const schema::program::Program* program_ = nullptr;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_PROGRAM_VIEW_H_
