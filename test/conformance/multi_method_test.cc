// SPDX-License-Identifier: Apache-2.0
//
// What a backend sees and what may go wrong when programs have several methods,
// several partitions and several backends. First takes additions, Second
// multiplications; both run by the null backend's runtime half, under two names.
// Payloads are text, so tests can read which operators are in a partition.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "backends/null/aot/null_backend.h"
#include "backends/null/runtime/null_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/portable/kernels.h"
#include "test/conformance/compiled.h"
#include "test/conformance/loaded.h"
#include "test/conformance/quiet_log.h"

namespace petrel::conformance {
namespace {

using exir::BackendSelection;
using exir::Node;
using exir::Support;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OneOp final : public exir::Partitioner {
 public:
  explicit OneOp(std::string op) : op_(std::move(op)) {}
  Support supports(const Node& node) const override {
    const Support support = backends::null::aot::null_backend()->partitioner().supports(node);
    if (!support.supported || node.op().name == op_) return support;
    return Support::no("is not " + op_);
  }

 private:
  std::string op_;
};

class TextBackend final : public exir::Backend {
 public:
  TextBackend(std::string id, std::string op) : id_(std::move(id)), partitioner_(std::move(op)) {}
  std::string id() const override { return id_; }
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  absl::Status check_compile_specs(const std::vector<exir::CompileSpec>&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<exir::ResultMap> preprocess_all(const exir::SubprogramMap& partitions,
                                                 exir::RoutedBlobStore& store) const override {
    ++calls;
    exir::ResultMap results;
    for (const auto& [method, of_method] : partitions) {
      for (const exir::Subprogram& partition : of_method) {
        seen.push_back(partition.describe());
        for (const exir::CompileSpec& spec : partition.compile_specs) {
          specs.push_back(partition.describe() + " " + spec.key + "=" + spec.value);
        }
        auto result = backends::null::aot::null_backend()->preprocess(partition, store);
        if (!result.ok()) return result.status();
        results[method].push_back(*std::move(result));
      }
    }
    if (change) change(results);
    if (table) {
      auto stored = store.add_named_blob("table", exir::Blob::owned({*table}), 16, "");
      if (!stored.ok()) return stored.status();
      if (!*stored) {
        return absl::AlreadyExistsError("'" + id_ + "' finds other bytes under key 'table'");
      }
    }
    return results;
  }

  mutable int calls = 0;
  mutable std::vector<std::string> seen;
  mutable std::vector<std::string> specs;
  std::function<void(exir::ResultMap&)> change;
  std::optional<uint8_t> table;  // bytes that it stores beside its constants

 private:
  std::string id_;
  OneOp partitioner_;
};

runtime::Backend first_runtime() { return {"First", backends::null::null_backend().backend}; }
runtime::Backend second_runtime() { return {"Second", backends::null::null_backend().backend}; }

constexpr runtime::KernelLibrary kKernels[] = {&runtime::portable_kernels};
constexpr runtime::BackendLibrary kBoth[] = {&first_runtime, &second_runtime};
constexpr runtime::BackendLibrary kFirstOnly[] = {&first_runtime};
constexpr runtime::Registry kRegistry(kKernels, kBoth);
constexpr runtime::Registry kHalfRegistry(kKernels, kFirstOnly);

constexpr char kAdd[] = R"(method @forward(%x: f32[2,3]) {
  %a = aten.add.Tensor(%x, %x, 1) : f32[2,3]
  return %a
})";
constexpr char kAddReluAdd[] = R"(method @forward(%x: f32[2,3]) {
  %a = aten.add.Tensor(%x, %x, 1) : f32[2,3]
  %r = aten.relu.default(%a) : f32[2,3]
  %b = aten.add.Tensor(%r, %x, 1) : f32[2,3]
  return %b
})";
constexpr char kAddMul[] = R"(method @forward(%x: f32[2,3]) {
  %a = aten.add.Tensor(%x, %x, 1) : f32[2,3]
  %b = aten.mul.Tensor(%a, %x) : f32[2,3]
  return %b
})";
constexpr char kAddMulAddMul[] = R"(method @forward(%x: f32[2,3]) {
  %a = aten.add.Tensor(%x, %x, 1) : f32[2,3]
  %b = aten.mul.Tensor(%a, %x) : f32[2,3]
  %c = aten.add.Tensor(%b, %a, 1) : f32[2,3]
  %d = aten.mul.Tensor(%c, %c) : f32[2,3]
  return %d
})";
// One sign of the sum adds and multiplies, the other adds twice.
constexpr char kBranches[] = R"(method @forward(%x: f32[2,3]) {
  %s = aten.sum.dim_IntList(%x, [], false) : f32[]
  %p = aten.gt.Scalar(%s, 0) : bool[]
  %y = petrel.cond.default(%p, [%x]) : f32[2,3] do {
    method @positive(%x: f32[2,3]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2,3]
      %b = aten.mul.Tensor(%a, %x) : f32[2,3]
      return %b
    }
    method @otherwise(%x: f32[2,3]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2,3]
      %r = aten.relu.default(%a) : f32[2,3]
      %b = aten.add.Tensor(%r, %x, 1) : f32[2,3]
      return %b
    }
  }
  %z = aten.add.Tensor(%y, %y, 1) : f32[2,3]
  return %z
})";
constexpr char kWithConstant[] = R"(method @forward(%x: f32[2,3]) {
  %w = constant @w : f32[2,3]
  %a = aten.add.Tensor(%x, %w, 1) : f32[2,3]
  return %a
})";

