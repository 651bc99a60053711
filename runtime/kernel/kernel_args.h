// SPDX-License-Identifier: Apache-2.0
//
// KernelArgs: the arguments of a kernel call, checked as they are read. A
// program may name any value for any argument, so a kernel never touches the
// EValues itself:
//
//   // aten::add.out(Tensor self, Tensor other, *, Scalar alpha, Tensor(a!) out)
//   void add_out(KernelRuntimeContext& context, Span<EValue*> raw) {
//     KernelArgs args(context, raw, 4);
//     const Tensor self = args.tensor(0);
//     const Tensor other = args.tensor(1);
//     const Scalar alpha = args.scalar(2);
//     const Tensor out = args.out(3);
//     if (!args.ok()) return;
//     ...
//   }
//
// What is read wrongly fails the context (InvalidProgram, with a message that
// names kernel and argument) and yields a harmless value: an empty tensor, 0,
// an empty list. So one test of ok() after all reads is enough. (A tensor whose
// data the application did not set fails with InvalidState.)
//
// Guaranteed for every tensor while ok(): at most rank 16, data not null unless
// it has no elements, nbytes() bytes of it readable, sizes, strides and
// dim_order present. For out() also: not a constant, and if its sizes can
// change, not another argument too, so that resizing an output never changes an
// input. The kernel still checks dtypes and sizes, and resizes its outputs with
// resize_tensor(), which checks that they fit. The memory of arguments may
// overlap: writing an output may change an input, so an index that is read from
// a tensor is checked where it is used, not in a pass before.

#ifndef PETREL_RUNTIME_KERNEL_KERNEL_ARGS_H_
#define PETREL_RUNTIME_KERNEL_KERNEL_ARGS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/evalue.h"
#include "runtime/core/span.h"
#include "runtime/kernel/kernel_runtime_context.h"

namespace petrel::runtime {

class KernelArgs final {
 public:
  // `count`: the number of arguments of the operator's schema, outputs
  // included. More may follow (the returned values); fewer fail.
  KernelArgs(KernelRuntimeContext& context, Span<EValue*> args, size_t count);
  KernelArgs(const KernelArgs&) = delete;
  KernelArgs& operator=(const KernelArgs&) = delete;

  bool ok() const { return context_.failure_state() == Error::Ok; }

  // Below, i < count. Handles and lists are valid until the kernel returns.

  Tensor tensor(size_t i);
  std::optional<Tensor> optional_tensor(size_t i);
  Tensor out(size_t i);

  int64_t integer(size_t i);
  std::optional<int64_t> optional_integer(size_t i);
  // Of an argument declared float: an Int is taken, too.
  double real(size_t i);
  std::optional<double> optional_real(size_t i);
  bool boolean(size_t i);
  std::optional<bool> optional_boolean(size_t i);
  Scalar scalar(size_t i);
  std::optional<Scalar> optional_scalar(size_t i);
  std::string_view string(size_t i);
  std::optional<std::string_view> optional_string(size_t i);
  // A ScalarType given as an Int.
  std::optional<ScalarType> optional_scalar_type(size_t i);

  Span<const int64_t> int_list(size_t i);
  std::optional<Span<const int64_t>> optional_int_list(size_t i);
  Span<const bool> bool_list(size_t i);
  Span<const double> double_list(size_t i);
  std::optional<Span<const double>> optional_double_list(size_t i);
  // Every entry has the guarantees of tensor(); entries of an out list those
  // of out().
  Span<const Tensor> tensor_list(size_t i);
  Span<const Tensor> out_list(size_t i);
  Span<const std::optional<Tensor>> optional_tensor_list(size_t i);

  bool is_none(size_t i) const { return i < args_.size() && args_[i]->isNone(); }

 private:
  template <typename T>
  T take(size_t i, Result<T> value, const char* expected, T fallback);
  void fail(size_t i, const char* problem);
  bool check_tensor(size_t i, const Tensor& tensor);
  bool check_out(size_t i, const Tensor& tensor);
  bool is_argument(const EValue& value, const TensorImpl* impl) const;
  const EValue& at(size_t i) const;
  Tensor missing_tensor(size_t i);
  Tensor empty();

  // What stands for a tensor that could not be read; made when there is one.
  struct Empty {
    Empty() : impl(ScalarType::Byte, 1, sizes, nullptr, dim_order, strides) {}
    int32_t sizes[1] = {0};
    uint8_t dim_order[1] = {0};
    int64_t strides[1] = {0};
    TensorImpl impl;
  };

  KernelRuntimeContext& context_;
  Span<EValue*> args_;
  size_t count_;
  alignas(Empty) unsigned char empty_[sizeof(Empty)];
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNEL_KERNEL_ARGS_H_
