// SPDX-License-Identifier: Apache-2.0
//
// Partitions in the branches of a cond and in the body of a map: compiled in the same
// call as all others, loaded and destroyed with the method, and run for the
// branch that is taken and for each row.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using runtime::Error;
using ::testing::HasSubstr;

class ControlFlow : public Conformance {
 protected:
  // The steps as the body of a graph in a graph: "method @name(%x: TYPE) {...}".
  std::string region(const std::string& name, const std::vector<std::string>& weights) {
    return absl::StrReplaceAll(steps(weights), {{"@forward", "@" + name}});
  }

  std::string step(const std::string& result, const std::string& x, const std::string& weight) {
    return absl::StrCat(result, " = ",
                        absl::StrReplaceAll(fixture_.step, {{"$x", x}, {"$w", weight}}), " : ",
                        fixture_.type, "\n");
  }

  std::string weight(const std::string& name) {
    return absl::StrCat("%", name, " = constant @", name, " : ",
                        fixture_.weight_type.empty() ? fixture_.type : fixture_.weight_type, "\n");
  }

  // Inputs x and f. Where f > 0 the steps of `yes`, else those of `no`; then the
  // step with weight c.
  std::string choice(const std::vector<std::string>& yes, const std::vector<std::string>& no) {
    return absl::StrCat("method @forward(%x: ", fixture_.type, ", %f: f32[]) {\n", weight("c"),
                        "%p = aten.gt.Scalar(%f, 0) : bool[]\n",
                        "%y = petrel.cond.default(%p, [%x]) : ", fixture_.type, " do {\n",
                        region("yes", yes), region("no", no), "}\n", step("%z", "%y", "%c"),
                        "return %z\n}\n");
  }

  static std::vector<std::string> then(std::vector<std::string> weights, const std::string& last) {
    weights.push_back(last);
    return weights;
  }

  // By kernels, without any branch.
  std::vector<Elements> straight(const std::vector<std::string>& weights, const Elements& x) {
    const auto kernels = compile({{"forward", steps(weights)}}, {});
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    return kernels.ok() ? load_and_run(kernels->files, "forward", {x}) : std::vector<Elements>();
  }

  // Runs `choice(yes, no)`, compiled to `made`, both ways, several times.
  void expect_choice(const Compiled& made, const std::vector<std::string>& yes,
                     const std::vector<std::string>& no) {
    const LoadedProgram program(made.files);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    const exir::TensorType x_type = made.inputs[0];
    for (uint32_t seed = 0; seed < 6; ++seed) {
      const Elements x = make_inputs({x_type}, seed)[0];
      const bool taken = seed % 3 != 1;
      std::vector<Elements> outputs;
      ASSERT_EQ(method.run({x, {taken ? 0.5f : -0.5f}}, &outputs), Error::Ok);
      SCOPED_TRACE(taken ? "yes" : "no");
      expect_near(outputs, straight(then(taken ? yes : no, "c"), x));
    }
  }

  std::vector<std::string> yes_ = {"a", "", "b"};
  std::vector<std::string> no_ = {"b"};
};

TEST_F(ControlFlow, PartitionsInBranchesComputeWhatKernelsDo) {
  const Compiled made = compiled({{"forward", choice(yes_, no_)}});
  EXPECT_EQ(made.partitions.size(), 4u);  // two, one, and the one behind them
  expect_choice(made, yes_, no_);
}

TEST_F(ControlFlow, ABranchMayHaveNoPartitionAndTheOtherAll) {
  const Compiled made = compiled({{"forward", choice({"", ""}, {"a", "b", "a"})}});
  EXPECT_EQ(made.partitions.size(), 2u);
  expect_choice(made, {"", ""}, {"a", "b", "a"});
}

TEST_F(ControlFlow, WeightsAreSharedBetweenBranchesAndMethods) {
  const Methods methods = {{"forward", choice({"c"}, {"c", "", "c"})}, {"other", steps({"c"})}};
  const Compiled made = compiled(methods);
  if (fixture_.stores_weights) {
    EXPECT_EQ(made.store.blobs().stored_bytes(),
              compiled({{"forward", steps({"c"})}}).store.blobs().stored_bytes());
  }
  expect_choice(made, {"c"}, {"c", "", "c"});
}

TEST_F(ControlFlow, ExternalDataReachesBranches) {
  const Methods methods = {{"forward", choice(yes_, no_)}};
  const Compiled made = compiled(methods, all_to("weights.ptd"));
  ASSERT_EQ(made.files.count("weights.ptd"), 1u);
  expect_choice(made, yes_, no_);
}