class MultiMethod : public ::testing::Test {
 protected:
  BackendSelection first_only() const {
    BackendSelection selection;
    selection.for_all = {{&first_}};
    return selection;
  }
  BackendSelection both() const {
    BackendSelection selection;
    selection.for_all = {{&first_}, {&second_}};
    return selection;
  }

  Compiled compiled(const Methods& methods, const BackendSelection& selection) {
    auto made = compile(methods, selection);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *std::move(made) : Compiled();
  }

  static std::string payload(const Compiled& made, size_t partition) {
    const std::vector<uint8_t>& bytes = made.partitions.at(partition).payload;
    return {bytes.begin(), bytes.end()};
  }

  std::string failure(const Methods& methods, const BackendSelection& selection) {
    const auto made = compile(methods, selection);
    EXPECT_FALSE(made.ok());
    return std::string(made.status().message());
  }

  // As kernels alone compute it.
  void expect_right(const Methods& methods, const Compiled& made) {
    const LoadedProgram program(made.files, true, &kRegistry);
    ASSERT_EQ(program.error(), runtime::Error::Ok);
    for (const auto& [name, text] : methods) {
      const Compiled kernels = compiled({{"forward", text}}, {});
      const std::vector<Elements> inputs = make_inputs(kernels.inputs, 3);
      LoadedMethod method(program, name);
      ASSERT_EQ(method.error(), runtime::Error::Ok) << name;
      std::vector<Elements> outputs;
      ASSERT_EQ(method.run(inputs, &outputs), runtime::Error::Ok);
      EXPECT_EQ(outputs, load_and_run(kernels.files, "forward", inputs)) << name;
    }
  }

  TextBackend first_{"First", "aten::add"};
  TextBackend second_{"Second", "aten::mul"};
};

// The ten behaviours of preprocessing several methods.

TEST_F(MultiMethod, SingleMethod) {
  const Compiled made = compiled({{"forward", kAdd}}, first_only());
  EXPECT_EQ(first_.calls, 1);
  EXPECT_THAT(first_.seen, ElementsAre("method 'forward', partition 0"));
  expect_right({{"forward", kAdd}}, made);
}

TEST_F(MultiMethod, TwoMethodsAreSeenInOneCall) {
  const Methods methods = {{"b", kAdd}, {"a", kWithConstant}};
  const Compiled made = compiled(methods, first_only());
  EXPECT_EQ(first_.calls, 1);
  EXPECT_THAT(first_.seen, ElementsAre("method 'a', partition 0", "method 'b', partition 0"));
  expect_right(methods, made);
}

TEST_F(MultiMethod, MultiplePartitionsOfAMethodComeInOrder) {
  const Methods methods = {{"forward", kAddReluAdd}};
  const Compiled made = compiled(methods, first_only());
  EXPECT_EQ(first_.calls, 1);
  EXPECT_THAT(first_.seen,
              ElementsAre("method 'forward', partition 0", "method 'forward', partition 1"));
  expect_right(methods, made);
}

TEST_F(MultiMethod, MethodsMayHaveDifferentNumbersOfPartitions) {
  const Methods methods = {{"one", kAdd}, {"two", kAddReluAdd}, {"other", kAddMul}};
  const Compiled made = compiled(methods, first_only());
  EXPECT_THAT(first_.seen, ElementsAre("method 'one', partition 0", "method 'other', partition 0",
                                       "method 'two', partition 0", "method 'two', partition 1"));
  expect_right(methods, made);
}

TEST_F(MultiMethod, MethodsMayGoToDifferentBackends) {
  const Methods methods = {{"adds", kAddMul}, {"muls", kAddMul}, {"kernels", kAddMul}};
  BackendSelection selection;
  selection.for_all = {{&first_, {{"for", "all"}}}};
  selection.for_method["muls"] = {{&second_, {{"for", "muls"}}}};
  selection.for_method["kernels"] = {};
  const Compiled made = compiled(methods, selection);
  EXPECT_THAT(first_.specs, ElementsAre("method 'adds', partition 0 for=all"));
  EXPECT_THAT(second_.specs, ElementsAre("method 'muls', partition 0 for=muls"));
  EXPECT_EQ(made.partitions.size(), 2u);
  expect_right(methods, made);
}

