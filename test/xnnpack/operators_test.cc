// SPDX-License-Identifier: Apache-2.0
//
// Every operator the backend takes, from the IR to numbers, against what eager
// PyTorch computed.
#include <petrel/fill.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "gtest/gtest.h"
#include "test/xnnpack/blob_map.h"
#include "test/xnnpack/delegate_run.h"
#include "test/xnnpack/operator_case.h"

namespace petrel::test {
namespace {

using runtime::Error;

class Operators : public ::testing::TestWithParam<OperatorCase> {};

TEST_P(Operators, AreTakenAndComputeWhatPyTorchComputes) {
  const OperatorCase& c = GetParam();
  const std::unique_ptr<exir::Graph> graph = c.parse();
  ASSERT_NE(graph, nullptr);
  const exir::Partitioner& partitioner = backends::xnnpack::aot::xnnpack_backend()->partitioner();
  for (const auto& node : graph->nodes()) {
    const exir::Support support = partitioner.supports(*node);
    EXPECT_TRUE(support.supported) << node->describe() << ": " << support.reason;
  }
  absl::StatusOr<Lowered> lowered = lower(*graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const BlobMap map(lowered->store.blobs());
  Handle handle(lowered->payload, &map);
  ASSERT_EQ(handle.error(), Error::Ok);
  EXPECT_EQ(map.out(), 0) << "weights are held longer than needed";

  // Other inputs first: the second run must not see anything of them.
  std::vector<CaseTensor> other = c.inputs;
  for (CaseTensor& input : other) {
    for (float& value : input.values) value = 1 + 0.5f * std::fabs(value);
  }
  const std::vector<CaseTensor>* const runs[] = {&other, &c.inputs};
  for (const std::vector<CaseTensor>* inputs : runs) {
    std::vector<CaseTensor> outputs = c.outputs;
    for (CaseTensor& output : outputs) {
      for (float& value : output.values) value = std::numeric_limits<float>::quiet_NaN();
    }
    ASSERT_EQ(handle.execute(*inputs, &outputs), Error::Ok);
    if (inputs == &other) continue;
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(is_near(outputs[i], c.outputs[i])) << "output " << i << "\n" << c.graph;
    }
  }
}

// What a run gives when memory that nobody has written holds `byte`, as bytes.
std::vector<std::vector<uint8_t>> run_in_memory_of(int byte, const Lowered& lowered,
                                                   const OperatorCase& c) {
  xnn_set_fill(byte);
  const BlobMap map(lowered.store.blobs());
  Handle handle(lowered.payload, &map);
  EXPECT_EQ(handle.error(), Error::Ok);
  std::vector<std::vector<uint8_t>> results;
  for (int run = 0; run < 2; ++run) {
    std::vector<CaseTensor> outputs = c.outputs;
    EXPECT_EQ(handle.execute(c.inputs, &outputs), Error::Ok);
    for (const CaseTensor& output : outputs) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(output.values.data());
      results.emplace_back(bytes, bytes + output.values.size() * sizeof(float));
    }
  }
  xnn_set_fill(-1);
  return results;
}

TEST_P(Operators, DoNotDependOnWhatUnwrittenMemoryHolds) {
  const OperatorCase& c = GetParam();
  const std::unique_ptr<exir::Graph> graph = c.parse();
  ASSERT_NE(graph, nullptr);
  absl::StatusOr<Lowered> lowered = lower(*graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  // NaN in every float, and a number.
  const auto first = run_in_memory_of(0xFF, *lowered, c);
  const auto second = run_in_memory_of(0x5A, *lowered, c);
  EXPECT_EQ(first, second) << c.graph;
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const std::string& start) { return name.rfind(start, 0) == 0; });
}

// Inputs that are not numbers leave numbers in these: where no input reaches, and
// where the minimum and maximum of the machine prefer the number, which NEON's
// do not.
bool leaves_numbers(const std::string& name) {
  if (starts_with_any(name, {"pad", "cat_with_constant", "conv_transposed_dilated_stride"})) {
    return true;
  }
#ifdef __aarch64__
  return false;
#else
  return starts_with_any(name, {"max_pool", "minimum_constant_right", "minimum_scalar_tensor",
                                "maximum_constant_right", "maximum_scalar_tensor"});
#endif
}

TEST_P(Operators, GiveNoNumberForNoNumbers) {
  OperatorCase c = GetParam();
  const std::unique_ptr<exir::Graph> graph = c.parse();
  ASSERT_NE(graph, nullptr);
  absl::StatusOr<Lowered> lowered = lower(*graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const BlobMap map(lowered->store.blobs());
  Handle handle(lowered->payload, &map);
  ASSERT_EQ(handle.error(), Error::Ok);
  for (CaseTensor& input : c.inputs) {
    for (float& value : input.values) value = std::numeric_limits<float>::quiet_NaN();
  }
  std::vector<CaseTensor> outputs = c.outputs;
  ASSERT_EQ(handle.execute(c.inputs, &outputs), Error::Ok);
  for (const CaseTensor& output : outputs) {
    size_t numbers = 0;
    for (const float value : output.values) numbers += std::isnan(value) ? 0 : 1;
    EXPECT_EQ(numbers > 0, leaves_numbers(c.name))
        << numbers << " numbers of " << output.values.size() << "\n"
        << c.graph;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Operators, ::testing::ValuesIn(operator_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::test
