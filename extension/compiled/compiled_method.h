// SPDX-License-Identifier: Apache-2.0
//
// CompiledMethod: a method of a CompiledModule, which owns it and its memory.
//
//   Result<Tensor> image = method->get_input("image");     memory of the module: no copy
//   fill(image->mutable_data_ptr<float>());
//   PETREL_RETURN_IF_ERROR(method->run());
//   const float* scores = method->get_output(0)->const_data_ptr<float>();
//
// Memory of the caller takes its place by set_input() and set_output(), until get_input() or
// set_input() is called again; the code copies from and to it. What was written through
// get_input() is gone after a run, and an output of the module's own memory when any of its
// methods runs or gets inputs.
//
// Where sizes vary from call to call, tensors have the largest until set_input() or
// resize_input() says others; outputs have those of the last run, and need room for the largest.
//
// Tensors are called by their names in the model or in C. One thread at a time for all methods
// of a module.
#ifndef PETREL_EXTENSION_COMPILED_COMPILED_METHOD_H_
#define PETREL_EXTENSION_COMPILED_COMPILED_METHOD_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "extension/compiled/time_evaluator.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/core/tensor.h"
#include "runtime/micro/model/petrel_model.h"

namespace petrel::extension {

class CompiledMethod final {
 public:
  // `info` is what code says of itself, and is trusted. Both must outlive this.
  CompiledMethod(const petrel_method_info& info, void* context);
  CompiledMethod(const CompiledMethod&) = delete;
  CompiledMethod& operator=(const CompiledMethod&) = delete;

  const char* name() const { return info_.name; }
  const petrel_method_info& info() const { return info_; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }

  // NotFound, with the names that there are.
  runtime::Result<size_t> input_index(std::string_view name) const;
  runtime::Result<size_t> output_index(std::string_view name) const;

  // InvalidArgument for an index beyond the last.
  runtime::Result<runtime::Tensor> get_input(size_t index);
  runtime::Result<runtime::Tensor> get_input(std::string_view name);
  runtime::Result<runtime::Tensor> get_output(size_t index);
  runtime::Result<runtime::Tensor> get_output(std::string_view name);

  // Memory of the caller, which must stay as long as it is set. InvalidArgument for another
  // dtype, other sizes or another dim order than those of the model. Sizes of an input that
  // vary are then those of the tensor.
  runtime::Error set_input(size_t index, const runtime::Tensor& tensor);
  runtime::Error set_input(std::string_view name, const runtime::Tensor& tensor);
  runtime::Error resize_input(size_t index, runtime::Span<const int32_t> sizes);
  runtime::Error set_output(size_t index, const runtime::Tensor& tensor);
  runtime::Error set_output(std::string_view name, const runtime::Tensor& tensor);

  // InvalidArgument for an index in a tensor that is out of range, after which outputs mean
  // nothing, for memory of the module in the wrong place, and for sizes of inputs that the model
  // does not take together.
  runtime::Error run();

  // The same step by step; `on_step` is called after each that was done, with its index in
  // info().steps.
  runtime::Error run_steps(const std::function<void(uint32_t step)>& on_step);

  // How long a run takes, as often as `plan` says.
  runtime::Result<std::vector<double>> time_evaluator(const TimePlan& plan);

 private:
  // One input or output.
  struct Slot {
    explicit Slot(const petrel_tensor_info& info, void* context);

    const petrel_tensor_info* info;
    void* place;  // in the memory of the module
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    std::vector<int64_t> strides;
    std::vector<int32_t> actual;  // of an output, after a run
    runtime::TensorImpl tensor;

    bool varies() const { return info->least_sizes != nullptr; }
  };
  runtime::Result<Slot*> slot(std::vector<Slot>& slots, const char* role, size_t index);
  runtime::Result<size_t> find(const petrel_tensor_info* tensors, size_t count, const char* role,
                               std::string_view name) const;
  runtime::Error bind(std::vector<Slot>& slots, const char* role, size_t index,
                      const runtime::Tensor& tensor);
  runtime::Error failed(int32_t status) const;
  runtime::Error take_sizes();
  runtime::Error point_to_tensors();
  runtime::Error tell_sizes();

  const petrel_method_info& info_;
  void* context_;
  std::vector<Slot> inputs_, outputs_;
  // Of a run; kept so that it allocates nothing.
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
  std::vector<const int32_t*> size_pointers_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_COMPILED_COMPILED_METHOD_H_
