// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the suite have in common: the fixture, the selection of
// its backend, and the comparison with kernels alone.
#ifndef PETREL_TEST_CONFORMANCE_SUITE_H_
#define PETREL_TEST_CONFORMANCE_SUITE_H_

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/conformance/compiled.h"
#include "test/conformance/fixture.h"
#include "test/conformance/graphs.h"
#include "test/conformance/loaded.h"
#include "test/conformance/quiet_log.h"
#include "test/conformance/watched_backend.h"

namespace petrel::conformance {

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fixture_.runtime.backend->is_available()) {
      FAIL() << "backend '" << fixture_.runtime.name << "' is not available on this machine";
    }
    reset_watch();
  }

  exir::BackendSelection backend(const std::vector<exir::CompileSpec>& specs = {}) const {
    exir::BackendSelection selection;
    // Also what kernels would do sooner: the suite is about the backend.
    selection.for_all.push_back({fixture_.compiler, specs, false, exir::Delegate::kSupported});
    return selection;
  }

  // Fails the running test and gives nothing when it does not compile.
  Compiled compiled(const Methods& methods, const exir::WeightRoutes& routes = {},
                    const std::string& edition = "") const {
    auto result = compile(methods, backend(), routes, edition);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : Compiled();
  }

  std::string steps(const std::vector<std::string>& weights) const {
    return conformance::steps(fixture_, weights);
  }

  void expect_near(const std::vector<Elements>& actual,
                   const std::vector<Elements>& expected) const {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(actual[i].size(), expected[i].size()) << "output " << i;
      double largest = 0;
      for (const float e : expected[i]) largest = std::max(largest, std::fabs(double{e}));
      for (size_t k = 0; k < actual[i].size(); ++k) {
        ASSERT_LE(std::fabs(double{actual[i][k]} - double{expected[i][k]}),
                  fixture_.tolerance * largest)
            << "output " << i << ", element " << k << " is " << actual[i][k] << ", not "
            << expected[i][k];
      }
    }
  }

  // Runs every method with the backend and with kernels alone.
  void expect_as_kernels(const Methods& methods, const Compiled& with_backend) const {
    for (const auto& [name, text] : methods) {
      SCOPED_TRACE("method " + name + "\n" + text);
      const auto kernels = compile({{"forward", text}}, {});
      ASSERT_TRUE(kernels.ok()) << kernels.status();
      for (uint32_t seed = 0; seed < 3; ++seed) {
        const std::vector<Elements> inputs = make_inputs(kernels->inputs, seed);
        expect_near(load_and_run(with_backend.files, name, inputs),
                    load_and_run(kernels->files, "forward", inputs));
      }
    }
  }

  const Fixture fixture_ = backend_under_test();
};

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_SUITE_H_
