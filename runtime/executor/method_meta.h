// SPDX-License-Identifier: Apache-2.0
//
// MethodMeta: what is known of a method without loading it: its inputs and
// outputs and the memory it needs. A view of the Program, which must outlive
// it.
//
//   MethodMeta meta = program->method_meta("forward").get();
//   for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
//     arenas.push_back(allocate(meta.memory_planned_buffer_size(i).get()));
//   }

#ifndef PETREL_RUNTIME_EXECUTOR_METHOD_META_H_
#define PETREL_RUNTIME_EXECUTOR_METHOD_META_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/result.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"
#include "runtime/core/tag.h"
#include "runtime/core/tensor.h"
#include "runtime/program/program_view.h"

namespace petrel::runtime {

// What a program says about one tensor.
class TensorInfo final {
 public:
  // The sizes; the largest ones if the shape is dynamic.
  Span<const int32_t> sizes() const { return tensor_.sizes; }
  Span<const uint8_t> dim_order() const { return tensor_.dim_order; }
  ScalarType scalar_type() const { return tensor_.scalar_type; }
  TensorShapeDynamism shape_dynamism() const { return tensor_.dynamism; }
  // True if the tensor lies in a planned arena: inputs are copied there, and
  // outputs are overwritten by the next execution.
  bool is_memory_planned() const { return tensor_.is_planned(); }
  bool is_constant() const { return tensor_.is_constant(); }
  size_t nbytes() const { return tensor_.nbytes(); }
  // Where a planned tensor lies: which arena, counted from 0, and the first byte
  // in it. Precondition: is_memory_planned().
  size_t arena() const { return size_t{tensor_.arena} - 1; }
  size_t arena_offset() const { return static_cast<size_t>(tensor_.arena_offset); }
  // Its fully qualified name, empty for most tensors.
  std::string_view name() const { return tensor_.name; }

 private:
  friend class MethodMeta;
  explicit TensorInfo(const TensorView& tensor) : tensor_(tensor) {}
  TensorView tensor_;
};

class MethodMeta final {
 public:
  const char* name() const;

  size_t num_inputs() const;
  Result<Tag> input_tag(size_t index) const;
  // InvalidType if input `index` is not a tensor.
  Result<TensorInfo> input_tensor_meta(size_t index) const;

  size_t num_outputs() const;
  Result<Tag> output_tag(size_t index) const;
  Result<TensorInfo> output_tensor_meta(size_t index) const;

  // Attributes are the tensors that have names: buffers and external weights.
  size_t num_attributes() const;
  Result<TensorInfo> attribute_tensor_meta(size_t index) const;
  // fn(info) for each of them, in one pass over the values.
  template <typename Fn>
  void for_each_attribute(const Fn& fn) const {
    for (uint32_t i = 0; i < method_.num_values(); ++i) {
      if (const auto tensor = attribute_of(method_.value(i)); tensor.has_value()) {
        fn(TensorInfo(*tensor));
      }
    }
  }

  // The arenas that a HierarchicalAllocator must provide, counted from 0.
  size_t num_memory_planned_buffers() const;
  Result<int64_t> memory_planned_buffer_size(size_t index) const;

  // One per delegate call site; a name may repeat.
  size_t num_backends() const;
  Result<const char*> get_backend_name(size_t index) const;
  bool uses_backend(std::string_view name) const;

  size_t num_instructions() const;

 private:
  friend class Program;
  friend class Method;
  explicit MethodMeta(const MethodView& method) : method_(method) {}
  // Nothing if the value is no attribute.
  static std::optional<TensorView> attribute_of(const ValueView& value);
  MethodView method_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_METHOD_META_H_
