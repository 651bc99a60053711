// SPDX-License-Identifier: Apache-2.0
#include "exir/import/import.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/import/json.h"
#include "exir/import/tensor_meta.h"
#include "exir/import/test_archive.h"
#include "exir/import/test_fixtures.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"

namespace petrel::exir {
namespace {

Method import_or_die(const std::string& path, const std::string& method = "forward") {
  absl::StatusOr<Method> imported = import_pt2(path, method);
  EXPECT_TRUE(imported.ok()) << imported.status();
  if (!imported.ok()) return {std::make_unique<Graph>("failed"), {}};
  const absl::Status valid = verify_graph(*imported->graph);
  EXPECT_TRUE(valid.ok()) << path << ": " << valid;
  return *std::move(imported);
}

ConstantPtr constant(const Method& method, const std::string& fqn) {
  for (const Value* value : method.graph->constants()) {
    if (value->constant()->fqn == fqn) return value->constant();
  }
  ADD_FAILURE() << "no constant " << fqn;
  return std::make_shared<Constant>();
}

std::vector<float> floats(const ConstantPtr& constant) {
  const Blob::Bytes bytes = constant->data.bytes();
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST(Import, SizesThatDependOnDataAreTheSymbolsOfTheArchive) {
  const Method nonzero = import_or_die(own_fixture("nonzero"));
  EXPECT_EQ(to_string(nonzero.graph->outputs()[0]->type()), "i64[u0,2]");
  const Method mask = import_or_die(own_fixture("mask"));
  EXPECT_EQ(to_string(mask.graph->outputs()[0]->type()), "f32[u0]");
}

TEST(Import, ReadsANetworkOfEveryRelease) {
  for (const char* torch : {"torch_2_9", "torch_2_13", "torch_2_14"}) {
    const Method method = import_or_die(shared_fixture("conv_bn_relu", torch));
    // Whether the exporting machine had cuDNN; it means nothing here.
    const std::string text = print_graph(*method.graph);
    const std::string cudnn = absl::StrContains(text, "1e-05, true") ? "true" : "false";
    EXPECT_EQ(text,
              "method @forward(%input: f32[1,3,6,6]) {\n"
              "  %0.weight = constant @0.weight : f32[4,3,3,3]\n"
              "  %1.weight = constant @1.weight : f32[4]\n"
              "  %1.bias = constant @1.bias : f32[4]\n"
              "  %1.running_mean = constant @1.running_mean : f32[4]\n"
              "  %1.running_var = constant @1.running_var : f32[4]\n"
              "  %conv2d = aten.conv2d.default(%input, %0.weight, none, [1, 1], "
              "[1, 1], [1, 1], 1) : f32[1,4,6,6]\n"
              "  %batch_norm = aten.batch_norm.default(%conv2d, %1.weight, %1.bias, "
              "%1.running_mean, %1.running_var, false, 0.1, 1e-05, " +
                  cudnn +
                  ") : f32[1,4,6,6]\n"
                  "  %relu = aten.relu.default(%batch_norm) : f32[1,4,6,6]\n"
                  "  return %relu\n}\n")
        << torch;
  }
}

TEST(Import, TellsTheFactsOfTheArchive) {
  ArchiveInfo info;
  ASSERT_TRUE(import_pt2(shared_fixture("conv_bn_relu"), "forward", {}, &info).ok());
  EXPECT_EQ(info.torch_version, "2.13.0+cpu");
  EXPECT_EQ(info.schema_major, 8);
  EXPECT_EQ(info.schema_minor, 20);
  EXPECT_EQ(info.dialect, "TRAINING");
  ASSERT_TRUE(import_pt2(shared_fixture("conv_bn_relu_core"), "forward", {}, &info).ok());
  EXPECT_EQ(info.dialect, "ATEN");
}

TEST(Import, ReadsEveryStaticFixtureOfEveryRelease) {
  for (const char* torch : {"torch_2_9", "torch_2_13", "torch_2_14"}) {
    for (const char* name :
         {"buffer_mutation", "buffer_mutation_functional", "channels_last", "constants",
          "conv_bn_relu", "conv_bn_relu_core", "dtypes", "in_place", "int_inputs",
          "kwargs_and_dict", "list_args", "prim_inputs", "scalar_args", "shared_storage",
          "split_chunk", "tied_weights", "transposed_parameter"}) {
      const Method method = import_or_die(shared_fixture(name, torch));
      EXPECT_FALSE(method.graph->outputs().empty()) << torch << " " << name;
      EXPECT_EQ(method.signature.input_names.size(), method.graph->inputs().size());
      EXPECT_EQ(method.signature.output_names.size(), method.graph->outputs().size());
    }
  }
}

TEST(Import, ChoosesAProgramByName) {
  const std::string path = shared_fixture("two_programs");
  EXPECT_EQ(import_or_die(path, "prefill").graph->inputs()[0]->tensor().sizes, (Sizes{5, 4}));
  EXPECT_EQ(import_or_die(path, "decode").graph->inputs()[0]->tensor().sizes, (Sizes{1, 4}));
}

TEST(Import, SharesTheBytesOfTiedWeights) {
  TestArchive archive = TestArchive::of(shared_fixture("tied_weights"));
  // Two names, two inputs of the graph, one member.
  archive.edit("model_weights_config.json", "\"0.bias\": {\"path_name\": \"weight_1\"",
               "\"0.bias\": {\"path_name\": \"weight_2\"");
  const Method method = import_or_die(archive.save("tied"));
  const ConstantPtr first = constant(method, "0.bias");
  const ConstantPtr second = constant(method, "2.bias");
  EXPECT_NE(first, second);
  EXPECT_EQ(first->data.bytes().data(), second->data.bytes().data());
}

TEST(Import, GivesViewsOfStoragesAsDenseTensors) {
  const Method method = import_or_die(own_fixture("views"));
  // arange(24).reshape(2, 3, 4).permute(2, 0, 1)
  std::vector<float> expected;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 3; ++k) {
        expected.push_back(static_cast<float>(12 * j + 4 * k + i));
      }
    }
  }
  EXPECT_EQ(floats(constant(method, "permuted")), expected);
  EXPECT_EQ(floats(constant(method, "expanded")), std::vector<float>(24, 5));
  EXPECT_EQ(floats(constant(method, "tail")), (std::vector<float>{5, 6, 7}));
}