TEST_F(ControlFlow, PartitionsOfBranchesComeInOneCallNumberedThroughTheMethod) {
  // Looks at what it is given and hands it on.
  class Spy final : public exir::Backend {
   public:
    explicit Spy(const exir::Backend& real) : real_(real) {}
    std::string id() const override { return real_.id(); }
    const exir::Partitioner& partitioner() const override { return real_.partitioner(); }
    absl::StatusOr<exir::ResultMap> preprocess_all(const exir::SubprogramMap& partitions,
                                                   exir::RoutedBlobStore& store) const override {
      ++calls;
      for (const exir::Subprogram& partition : partitions.at("forward"))
        indices.push_back(partition.index);
      return real_.preprocess_all(partitions, store);
    }
    mutable int calls = 0;
    mutable std::vector<size_t> indices;

   private:
    const exir::Backend& real_;
  };
  const Spy spy(*fixture_.compiler);
  exir::BackendSelection selection = backend();
  selection.for_all[0].backend = &spy;
  const auto made = compile({{"forward", choice(yes_, no_)}}, selection);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(spy.calls, 1);
  EXPECT_EQ(spy.indices, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST_F(ControlFlow, BranchesMayHaveBranches) {
  const std::string inner =
      absl::StrCat("method @yes(%x: ", fixture_.type, ", %f: f32[]) {\n",
                   "%q = aten.gt.Scalar(%f, 1) : bool[]\n",
                   "%v = petrel.cond.default(%q, [%x]) : ", fixture_.type, " do {\n",
                   region("far", {"a"}), region("near", {"b"}), "}\nreturn %v\n}\n");
  const std::string outer = absl::StrCat(
      "method @forward(%x: ", fixture_.type, ", %f: f32[]) {\n",
      "%p = aten.gt.Scalar(%f, 0) : bool[]\n",
      "%y = petrel.cond.default(%p, [%x, %f]) : ", fixture_.type, " do {\n", inner,
      absl::StrReplaceAll(region("no", {"c"}), {{") {", ", %f: f32[]) {"}}), "}\nreturn %y\n}\n");
  const Compiled made = compiled({{"forward", outer}});
  EXPECT_EQ(made.partitions.size(), 3u);
  const LoadedProgram program(made.files);
  LoadedMethod method(program, "forward");
  ASSERT_EQ(method.error(), Error::Ok);
  for (const auto& [f, weights] : std::vector<std::pair<float, std::string>>{
           {2, "a"}, {0.5f, "b"}, {-1, "c"}, {2, "a"}, {-1, "c"}, {0.5f, "b"}}) {
    const Elements x = make_inputs({made.inputs[0]}, 7)[0];
    std::vector<Elements> outputs;
    ASSERT_EQ(method.run({x, {f}}, &outputs), Error::Ok);
    SCOPED_TRACE(weights);
    expect_near(outputs, straight({weights}, x));
  }
}

TEST_F(ControlFlow, ABodyOfRowsRunsItsPartitionsForEach) {
  const std::string rows = absl::StrReplaceAll(fixture_.type, {{"f32[", "f32[3,"}});
  const Methods methods = {
      {"forward",
       absl::StrCat("method @forward(%x: ", rows, ") {\n%y = petrel.map.default([%x], []) : ", rows,
                    " do {\n", region("row", yes_), "}\nreturn %y\n}\n")}};
  const Compiled made = compiled(methods);
  ASSERT_EQ(made.partitions.size(), 2u);
  const LoadedProgram program(made.files);
  LoadedMethod method(program, "forward");
  ASSERT_EQ(method.error(), Error::Ok);
  for (uint32_t seed = 0; seed < 3; ++seed) {
    const Elements x = make_inputs(made.inputs, seed)[0];
    std::vector<Elements> outputs;
    ASSERT_EQ(method.run({x}, &outputs), Error::Ok);
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].size(), x.size());
    const auto length = static_cast<ptrdiff_t>(x.size() / 3);
    for (ptrdiff_t row = 0; row < 3; ++row) {
      SCOPED_TRACE(absl::StrCat("row ", row));
      const auto partition = [&](const Elements& all) {
        return Elements(all.begin() + row * length, all.begin() + (row + 1) * length);
      };
      expect_near({partition(outputs[0])}, straight(yes_, partition(x)));
    }
  }
}

TEST_F(ControlFlow, HandlesOfBranchesAreDestroyedOnceWhetherTheyRanOrNot) {
  const Compiled made = compiled({{"forward", choice(yes_, no_)}});
  Watch& watch = reset_watch();
  {
    const LoadedProgram program(made.files);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    EXPECT_EQ(watch.live(), 4);
    std::vector<Elements> outputs;
    ASSERT_EQ(method.run({make_inputs({made.inputs[0]}, 1)[0], {1}}, &outputs), Error::Ok);
  }
  EXPECT_EQ(watch.destroyed, 4);
  EXPECT_EQ(watch.buffers_out, 0);
}

TEST_F(ControlFlow, AFailingInitInABranchDestroysThoseBeforeIt) {
  const Compiled made = compiled({{"forward", choice(yes_, no_)}});
  for (int n = 0; n < 4; ++n) {
    Watch& watch = reset_watch();
    watch.fail_init = n;
    const QuietLog quiet;
    const LoadedProgram program(made.files);
    LoadedMethod method(program, "forward");
    EXPECT_EQ(method.error(), Error::DelegateInvalidCompatibility);
    EXPECT_EQ(watch.destroyed, n);
    EXPECT_EQ(watch.live(), 0);
    EXPECT_EQ(watch.buffers_out, 0);
  }
  reset_watch();
  expect_choice(made, yes_, no_);
}

TEST_F(ControlFlow, AWholeMethodWithABranchIsTakenOrRefusedByName) {
  exir::BackendSelection whole = backend();
  whole.for_all[0].whole_method = true;
  const absl::Status refused = compile({{"forward", choice(yes_, no_)}}, whole).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("method 'forward'"));
}

}  // namespace
}  // namespace petrel::conformance
