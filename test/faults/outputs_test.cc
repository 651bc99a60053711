// SPDX-License-Identifier: Apache-2.0
//
// Every kernel's row says which arguments it writes, and says what the operator's
// schema says.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "runtime/executor/registry.h"
#include "test/faults/signatures.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using runtime::Kernel;
using runtime::KernelOutputs;

// Arguments by operator: those that are written are W, or V for lists.
std::map<std::string, std::string> signatures() {
  std::map<std::string, std::string> found;
  for (const Signature& row : kSignatures) found[row.name] = row.arguments;
  found["aten::index_put_"] = "WNTB";  // what it writes is its first argument
  return found;
}

TEST(OutputsTest, AreThoseOfTheSchema) {
  const auto rows = signatures();
  size_t count = 0;
  for (const runtime::KernelLibrary& library : test_registry().kernels()) {
    for (const Kernel& kernel : library()) {
      SCOPED_TRACE(kernel.name);
      const auto row = rows.find(kernel.name);
      ASSERT_NE(row, rows.end());
      const std::string& arguments = row->second;
      const KernelOutputs& outputs = kernel.outputs;
      ASSERT_EQ(outputs.kind, KernelOutputs::Kind::Written);
      EXPECT_EQ(outputs.num_arguments, arguments.size());
      for (size_t i = 0; i < arguments.size(); ++i) {
        EXPECT_EQ(outputs.writes_argument(i), arguments[i] == 'W' || arguments[i] == 'V')
            << "argument " << i;
      }
      ++count;
    }
  }
  EXPECT_GT(count, 300u);
}

// Whichever library computes a call, it may be in place or not.
TEST(OutputsTest, AreTheSameInEveryLibrary) {
  std::map<std::string, bool> in_place;
  for (const runtime::KernelLibrary& library : test_registry().kernels()) {
    for (const Kernel& kernel : library()) {
      const auto [known, is_new] = in_place.emplace(kernel.name, kernel.outputs.in_place);
      EXPECT_EQ(known->second, kernel.outputs.in_place) << kernel.name;
    }
  }
  EXPECT_TRUE(in_place.at("aten::add.out"));
  EXPECT_FALSE(in_place.at("aten::scatter.src_out"));
}

}  // namespace
}  // namespace petrel::faults