TEST(Import, GivesSlicesOfOneStorage) {
  const Method method = import_or_die(shared_fixture("shared_storage"));
  const auto whole = floats(constant(method, "whole"));
  const auto head = floats(constant(method, "head"));
  const auto tail = floats(constant(method, "tail"));
  ASSERT_EQ(whole.size(), 20u);
  EXPECT_EQ(head, std::vector<float>(whole.begin(), whole.begin() + 8));
  EXPECT_EQ(tail, std::vector<float>(whole.begin() + 8, whole.end()));
  // Slices of the mapping, not copies.
  const uint8_t* base = constant(method, "whole")->data.bytes().data();
  EXPECT_EQ(constant(method, "tail")->data.bytes().data(), base + 32);
}

TEST(Import, KeepsConstantsAliveWithoutTheFile) {
  TestArchive archive = TestArchive::of(own_fixture("views"));
  const std::string path = archive.save("short_lived");
  const Method method = import_or_die(path);
  ASSERT_EQ(std::remove(path.c_str()), 0);
  EXPECT_EQ(floats(constant(method, "tail")), (std::vector<float>{5, 6, 7}));
}

TEST(Import, ReadsArgumentsOfPythonsFunctionsByPlace) {
  const Method method = import_or_die(own_fixture("scaled_sizes"));
  const std::string text = print_graph(*method.graph);
  EXPECT_TRUE(absl::StrContains(text, "executorch_prim.trunc.Scalar(%mul)")) << text;
}

TEST(Import, LeavesOutChecksAndTheirTokens) {
  const Method method = import_or_die(own_fixture("checked_inverse"));
  EXPECT_EQ(method.graph->inputs().size(), 1u);
  EXPECT_EQ(method.graph->outputs().size(), 1u);
  EXPECT_EQ(method.signature.input_names, (std::vector<std::string>{"x"}));
  EXPECT_EQ(method.signature.output_names.size(), 1u);
  EXPECT_TRUE(absl::StrContains(print_graph(*method.graph), "aten.linalg_inv_ex.default(%x"));
}

