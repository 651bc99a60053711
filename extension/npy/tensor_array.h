// SPDX-License-Identifier: Apache-2.0
//
// NumPy arrays as tensors of the runtime, and back.
//
// An array has its elements in logical order; a method may want another order in memory
// (channels last), and gets it.
//
//   PETREL_ASSIGN_OR_RETURN(const auto tensor, ArrayTensor::make(array, info.dim_order()));
//   module.execute("forward", {tensor->value()});     // *tensor owns the elements
#ifndef PETREL_EXTENSION_NPY_TENSOR_ARRAY_H_
#define PETREL_EXTENSION_NPY_TENSOR_ARRAY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/npy/npy.h"
#include "runtime/core/evalue.h"
#include "runtime/core/span.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {

// A tensor and what it refers to.
class ArrayTensor {
 public:
  // An error unless the array has the bytes of its shape, each size below 2^31, and
  // `dim_order`, which may be empty, as many dims.
  static absl::StatusOr<std::shared_ptr<ArrayTensor>> make(const NpyArray& array,
                                                           runtime::Span<const uint8_t> dim_order);
  ArrayTensor(const ArrayTensor&) = delete;
  ArrayTensor& operator=(const ArrayTensor&) = delete;

  runtime::EValue value() { return runtime::EValue(runtime::Tensor(&impl_)); }

 private:
  ArrayTensor(const NpyArray& array, runtime::Span<const uint8_t> dim_order);

  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_;
  std::vector<int64_t> strides_;
  std::vector<uint64_t> memory_;
  runtime::TensorImpl impl_;
};

// A copy of `tensor` in logical order.
NpyArray to_npy(const runtime::Tensor& tensor);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NPY_TENSOR_ARRAY_H_
