// SPDX-License-Identifier: Apache-2.0
//
// Calls of kernels with the results of eager torch, read from a file that
// testdata/make_cases.py wrote (recorded_call.py there describes it). For tests.
//
//   for (const auto& c : read_cases("runtime/kernels/portable/testdata/cases.txt")) {
//     SCOPED_TRACE(c->name);
//     c->run(*find(c->name));
//   }
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_RECORDED_CASES_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_RECORDED_CASES_H_

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

class RecordedCase {
 public:
  std::string name;  // of the operator
  // What its results may differ by, as a multiple of what is expected of
  // kernels that sum in double.
  double slack = 1.0;

  // One line after `case`.
  void add_line(const std::string& line);

  // Calls `kernel`, expects success and compares all outputs.
  void run(const Kernel& kernel);

 private:
  // A tensor with room for everything it refers to.
  struct Holder {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    std::vector<int64_t> strides;
    std::vector<double> elements;  // in logical order
    std::vector<uint64_t> memory;
    std::unique_ptr<TensorImpl> impl;
  };

  EValue parse(const std::string& kind, std::istringstream& in);
  EValue parse_tensor(std::istringstream& in, bool is_out);
  EValue finish_list();
  void compare(const Holder& holder) const;
  // fn(logical index, memory index).
  template <typename Fn>
  static void for_each(const Holder& holder, Fn fn);

  std::vector<EValue> args_;
  std::vector<Holder*> outputs_;
  std::vector<std::unique_ptr<Holder>> holders_;
  std::vector<EValue> list_;
  size_t list_left_ = 0;
  std::string list_kind_;
  TensorImpl placeholder_;
  std::vector<std::unique_ptr<std::string>> strings_;
  std::vector<std::unique_ptr<std::vector<double>>> doubles_;
  std::vector<std::unique_ptr<std::vector<EValue>>> lists_;
  std::vector<std::unique_ptr<std::vector<EValue*>>> items_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> ints_;
  std::vector<std::unique_ptr<std::vector<Tensor>>> tensors_;
  std::vector<std::unique_ptr<std::vector<std::optional<Tensor>>>> optionals_;
  std::vector<std::unique_ptr<BoxedIntList>> int_boxes_;
  std::vector<std::unique_ptr<BoxedTensorList>> tensor_boxes_;
  std::vector<std::unique_ptr<BoxedOptionalTensorList>> optional_boxes_;
};

std::vector<std::unique_ptr<RecordedCase>> read_cases(const char* path);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_RECORDED_CASES_H_