TEST(Import, LeavesOutCallsAboutTypes) {
  const Method method = import_or_die(own_fixture("promotes"));
  EXPECT_TRUE(absl::StrContains(print_graph(*method.graph), "aten.to.dtype(%x, f64"));
}

TEST(Import, MarksStateWrittenInPlace) {
  const Method method = import_or_die(own_fixture("writes_state"));
  EXPECT_EQ(constant(method, "seen")->kind, Constant::Kind::kMutableBuffer);
  EXPECT_EQ(constant(method, "kept")->kind, Constant::Kind::kBuffer);
  EXPECT_TRUE(method.graph->buffer_writes().empty());
}

TEST(Import, TurnsBufferMutationsIntoWrites) {
  const Method method = import_or_die(shared_fixture("buffer_mutation_functional"));
  ASSERT_EQ(method.graph->buffer_writes().size(), 2u);
  EXPECT_EQ(method.graph->outputs().size(), 1u);
  for (const BufferWrite& write : method.graph->buffer_writes()) {
    EXPECT_TRUE(write.buffer->constant()->is_mutable());
    EXPECT_EQ(write.value->producer()->op().full_name(), "aten.add.Tensor");
  }
}

TEST(Import, KnowsWhatEachConstantIs) {
  const Method network = import_or_die(shared_fixture("conv_bn_relu"));
  EXPECT_EQ(constant(network, "1.weight")->kind, Constant::Kind::kParameter);
  EXPECT_EQ(constant(network, "1.running_var")->kind, Constant::Kind::kBuffer);
  const Method literals = import_or_die(shared_fixture("constants"));
  EXPECT_EQ(constant(literals, "lifted_tensor_0")->kind, Constant::Kind::kLiteral);
}

TEST(Import, MakesConstantsOfNumbersInTensorSlots) {
  const Method method = import_or_die(shared_fixture("scalar_args"));
  const ConstantPtr two = constant(method, "literal_f32_40000000");
  EXPECT_EQ(floats(two), (std::vector<float>{2}));
  EXPECT_EQ(two->type.rank(), 0u);
}

TEST(Import, InlinesRegions) {
  for (const char* name : {"no_grad", "autocast_off"}) {
    const Method method = import_or_die(own_fixture(name));
    const Node& first = *method.graph->nodes().front();
    EXPECT_EQ(first.op().full_name(), "aten.linear.default") << name;
    EXPECT_EQ(method.graph->outputs()[0]->producer()->op().full_name(), "aten.add.Tensor");
  }
}

