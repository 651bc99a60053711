// SPDX-License-Identifier: Apache-2.0
//
// Runs one partition through both halves of the backend: the compiler's payload
// and blobs, the runtime's init and execute.

#ifndef PETREL_TEST_XNNPACK_DELEGATE_RUN_H_
#define PETREL_TEST_XNNPACK_DELEGATE_RUN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/xnnpack/runtime/xnnpack_delegate.h"
#include "exir/backend/backend.h"
#include "exir/ir/graph.h"
#include "gtest/gtest.h"
#include "runtime/core/evalue.h"
#include "test/xnnpack/operator_case.h"

namespace petrel::test {

// What the compiler makes of a graph that is one partition.
struct Lowered {
  std::vector<uint8_t> payload;
  exir::RoutedBlobStore store;
};
absl::StatusOr<Lowered> lower(const exir::Graph& graph);

// A handle of the runtime's backend.
class Handle {
 public:
  Handle(const std::vector<uint8_t>& payload, const runtime::NamedDataMap* map);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  runtime::Error error() const { return error_; }

  // Gives tensors of `sizes`; the outputs must be as large as those.
  runtime::Error execute(const std::vector<CaseTensor>& inputs, std::vector<CaseTensor>* outputs);

 private:
  runtime::BackendInterface* backend_;
  runtime::DelegateHandle* handle_ = nullptr;
  runtime::Error error_ = runtime::Error::Ok;
};

// |a - b| <= 1e-5 max|b| + 1e-6 for all finite elements, equal infinities, NaN for NaN,
// and the same sizes.
::testing::AssertionResult is_near(const CaseTensor& actual, const CaseTensor& expected);

}  // namespace petrel::test

#endif  // PETREL_TEST_XNNPACK_DELEGATE_RUN_H_
