// SPDX-License-Identifier: Apache-2.0
//
// Failing init, failing execute, failing memory and failing data: an error, no
// handle and no byte left over, and the backend works afterwards.
#include <functional>

#include "test/conformance/partition_run.h"
#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using runtime::Error;
using runtime::EValue;

class Faults : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    made_ = compiled({{"forward", steps({"a", "", "b", "", "c"})}});
    ASSERT_EQ(made_.partitions.size(), 3u);
    inputs_ = make_inputs(made_.inputs, 5);
    expected_ = load_and_run(made_.files, "forward", inputs_);
    reset_watch();
  }

  void TearDown() override {
    EXPECT_EQ(watch_.live(), 0);
    EXPECT_EQ(watch_.buffers_out, 0);
  }

  // Nothing is left of what failed before.
  void expect_works() {
    EXPECT_EQ(watch_.live(), 0);
    EXPECT_EQ(watch_.buffers_out, 0);
    EXPECT_EQ(load_and_run(made_.files, "forward", inputs_), expected_);
  }

  Compiled made_;
  std::vector<Elements> inputs_;
  std::vector<Elements> expected_;
  Watch& watch_ = reset_watch();
};

TEST_F(Faults, EveryHandleIsDestroyedOnce) {
  {
    const LoadedProgram program(made_.files);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    EXPECT_EQ(watch_.live(), 3);
  }
  EXPECT_EQ(watch_.destroyed, 3);
  EXPECT_EQ(watch_.buffers_out, 0);
}

TEST_F(Faults, AFailingInitDestroysThoseBeforeIt) {
  for (int n = 0; n < 3; ++n) {
    reset_watch();
    watch_.fail_init = n;
    const QuietLog quiet;
    const LoadedProgram program(made_.files);
    LoadedMethod method(program, "forward");
    EXPECT_EQ(method.error(), Error::DelegateInvalidCompatibility);
    EXPECT_EQ(watch_.inits, n);
    EXPECT_EQ(watch_.destroyed, n);
    EXPECT_EQ(watch_.buffers_out, 0);
  }
  reset_watch();
  expect_works();
}

TEST_F(Faults, EveryFailedAllocationIsAnErrorAndLeavesNothing) {
  const LoadedProgram program(made_.files);
  int64_t allocations = 0;
  {
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    allocations = method.allocations();
  }
  const QuietLog quiet;
  for (int64_t n = 0; n < allocations; ++n) {
    LoadSettings settings;
    settings.fail_allocation = n;
    LoadedMethod method(program, "forward", settings);
    EXPECT_EQ(method.error(), Error::MemoryAllocationFailed) << "allocation " << n;
    EXPECT_EQ(watch_.live(), 0) << "allocation " << n;
    EXPECT_EQ(watch_.buffers_out, 0) << "allocation " << n;
  }
  std::printf("%lld allocations, each failed\n", static_cast<long long>(allocations));
  expect_works();
}

TEST_F(Faults, WithoutTemporaryMemoryExecuteSaysSoOrDoesWithout) {
  const LoadedProgram program(made_.files);
  const QuietLog quiet;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{1000}}) {
    LoadSettings settings;
    settings.temp_bytes = bytes;
    LoadedMethod method(program, "forward", settings);
    ASSERT_EQ(method.error(), Error::Ok);
    std::vector<Elements> outputs;
    if (method.run(inputs_, &outputs) == Error::Ok) {
      EXPECT_EQ(outputs, expected_);
    }
  }
  expect_works();
}

TEST_F(Faults, EveryFailedRequestForDataIsAnErrorAndLeavesNothing) {
  int requests = 0;
  {
    const LoadedProgram program(made_.files);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    requests = watch_.requests;
  }
  EXPECT_GE(requests, fixture_.stores_weights ? 3 : 0);
  using DataFault = Watch::DataFault;
  for (const DataFault fault : {DataFault::kError, DataFault::kShort, DataFault::kOtherBytes}) {
    for (int n = 0; n < requests; ++n) {
      reset_watch();
      watch_.fail_data = n;
      watch_.data_fault = fault;
      {
        const QuietLog quiet;
        const LoadedProgram program(made_.files);
        LoadedMethod method(program, "forward");
        if (fault != DataFault::kOtherBytes) {
          EXPECT_NE(method.error(), Error::Ok) << "request " << n;
          EXPECT_EQ(watch_.live(), 0);
        } else if (method.error() == Error::Ok) {
          // Other weights are not an error; they are what counts.
          std::vector<Elements> outputs;
          EXPECT_EQ(method.run(inputs_, &outputs), Error::Ok);
          EXPECT_NE(outputs, expected_);
        }
      }
      EXPECT_EQ(watch_.live(), 0);
      EXPECT_EQ(watch_.buffers_out, 0) << "request " << n;
    }
  }
  reset_watch();
  expect_works();
}

TEST_F(Faults, WithoutItsDataFileAMethodDoesNotLoad) {
  if (!fixture_.stores_weights) return;
  const Compiled outside = compiled({{"forward", steps({"a"})}}, all_to("weights.ptd"));
  const QuietLog quiet;
  const LoadedProgram program(outside.files, /*with_data=*/false);
  ASSERT_EQ(program.error(), Error::Ok);
  LoadedMethod method(program, "forward");
  EXPECT_NE(method.error(), Error::Ok);
}

