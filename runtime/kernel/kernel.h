// SPDX-License-Identifier: Apache-2.0
//
// Kernel: a name, the function that computes it and what it writes. A kernel
// library is one function that returns its kernels:
//
//   // my_kernels.cc
//   constexpr Kernel kKernels[] = {{"my_ops::twice.out", &twice_out, writes(1)}};
//   Span<const Kernel> my_kernels() { return kKernels; }
//
// The name is that of the operator in the program, namespace and overload
// included ("aten::add.out"; no dot when the overload is empty). The function
// gets every argument of the operator in schema order, the outputs, and the
// returned values once more. The number and types of arguments come from a
// file: read them with KernelArgs (kernel_args.h), which checks.
//
// A method is not built when a tensor that one of its calls writes shares memory
// with another argument of the call; where a kernel is right all the same when
// the two are the very same bytes, its row says so:
//
//   writes(3)            argument 3, the last of the schema, is written
//   writes(5, 2)         arguments 5 and 6, the last two, are
//   writes_in_place(3)   argument 3, which may be the same memory as another
//   updates(4)           argument 0 of 4 is changed, as index_put_ does
//   updates_and_writes(12, 3, 2)   arguments 3 and 4 of 12 are, and the last is written
//   none given           the returned values are written: those that the call
//                        names last, once more
//

#ifndef PETREL_RUNTIME_KERNEL_KERNEL_H_
#define PETREL_RUNTIME_KERNEL_KERNEL_H_

#include <cstdint>

#include "runtime/core/evalue.h"
#include "runtime/core/span.h"
#include "runtime/kernel/kernel_runtime_context.h"

namespace petrel::runtime {

using OpFunction = void (*)(KernelRuntimeContext& context, Span<EValue*> args);

struct KernelOutputs {
  enum class Kind : uint8_t {
    Returned,  // what the call names last
    Written,   // arguments [first, first + count)
    View,      // argument 2 is made to describe the memory of argument 0
  };

  Kind kind = Kind::Returned;
  uint8_t num_arguments = 0;  // of the schema
  uint8_t first = 0;
  uint8_t count = 0;
  bool in_place = false;
  bool and_last = false;  // the last argument of the schema is written, too

  constexpr bool writes_argument(size_t i) const {
    return (i >= first && i - first < count) || (and_last && i + 1 == num_arguments);
  }
};

constexpr KernelOutputs writes(uint8_t first, uint8_t count = 1) {
  return {KernelOutputs::Kind::Written, static_cast<uint8_t>(first + count), first, count, false};
}
constexpr KernelOutputs writes_in_place(uint8_t first) {
  return {KernelOutputs::Kind::Written, static_cast<uint8_t>(first + 1), first, 1, true};
}
constexpr KernelOutputs writes_no_tensor() {
  return {KernelOutputs::Kind::Written, 0, 0, 0, false};
}
constexpr KernelOutputs updates(uint8_t num_arguments) {
  return {KernelOutputs::Kind::Written, num_arguments, 0, 1, false};
}
constexpr KernelOutputs updates_and_writes(uint8_t num_arguments, uint8_t first, uint8_t count) {
  return {KernelOutputs::Kind::Written, num_arguments, first, count, false, true};
}
constexpr KernelOutputs updates_in_place(uint8_t num_arguments) {
  return {KernelOutputs::Kind::Written, num_arguments, 0, 1, true};
}
constexpr KernelOutputs makes_view() { return {KernelOutputs::Kind::View, 3, 2, 0, false}; }

struct Kernel {
  const char* name;
  OpFunction fn;
  KernelOutputs outputs = {};
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNEL_KERNEL_H_