TEST(Import, HandsNumbersIntoRegionsAndOut) {
  const Method method = import_or_die(own_fixture("numbers_in_region"));
  const std::string text = print_graph(*method.graph);
  for (const char* part :
       {"aten.reshape.default(%x, [1, %sym_size_int_1, 3])",
        "aten.mul.Tensor(%reshape, %item_tensor)", "aten.new_ones.default(%x, [%mul_1]"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << " in " << text;
  }
}

TEST(Import, NamesInputsAndOutputs) {
  const Method network = import_or_die(shared_fixture("conv_bn_relu"));
  EXPECT_EQ(network.signature.input_names, (std::vector<std::string>{"input"}));
  const Method nested = import_or_die(shared_fixture("kwargs_and_dict"));
  EXPECT_EQ(nested.signature.input_names,
            (std::vector<std::string>{"batch_image", "batch_bias_0", "batch_bias_1", "scale"}));
  EXPECT_TRUE(absl::StartsWith(nested.signature.in_spec, "[1, {"));
  EXPECT_TRUE(absl::StartsWith(nested.signature.out_spec, "[1, {"));
}

TEST(Import, TakesTheKeysOfAFlatDictAsOutputNames) {
  TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
  archive.edit_program(R"("out_spec": "[1, {\"type\": null, \"context\": null, )"
                       R"(\"children_spec\": []}]")",
                       R"("out_spec": "[1, {\"type\": \"builtins.dict\", \"context\": )"
                       R"(\"[\\\"logits\\\"]\", \"children_spec\": [{\"type\": null, )"
                       R"(\"context\": null, \"children_spec\": []}]}]")");
  EXPECT_EQ(import_or_die(archive.save("dict")).signature.output_names,
            (std::vector<std::string>{"logits"}));
}

TEST(Import, KeepsOutputsThatAreNoTensors) {
  TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
  const std::string tensor = R"({"as_tensor": {"name": "relu"}})";
  const std::string user = R"({"user_output": {"arg": )";
  const std::string fixed = R"({"as_none": true})";
  const std::string number = R"({"as_float": 0.25})";
  archive.edit_program(R"("output_specs": [)" + user + tensor + "}}",
                       R"("output_specs": [)" + user + fixed + "}}, " + user + tensor + "}}, " +
                           user + number + "}}");
  archive.edit_program(R"("outputs": [)" + tensor + "]",
                       R"("outputs": [)" + fixed + ", " + tensor + ", " + number + "]");
  // The graph's own list is the last "outputs" of a tensor alone.
  const auto method = import_pt2(archive.save("fixed"), "forward");
  ASSERT_TRUE(method.ok()) << method.status();
  EXPECT_EQ(method->graph->outputs().size(), 1u);
  ASSERT_EQ(method->signature.fixed_outputs.size(), 2u);
  EXPECT_TRUE(method->signature.fixed_outputs.at(0).is_none());
  EXPECT_EQ(method->signature.fixed_outputs.at(2).as_float(), 0.25);
  EXPECT_EQ(method->signature.output_names,
            (std::vector<std::string>{"output_0", "relu", "output_2"}));
}

// Of a network of halves: torch.export records halves, eager torch has floats.
TEST(Import, TakesNoNoteOfTheTypesOfUnusedResults) {
  TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu_core"));
  archive.edit_program(R"("_native_batch_norm_legit_no_training_unused_1": {"dtype": 7)",
                       R"("_native_batch_norm_legit_no_training_unused_1": {"dtype": 6)");
  const auto method = import_pt2(archive.save("unused"), "forward");
  EXPECT_TRUE(method.ok()) << method.status();
}

TEST(Import, RecordsWhereNodesComeFrom) {
  const Method method = import_or_die(own_fixture("writes_state"));
  const Node& node = *method.graph->nodes().back();
  EXPECT_TRUE(absl::EndsWith(node.source().location(), ", in forward"));
  EXPECT_TRUE(absl::StrContains(node.source().location(), "testdata/make_fixtures.py:"));
  const Method network = import_or_die(shared_fixture("conv_bn_relu"));
  EXPECT_EQ(network.graph->nodes().front()->source().module, "0");
}

// A pass may make a hundred thousand nodes of one, each with a copy.
TEST(Import, KeepsOfASourceWhatItTells) {
  TestArchive archive = TestArchive::of(own_fixture("writes_state"));
  const std::string much(100'000, 'x');
  archive.edit_program("\"stack_trace\": \"", "\"stack_trace\": \"" + much + "\\n");
  archive.edit_program("\"nn_module_stack\": \"",
                       "\"nn_module_stack\": \"a," + much + ",c\", \"others\": \"");
  const Method method = import_or_die(archive.save("long_source"));
  const Source& source = method.graph->nodes().front()->source();
  EXPECT_TRUE(absl::StrContains(source.location(), "testdata/make_fixtures.py:"));
  EXPECT_LT(source.stack_trace.size(), 1000u);
  EXPECT_EQ(source.module, std::string(500, 'x'));
}

TEST(Import, MakesOutputsOfInputsThatAreWritten) {
  for (const std::string& path : {shared_fixture("input_mutation"), own_fixture("writes_input")}) {
    const Method method = import_or_die(path);
    ASSERT_EQ(method.graph->outputs().size(), 2u) << path;
    EXPECT_EQ(method.signature.output_names[0], method.signature.input_names[0]) << path;
    EXPECT_EQ(method.graph->outputs()[0]->type(), method.graph->inputs()[0]->type()) << path;
  }
}

TEST(Import, KeepsTheExpressionsOfSizes) {
  const Method method = import_or_die(shared_fixture("dynamic_derived"));
  const TensorType& x = method.graph->inputs()[0]->tensor();
  const TensorType& y = method.graph->inputs()[1]->tensor();
  ASSERT_TRUE(x.is_dynamic());
  ASSERT_TRUE(y.is_dynamic());
  EXPECT_EQ(multiply(x.size(0), 2), y.size(0)) << to_string(x) << " and " << to_string(y);
  EXPECT_EQ(x.size(0).sample(0), x.sizes[0]);
  EXPECT_NE(x.size(0).sample(2), x.size(0).sample(3));
}

// A few bytes name it again, so it must not be read again.
TEST(Import, ReadsAnExpressionOnce) {
  std::string text = "Integer(3)";
  for (int i = 0; i < 5000; ++i) text = absl::StrCat("Integer(0), ", text);
  const std::string size = absl::StrCat("{\"as_expr\": {\"expr_str\": \"Add(", text, ")\"}}");
  const absl::StatusOr<JsonDocument> document =
      JsonDocument::parse({reinterpret_cast<const uint8_t*>(size.data()), size.size()}, "size");
  ASSERT_TRUE(document.ok()) << document.status();
  const Symbols symbols;
  // Half a minute if each were read.
  for (int i = 0; i < 20'000; ++i) {
    const absl::StatusOr<SizeExpression> resolved = symbols.resolve(document->root());
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    ASSERT_EQ(*resolved, SizeExpression(3));
  }
}

TEST(Import, GivesBranchesTheirOwnGraphs) {
  const Method method = import_or_die(shared_fixture("condition"));
  const Node* cond = nullptr;
  for (const auto& node : method.graph->nodes()) {
    if (node->op().name == "petrel::cond") cond = node.get();
  }
  ASSERT_NE(cond, nullptr);
  ASSERT_EQ(cond->regions().size(), 2u);
  EXPECT_NE(print_graph(*method.graph).find(" do {\n    method @true_graph_0("), std::string::npos)
      << print_graph(*method.graph);
}

TEST(Import, TakesASymbolWithOneValueForThatValue) {
  TestArchive archive = TestArchive::of(shared_fixture("dynamic_batch"));
  archive.edit_program("{\"min_val\": 1, \"max_val\": 16}", "{\"min_val\": 3, \"max_val\": 3}");
  const Method method = import_or_die(archive.save("one_value"));
  EXPECT_EQ(method.graph->inputs()[0]->tensor().sizes, (Sizes{3, 2, 3}));
  for (const auto& node : method.graph->nodes()) {
    EXPECT_NE(node->op().name, "aten::sym_size");
  }
}

TEST(Import, DoesNotReadWhatTheProgramDoesNotUse) {
  TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
  archive.member("data/sample_inputs/model.pt").bytes = "garbage";
  // The counter of batch norm: an input that no node uses.
  archive.remove("data/weights/weight_5");
  import_or_die(archive.save("unused"));
}

TEST(Import, CopiesUnalignedWeights) {
  // The first member begins behind a header whose name makes it odd.
  const std::string path = shared_fixture("transposed_parameter");
  const Method aligned = import_or_die(path);
  TestArchive archive = TestArchive::of(path);
  archive.edit("model_weights_config.json", "{\"as_int\": 1}, {\"as_int\": 6}",
               "{\"as_int\": 4}, {\"as_int\": 1}");
  std::string bytes = archive.bytes();
  // Bytes in front of an archive shift everything in it.
  const Method shifted = import_or_die(write_test_file("shifted.pt2", "x" + bytes));
  const Method straight = import_or_die(write_test_file("straight.pt2", bytes));
  EXPECT_EQ(floats(constant(shifted, "weight")), floats(constant(straight, "weight")));
  EXPECT_NE(floats(constant(aligned, "weight")), floats(constant(straight, "weight")));
  const auto data = reinterpret_cast<uintptr_t>(constant(shifted, "weight")->data.bytes().data());
  EXPECT_EQ(data % sizeof(float), 0u);
}

}  // namespace
}  // namespace petrel::exir
