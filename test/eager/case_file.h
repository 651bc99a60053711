// SPDX-License-Identifier: Apache-2.0
//
// Recorded cases: what a graph or a kernel is given, and what eager PyTorch
// computes of it. Tests of every room read them from cases/*.txt, which record.py
// writes. A case holds its tensors by value.
//
//   cases 2
//   case scaled
//   input x f32[2,3] 1 2 3 -0 inf nan
//   constant w f32[] 0.5
//   expect y f32[2,3] 0.5 1 1.5 -0 inf nan
//   graph
//   method @forward(%x: f32[2,3]) {
//     %w = constant @w : f32[]
//     %y = aten.mul.Tensor(%x, %w)
//     return %y
//   }
//   end
//   case add.out.0
//   input a f32[1,2,1,2]{0,2,3,1} 1 2 3 4
//   expect y f32[1,2,1,2]{0,2,3,1} 3 4 5 6
//   call aten::add.Scalar_out(%a, 2, 1) -> %y
//   end
//
// The first line counts the cases, `end` closes each, so that nothing is lost
// without a word; lines that start with # do not count. Types are those of the
// IR's text. Elements stand in row-major order of the sizes, whatever the order
// in memory. Those of f32, f16 and bf16 have the digits that a float needs. A case
// has one body, the last of its parts: text IR, which this reader does not look
// at, or a call (eager_call.h), whose tensors all have a line. The graph may
// hold all that is expected, as types of its results. A call that changes its input %c
// expects `c_after`, which it does not name.
//
//   const std::vector<EagerCase> cases = load_eager_cases("test/eager/cases/passes.txt");
#ifndef PETREL_TEST_EAGER_CASE_FILE_H_
#define PETREL_TEST_EAGER_CASE_FILE_H_

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "test/eager/eager_tensor.h"
#include "test/eager/eager_call.h"

namespace petrel::test {

// Behind the name of an input: what it holds after the call.
inline constexpr absl::string_view kAfter = "_after";
// Whether an expected tensor is that.
inline bool is_after(const EagerTensor& tensor) { return absl::EndsWith(tensor.name, kAfter); }

struct EagerCase {
  std::string name;
  std::vector<EagerTensor> inputs;
  std::vector<EagerTensor> constants;
  std::vector<EagerTensor> expected;
  std::string graph;              // empty if the body is a call
  std::optional<EagerCall> call;  // of inputs and expected tensors only
};

// The cases of a text; `path` is for messages. InvalidArgument names path, line
// and word where the text is not as above, or has no case.
absl::StatusOr<std::vector<EagerCase>> parse_eager_cases(absl::string_view text,
                                                         absl::string_view path);

// The same of a file. Without it, or when it is broken, the process ends with the
// message, so that tests that are made of cases cannot pass without them.
std::vector<EagerCase> load_eager_cases(const std::string& path);

// Its name, for the output of tests.
void PrintTo(const EagerCase& one, std::ostream* out);

}  // namespace petrel::test

#endif  // PETREL_TEST_EAGER_CASE_FILE_H_
