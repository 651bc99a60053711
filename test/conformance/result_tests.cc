// SPDX-License-Identifier: Apache-2.0
//
// Whatever is cut, shared and moved: results are those of the kernels.
#include <map>
#include <string>

#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

TEST_F(Conformance, OnePartitionComputesWhatKernelsDo) {
  const Methods methods = {{"forward", steps({"a", "b", "c"})}};
  const Compiled made = compiled(methods);
  EXPECT_EQ(made.partitions.size(), 1u);
  EXPECT_TRUE(made.report.left_behind.empty());
  expect_as_kernels(methods, made);
}

TEST_F(Conformance, SeveralPartitionsComputeWhatKernelsDo) {
  const Methods methods = {{"forward", steps({"a", "", "b", "c", "", "a", ""})}};
  const Compiled made = compiled(methods);
  EXPECT_EQ(made.partitions.size(), 3u);
  expect_as_kernels(methods, made);
}

TEST_F(Conformance, SeveralResultsLeaveAPartition) {
  const Methods methods = {{"forward", steps_with_all_results(fixture_, {"a", "b", "", "c", "a"})}};
  const Compiled made = compiled(methods);
  ASSERT_EQ(made.partitions.size(), 2u);
  EXPECT_EQ(made.partitions[0].outputs.size(), 2u);
  expect_as_kernels(methods, made);
}

TEST_F(Conformance, SeveralMethodsComputeWhatKernelsDo) {
  const Methods methods = {{"forward", steps({"a"})},
                           {"prefill", steps({"a", "", "b"})},
                           {"none", steps({""})},
                           {"decode", steps({"b", "", "a", "", "c"})}};
  const Compiled made = compiled(methods);
  EXPECT_EQ(made.partitions.size(), 6u);
  expect_as_kernels(methods, made);
}

TEST_F(Conformance, MethodsThatShareAWeightStoreItOnce) {
  const Compiled one = compiled({{"forward", steps({"shared"})}});
  const Methods both = {{"forward", steps({"shared"})}, {"other", steps({"shared", "shared"})}};
  const Compiled two = compiled(both);
  if (fixture_.stores_weights) {
    EXPECT_GT(one.store.blobs().stored_bytes(), 0u);
    EXPECT_EQ(two.store.blobs().stored_bytes(), one.store.blobs().stored_bytes());
  }
  expect_as_kernels(both, two);
}

TEST_F(Conformance, PrivateWeightsStayApart) {
  const Methods methods = {{"forward", steps({"first"})}, {"other", steps({"second"})}};
  const Compiled made = compiled(methods);
  if (fixture_.stores_weights) {
    const Compiled one = compiled({{"forward", steps({"first"})}});
    EXPECT_EQ(made.store.blobs().stored_bytes(), 2 * one.store.blobs().stored_bytes());
  }
  expect_as_kernels(methods, made);
  const std::vector<Elements> inputs = make_inputs(made.inputs, 1);
  EXPECT_NE(load_and_run(made.files, "forward", inputs), load_and_run(made.files, "other", inputs));
}

TEST_F(Conformance, ExternalDataGivesEqualBits) {
  if (!fixture_.stores_weights) {
    std::printf("the backend keeps its constants in the payload\n");
  }
  const Methods methods = {{"forward", steps({"a", "", "b"})}, {"other", steps({"b"})}};
  const Compiled inside = compiled(methods);
  const Compiled outside = compiled(methods, all_to("weights.ptd"));
  ASSERT_EQ(outside.files.count("weights.ptd"), 1u);
  for (const auto& [name, unused] : methods) {
    for (uint32_t seed = 0; seed < 3; ++seed) {
      const std::vector<Elements> inputs = make_inputs(inside.inputs, seed);
      EXPECT_EQ(load_and_run(inside.files, name, inputs),
                load_and_run(outside.files, name, inputs));
    }
  }
}

TEST_F(Conformance, EveryMethodOfTheFixtureComputesWhatKernelsDo) {
  for (const std::string& text : fixture_.methods) {
    SCOPED_TRACE(text);
    const Methods methods = {{"forward", text}};
    const Compiled made = compiled(methods);
    EXPECT_GT(made.delegated_nodes(), 0u);
    expect_as_kernels(methods, made);
  }
}

// Operators with scalars and lists among their arguments: taken or left, but
// right either way.
TEST_F(Conformance, ScalarAndListArgumentsAreHonoured) {
  const std::string type = fixture_.type;
  const std::string head = "method @forward(%x: " + type + ", %y: " + type + ") {\n";
  for (const std::string& body :
       {std::string("%a = aten.add.Tensor(%x, %y, 3)\n return %a }"),
        std::string("%a = aten.add.Scalar(%x, 2, 1)\n return %a }"),
        std::string("%a = aten.mul.Scalar(%x, 0.5)\n return %a }"),
        std::string("%a = aten.mul.Scalar(%x, -3)\n %b = aten.sub.Tensor(%a, %y, 2)\n"
                    " return %b }"),
        std::string("%a = aten.cat.default([%x, %y, %x], 0)\n return %a }"),
        std::string("%a = aten.sum.dim_IntList(%x, [0], true)\n return %a }"),
        std::string("%a = aten.clamp.default(%x, -0.25, none)\n return %a }"),
        std::string("%a = aten.unsqueeze.default(%x, 0)\n"
                    " %b = aten.squeeze.dims(%a, [0])\n %c = aten.mul.Tensor(%b, %y)\n"
                    " return %c }")}) {
    const Methods methods = {{"forward", head + body}};
    auto made = compile(methods, backend());
    ASSERT_TRUE(made.ok()) << body << made.status();
    // An addition of three terms may be rounded in another order.
    expect_as_kernels(methods, *made);
  }
}

TEST_F(Conformance, RunsAgainAndWithOtherMethodsBetween) {
  const Methods methods = {{"forward", steps({"a", "", "b"})}, {"other", steps({"c"})}};
  const Compiled made = compiled(methods);
  const LoadedProgram program(made.files);
  ASSERT_EQ(program.error(), runtime::Error::Ok);
  LoadedMethod forward(program, "forward");
  LoadedMethod again(program, "forward");
  LoadedMethod other(program, "other");
  ASSERT_EQ(forward.error(), runtime::Error::Ok);
  ASSERT_EQ(again.error(), runtime::Error::Ok);
  ASSERT_EQ(other.error(), runtime::Error::Ok);
  std::vector<std::vector<Elements>> first(4);
  for (int round = 0; round < 3; ++round) {
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const std::vector<Elements> inputs = make_inputs(made.inputs, seed);
      std::vector<Elements> outputs;
      ASSERT_EQ(other.run(inputs, &outputs), runtime::Error::Ok);
      ASSERT_EQ((round == 1 ? again : forward).run(inputs, &outputs), runtime::Error::Ok);
      if (round == 0) first[seed] = outputs;
      EXPECT_EQ(outputs, first[seed]);
    }
  }
}

}  // namespace
}  // namespace petrel::conformance