TEST_F(Faults, ExecuteRefusesArgumentsThatDoNotFitAndWorksAfterwards) {
  PartitionRun run(made_.partitions[0], made_.store.blobs());
  ASSERT_EQ(run.init(run.payload()), Error::Ok);
  ASSERT_EQ(run.execute(1), Error::Ok);
  const std::vector<Elements> expected = run.outputs();
  const size_t count = run.num_inputs() + run.num_outputs();

  const auto refused = [&](const char* what,
                           const std::function<void(PartitionRun::Arguments&)>& change) {
    const QuietLog quiet;
    EXPECT_NE(run.execute(1, change), Error::Ok) << what;
    EXPECT_TRUE(run.guards_are_whole()) << what;
    EXPECT_EQ(run.execute(1), Error::Ok) << "after " << what;
    EXPECT_EQ(run.outputs(), expected) << "after " << what;
  };
  for (size_t n = 0; n < count; ++n) {
    refused("too few", [&](PartitionRun::Arguments& args) { args.resize(n); });
  }
  refused("one too many", [&](PartitionRun::Arguments& args) { args.push_back(args[0]); });

  const bool flags[1] = {true};
  const runtime::Span<const bool> list(flags, 1);
  for (size_t i = 0; i < count; ++i) {
    const auto put = [&, i](EValue value) {
      return [i, value](PartitionRun::Arguments& args) { args[i] = value; };
    };
    refused("none", put(EValue()));
    refused("an int", put(EValue(int64_t{1})));
    refused("a double", put(EValue(1.0)));
    refused("a bool", put(EValue(true)));
    refused("a list", put(EValue(list)));
    refused("a text", put(EValue(std::string_view("text"))));
  }

  const exir::TensorType& type = made_.partitions[0].inputs[0];
  for (size_t i = 0; i < count; ++i) {
    const bool is_output = i >= run.num_inputs();
    const auto put = [&](runtime::TensorImpl& impl) {
      return
          [i, &impl](PartitionRun::Arguments& args) { args[i] = EValue(runtime::Tensor(&impl)); };
    };
    GuardedTensor good(type);
    std::vector<int32_t> sizes(type.sizes.begin(), type.sizes.end());
    std::vector<uint8_t> order(type.dim_order.begin(), type.dim_order.end());
    const auto rank = static_cast<ssize_t>(sizes.size());
    runtime::TensorImpl ints(runtime::ScalarType::Int, rank, sizes.data(), good.data(),
                             order.data());
    refused("ints", put(ints));
    runtime::TensorImpl unbound(runtime::ScalarType::Float, rank, sizes.data(), nullptr,
                                order.data());
    refused("no data", put(unbound));
    std::vector<int32_t> one(sizes.size() + 1, 1);
    std::vector<uint8_t> longer(order);
    longer.push_back(static_cast<uint8_t>(order.size()));
    runtime::TensorImpl scalar(runtime::ScalarType::Float, rank + 1, one.data(), good.data(),
                               longer.data());
    refused("another rank", put(scalar));
    if (is_output) {
      runtime::TensorImpl constant(runtime::ScalarType::Float, rank, sizes.data(), good.data(),
                                   order.data());
      constant.set_constant(true);
      refused("a constant output", put(constant));
    }
    EXPECT_TRUE(good.guards_are_whole());
  }
  run.destroy();
  EXPECT_EQ(run.leaks(), 0);
}

TEST_F(Faults, AFailedExecuteLeavesTheMethodUsable) {
  const LoadedProgram program(made_.files);
  LoadSettings no_memory;
  no_memory.temp_bytes = 0;
  LoadedMethod method(program, "forward", no_memory);
  LoadedMethod whole(program, "forward");
  ASSERT_EQ(method.error(), Error::Ok);
  std::vector<Elements> outputs;
  {
    const QuietLog quiet;
    static_cast<void>(method.run(inputs_, &outputs));
    static_cast<void>(method.run(inputs_, &outputs));
  }
  EXPECT_EQ(whole.run(inputs_, &outputs), Error::Ok);
  EXPECT_EQ(outputs, expected_);
}

TEST_F(Faults, RefusesLoadOptionsItDoesNotKnowByName) {
  runtime::BackendOptions<1> options;
  ASSERT_EQ(options.set_option("no_such_option", 1), Error::Ok);
  runtime::LoadBackendOptionsMap map;
  ASSERT_EQ(map.set_options(fixture_.runtime.name, options.view()), Error::Ok);
  LoadSettings settings;
  settings.options = &map;
  QuietLog quiet;
  const LoadedProgram program(made_.files);
  LoadedMethod method(program, "forward", settings);
  EXPECT_NE(method.error(), Error::Ok);
  EXPECT_NE(quiet.all().find("no_such_option"), std::string::npos) << quiet.all();
}

TEST_F(Faults, RefusesProcessOptionsItDoesNotKnow) {
  runtime::BackendOptions<1> options;
  ASSERT_EQ(options.set_option("no_such_option", 1), Error::Ok);
  const QuietLog quiet;
  EXPECT_NE(fixture_.runtime.backend->set_option(options.view()), Error::Ok);
  EXPECT_NE(fixture_.runtime.backend->get_option(options.view()), Error::Ok);
}

}  // namespace
}  // namespace petrel::conformance
