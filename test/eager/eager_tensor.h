// SPDX-License-Identifier: Apache-2.0
//
// A tensor of a recorded case, with its elements, and its line of text: name, type
// as in the IR's text, elements in row-major order of the sizes.
//
//   x f32[1,2,1,2]{0,2,3,1} 1 2.5 -0 nan
//
// Every number is exactly an element of its type: 0.1 of f32 is the float nearest
// to it; 300 of u8 and 2^53 + 1 of i64 (elements are doubles here) are errors.
#ifndef PETREL_TEST_EAGER_EAGER_TENSOR_H_
#define PETREL_TEST_EAGER_EAGER_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::test {

struct EagerTensor {
  std::string name;
  int8_t scalar_type = 0;  // PyTorch's number, as in ScalarType of runtime and exir
  std::vector<int64_t> sizes;
  std::vector<uint8_t> dim_order;  // outermost dimension in memory first
  std::vector<double> elements;    // in row-major order of the sizes
};

// InvalidArgument names the word that is wrong, or how many elements there are.
absl::StatusOr<EagerTensor> parse_eager_tensor(absl::string_view text);

}  // namespace petrel::test

#endif  // PETREL_TEST_EAGER_EAGER_TENSOR_H_
