// SPDX-License-Identifier: Apache-2.0
//
// One call of a kernel or of a program's method as a line of text: its name, its
// arguments in the order of the schema, and what it gives. It names tensors and
// owns none.
//
//   aten::topk.values(%x, 2, -1, true, none) -> %values, %indices
//
// Arguments are none, true, -3, 0.5 (with a point, an exponent, inf or nan),
// "floor", [1, 2], [0.5, 1.0], %x, [%x, %y]; `?[none, %x]` is a list whose items
// may be missing. [] is a list of integers. After the arrow stand tensors, lists of
// them that are one argument of several outputs, and integers that are expected.
// There are no escapes in strings.
#ifndef PETREL_TEST_EAGER_EAGER_CALL_H_
#define PETREL_TEST_EAGER_EAGER_CALL_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::test {

struct TensorName {
  std::string name;  // without %
};

struct TensorNames {
  std::vector<std::string> names;  // empty where one is missing
  bool may_miss = false;
};

using CallArgument =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, TensorName, TensorNames>;

struct EagerCall {
  std::string function;
  std::vector<CallArgument> arguments;
  std::vector<CallArgument> outputs;  // TensorName, TensorNames or int64_t
};

// InvalidArgument names the first word that does not belong.
absl::StatusOr<EagerCall> parse_eager_call(absl::string_view text);

}  // namespace petrel::test

#endif  // PETREL_TEST_EAGER_EAGER_CALL_H_