TEST_F(MultiMethod, SequentialDelegatesCallEachBackendOnce) {
  const Methods methods = {{"forward", kAddMulAddMul}, {"other", kAddMul}};
  const Compiled made = compiled(methods, both());
  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(second_.calls, 1);
  EXPECT_THAT(first_.seen,
              ElementsAre("method 'forward', partition 0", "method 'forward', partition 1",
                          "method 'other', partition 0"));
  EXPECT_EQ(made.partitions.size(), 6u);
  EXPECT_TRUE(made.report.left_behind.empty());
  expect_right(methods, made);
}

TEST_F(MultiMethod, BackendsShareEqualBytesOfOneKeyAndTheSecondIsToldOfOthers) {
  const Methods methods = {{"forward", kAddMul}};
  first_.table = 1;
  second_.table = 1;
  const Compiled made = compiled(methods, both());
  EXPECT_EQ(made.store.blobs().stored_bytes(), 1u);
  EXPECT_EQ(made.store.blobs().requested_bytes(), 2u);
  second_.table = 2;
  EXPECT_EQ(compile(methods, both()).status(),
            absl::AlreadyExistsError("'Second' finds other bytes under key 'table'"));
}

TEST_F(MultiMethod, ConstantsAreInThePartitionsAndStoredOnce) {
  const Methods methods = {{"a", kWithConstant}, {"b", kWithConstant}};
  const Compiled made = compiled(methods, first_only());
  EXPECT_EQ(made.store.blobs().stored_bytes(), 24u);
  EXPECT_EQ(made.store.blobs().requested_bytes(), 48u);
  EXPECT_THAT(payload(made, 0), HasSubstr("blob 6 "));
  EXPECT_EQ(payload(made, 0), payload(made, 1));
  expect_right(methods, made);
}

TEST_F(MultiMethod, PartitionsInsideBranchesAreSeenWithTheOthers) {
  const Methods methods = {{"forward", kBranches}, {"other", kAddMul}};
  const Compiled made = compiled(methods, both());
  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(second_.calls, 1);
  // The one after the cond, one in the first branch, two in the second.
  EXPECT_THAT(first_.seen,
              ElementsAre("method 'forward', partition 0", "method 'forward', partition 1",
                          "method 'forward', partition 2", "method 'forward', partition 3",
                          "method 'other', partition 0"));
  EXPECT_THAT(second_.seen,
              ElementsAre("method 'forward', partition 0", "method 'other', partition 0"));
  EXPECT_EQ(made.partitions.size(), 7u);
  for (const float sign : {1.0f, -1.0f}) {
    std::vector<Elements> inputs = make_inputs(made.inputs, 3);
    for (float& element : inputs[0]) element = sign * std::fabs(element);
    const Compiled kernels = compiled({{"forward", kBranches}}, {});
    const LoadedProgram program(made.files, true, &kRegistry);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), runtime::Error::Ok);
    std::vector<Elements> outputs;
    ASSERT_EQ(method.run(inputs, &outputs), runtime::Error::Ok);
    EXPECT_EQ(outputs, load_and_run(kernels.files, "forward", inputs));
    for (size_t i = 0; i < inputs[0].size(); ++i) {
      const float x = inputs[0][i];
      const float y = sign > 0 ? (x + x) * x : std::max(x + x, 0.0f) + x;
      EXPECT_EQ(outputs[0][i], y + y);
    }
  }
}

TEST_F(MultiMethod, ABackendThatIsNotThereIsNamed) {
  EXPECT_EQ(failure({{"forward", kAdd}},
                    [] {
                      BackendSelection selection;
                      selection.for_all = {{nullptr}};
                      return selection;
                    }()),
            "backend 0 of all methods is null");
  // And at run time, where a method needs it; other methods run.
  const Methods methods = {{"adds", kAdd}, {"muls", kAddMul}};
  const Compiled made = compiled(methods, both());
  QuietLog quiet;
  const LoadedProgram program(made.files, true, &kHalfRegistry);
  ASSERT_EQ(program.error(), runtime::Error::Ok);
  LoadedMethod muls(program, "muls");
  EXPECT_EQ(muls.error(), runtime::Error::NotFound);
  EXPECT_THAT(quiet.all(), HasSubstr("Second"));
  EXPECT_THAT(quiet.all(), HasSubstr("muls"));
  EXPECT_EQ(LoadedMethod(program, "adds").error(), runtime::Error::Ok);
}

