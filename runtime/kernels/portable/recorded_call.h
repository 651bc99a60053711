// SPDX-License-Identifier: Apache-2.0
//
// Calls of kernels with the results of eager torch: a case of
// test/eager/cases/kernels.txt, run by a kernel of this process. For tests. The
// call owns the memory of its tensors.
//
//   for (const test::EagerCase& one : load_eager_cases(kRecordedCalls)) {
//     SCOPED_TRACE(one.name);
//     RecordedCall(one).run(*find(one.call->function));
//   }
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_RECORDED_CALL_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_RECORDED_CALL_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernel/kernel.h"
#include "test/eager/case_file.h"

namespace petrel::runtime {

inline constexpr char kRecordedCalls[] = "test/eager/cases/kernels.txt";

class RecordedCall {
 public:
  // The body of `one`, which outlives this, is a call. Outputs may grow by `spare`
  // rows; memory ends where a tensor does.
  explicit RecordedCall(const test::EagerCase& one, int32_t spare = 0);
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  // Calls `kernel`, expects success and compares all outputs. They may differ by
  // `slack` times what is expected of kernels that sum in double.
  void run(const Kernel& kernel, double slack);

  // Calls `kernel` with work for an instant, whatever it answers.
  Error call(const Kernel& kernel);

  size_t num_arguments() const { return args_.size(); }
  EValue& argument(size_t i) { return args_[i]; }

 private:
  // A tensor with exactly the memory that it may use.
  struct Holder {
    const test::EagerTensor* source;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    std::vector<int64_t> strides;
    std::unique_ptr<uint8_t[]> memory;
    std::optional<TensorImpl> impl;
  };
  // A list of values as kernels get it.
  struct List {
    std::deque<EValue> values;
    std::vector<EValue*> items;
    std::vector<int64_t> ints;
    std::vector<Tensor> tensors;
    std::vector<std::optional<Tensor>> optionals;
    std::optional<BoxedIntList> int_box;
    std::optional<BoxedTensorList> tensor_box;
    std::optional<BoxedOptionalTensorList> optional_box;
  };

  Holder& hold(const test::EagerTensor& source, int32_t spare);
  EValue tensor(const std::string& name);
  EValue value_of(const test::CallArgument& argument);
  EValue list_of(const std::vector<int64_t>& values);
  EValue list_of(const test::TensorNames& names);
  static void compare(const Holder& holder, const test::EagerTensor& expected, double slack);
  // fn(logical index, memory index).
  template <typename Fn>
  static void for_each(const Holder& holder, Fn fn);

  std::map<std::string, Holder> holders_;  // by the names of the tensors
  // What is written, and what is expected of it.
  std::vector<std::pair<const Holder*, const test::EagerTensor*>> outputs_;
  std::deque<EValue> args_;
  std::deque<List> lists_;
  TensorImpl placeholder_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_RECORDED_CALL_H_
