// SPDX-License-Identifier: Apache-2.0
//
// The macros of host and runtime in one file, in the order that this includes them; the
// other order is control_flow_other_way.cc.
#include "exir/status_macros.h"
// Not sorted: the order is what is tested.
#include "runtime/core/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace petrel::test {

absl::StatusOr<int> host_other_way(absl::StatusOr<int> value, absl::Status status);
runtime::Result<int> runtime_other_way(runtime::Result<int> value, runtime::Error error);

namespace {

absl::StatusOr<int> host(absl::StatusOr<int> value, absl::Status status) {
  PETREL_RETURN_IF_ERROR(status);
  PETREL_ASSIGN_OR_RETURN(const int number, std::move(value));
  return number + 1;
}

runtime::Result<int> in_runtime(runtime::Result<int> value, runtime::Error error) {
  PETREL_RETURN_IF_ERROR(error);
  PETREL_ASSIGN_OR_RETURN(const int number, std::move(value));
  return number + 1;
}

// Both in one function, with values that can only be moved.
absl::StatusOr<std::unique_ptr<int>> both(bool fails) {
  const auto make = [&]() -> runtime::Result<std::unique_ptr<int>> {
    PETREL_RETURN_IF_ERROR(fails ? runtime::Error::NotFound : runtime::Error::Ok);
    return std::make_unique<int>(3);
  };
  auto made = make();
  if (!made.ok()) return absl::NotFoundError("it is not there");
  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<int> number,
                          absl::StatusOr<std::unique_ptr<int>>(std::move(made.get())));
  return number;
}

TEST(ControlFlow, ReturnsEitherErrorAndGoesOnWithEitherValue) {
  const absl::Status bad = absl::InternalError("bad");
  for (const auto host_function : {&host, &host_other_way}) {
    EXPECT_EQ(*host_function(1, absl::OkStatus()), 2);
    EXPECT_EQ(host_function(bad, absl::OkStatus()).status(), bad);
    EXPECT_EQ(host_function(1, bad).status(), bad);
  }
  for (const auto runtime_function : {&in_runtime, &runtime_other_way}) {
    EXPECT_EQ(*runtime_function(runtime::Result<int>(1), runtime::Error::Ok), 2);
    EXPECT_EQ(runtime_function(runtime::Error::NotFound, runtime::Error::Ok).error(),
              runtime::Error::NotFound);
    EXPECT_EQ(runtime_function(1, runtime::Error::Internal).error(), runtime::Error::Internal);
  }
}

TEST(ControlFlow, WorksForBothInOneFunction) {
  EXPECT_EQ(**both(false), 3);
  EXPECT_EQ(both(true).status().message(), "it is not there");
}

}  // namespace
}  // namespace petrel::test