TEST_F(MultiMethod, EndToEnd) {
  const Methods methods = {
      {"forward", kAddMulAddMul}, {"other", kAddReluAdd}, {"third", kWithConstant}};
  for (const bool swapped : {false, true}) {
    BackendSelection selection = both();
    if (swapped) std::swap(selection.for_all[0], selection.for_all[1]);
    expect_right(methods, compiled(methods, selection));
  }
}

// Errors name the method and the partition.

TEST_F(MultiMethod, AWrongNumberOfResultsNamesMethodAndIndex) {
  const Methods methods = {{"a", kAdd}, {"b", kAddReluAdd}};
  first_.change = [](exir::ResultMap& results) { results["b"].pop_back(); };
  EXPECT_EQ(failure(methods, first_only()),
            "backend 'First' returned 1 of 2 results: none for method 'b', partition 1");
  first_.change = [](exir::ResultMap& results) { results.erase("a"); };
  EXPECT_EQ(failure(methods, first_only()),
            "backend 'First' returned 0 of 1 results: none for method 'a', partition 0");
  first_.change = [](exir::ResultMap& results) { results["c"].emplace_back(); };
  EXPECT_EQ(failure(methods, first_only()),
            "backend 'First' returned results for method 'c', of which it was given no partition");
}

TEST_F(MultiMethod, AnEmptyPayloadNamesMethodAndIndex) {
  first_.change = [](exir::ResultMap& results) { results["b"][1].payload = exir::Blob(); };
  EXPECT_EQ(failure({{"a", kAdd}, {"b", kAddReluAdd}}, first_only()),
            "backend 'First' returned an empty payload for method 'b', partition 1");
}

TEST_F(MultiMethod, ADebugIdOfNoValueNamesMethodAndIndex) {
  first_.change = [](exir::ResultMap& results) { results["b"][0].debug_handles[4] = "nobody"; };
  EXPECT_EQ(failure({{"b", kAdd}}, first_only()),
            "backend 'First' maps debug id 4 of method 'b', partition 0 to value 'nobody', which "
            "no node of the partition computes");
}

TEST_F(MultiMethod, ADuplicateBackendIsRefused) {
  BackendSelection selection = both();
  selection.for_all.push_back({&first_});
  EXPECT_EQ(failure({{"a", kAdd}}, selection),
            "backend 'First' is given twice for all methods, as backends 0 and 2");
  selection = both();
  selection.for_method["a"] = {{&first_}, {&first_}};
  EXPECT_EQ(failure({{"a", kAdd}}, selection),
            "backend 'First' is given twice for method 'a', as backends 0 and 1");
  const TextBackend impostor("First", "aten::mul");
  selection.for_method["a"] = {{&impostor}};
  EXPECT_EQ(failure({{"a", kAdd}}, selection),
            "backend 0 of method 'a' has the id 'First', which another backend has, too");
  EXPECT_EQ(first_.calls, 0);
}

TEST_F(MultiMethod, AMethodThatIsNotThereIsRefused) {
  BackendSelection selection;
  selection.for_method["decode"] = {{&first_}};
  EXPECT_EQ(failure({{"a", kAdd}, {"b", kAdd}}, selection),
            "backends are chosen for method 'decode', which is not there; the methods are a, b");
}

TEST_F(MultiMethod, WholeMethodsAreSingleElementLists) {
  BackendSelection selection;
  selection.for_method["a"] = {{&first_, {}, /*whole_method=*/true}};
  selection.for_method["b"] = {{&first_, {}, /*whole_method=*/true}};
  const Methods methods = {{"a", kAdd}, {"b", kWithConstant}};
  const Compiled made = compiled(methods, selection);
  EXPECT_EQ(first_.calls, 1);
  EXPECT_THAT(first_.seen, ElementsAre("method 'a', partition 0", "method 'b', partition 0"));
  expect_right(methods, made);
  selection.for_method["b"].push_back({&second_});
  EXPECT_EQ(failure(methods, selection),
            "backend 'First' is to get whole methods, but method 'b' has 2 backends");
  EXPECT_THAT(failure({{"a", kAddMul}, {"b", kAdd}},
                      [&] {
                        BackendSelection whole;
                        whole.for_all = {{&first_, {}, true}};
                        return whole;
                      }()),
              HasSubstr("method 'a': backend 'First' cannot take the whole method: node 'b'"));
}

TEST_F(MultiMethod, ANodeThatNobodyTookHasTheReasonOfEach) {
  const Compiled made = compiled({{"forward", kAddReluAdd}}, both());
  ASSERT_EQ(made.report.left_behind.size(), 1u);
  EXPECT_EQ(made.report.left_behind[0].reason,
            "First: only aten.add.Tensor and aten.mul.Tensor are taken; "
            "Second: only aten.add.Tensor and aten.mul.Tensor are taken");
}

}  // namespace
}  // namespace petrel::conformance
