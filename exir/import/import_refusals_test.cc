// SPDX-License-Identifier: Apache-2.0
//
// What the importer says of archives that it does not take.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/import/expect_error.h"
#include "exir/import/import.h"
#include "exir/import/size_limits.h"
#include "exir/import/test_archive.h"
#include "exir/import/test_fixtures.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

TEST(ImportRefusals, ListsEveryUnknownOperatorWithItsLine) {
  expect_error(shared_fixture("unsupported_ops"),
               "2 operators are not supported: aten.igamma.default "
               "(node 'igamma' at test/models/make_fixtures.py:");
  expect_error(shared_fixture("unsupported_ops"),
               ", in forward), aten.special_i0e.default (node '");
}

// Windows that reach out of the input, divisors that are 0: passes make none of these.
TEST(ImportRefusals, RefusesOperatorsThatOnlyTheCompilerMakes) {
  size_t tried = 0;
  for (const OpInfo* op : all_ops()) {
    if (!absl::StartsWith(op->full_name(), "petrel.")) continue;
    TestArchive archive = TestArchive::of(own_fixture("shared_state"));
    archive.edit_program("torch.ops.aten.add_.Tensor", "torch.ops." + op->full_name());
    const std::string path = archive.save(absl::StrCat("own_", tried++));
    expect_error(path, absl::StrCat("1 operator is not supported: ", op->full_name(),
                                    " (node 'add_' at exir/import/testdata/make_fixtures.py:"));
    expect_error(path, "(an operator of the compiler, which no program of torch has)");
  }
  EXPECT_GE(tried, 16u);
}

TEST(ImportRefusals, NamesNodeAndLineOfSizesThatDependOnDataWithoutBound) {
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"nonzero", "node 'nonzero' (aten.nonzero.default) at "},
           {"mask", "node 'index' (aten.index.Tensor) at "}}) {
    TestArchive archive = TestArchive::of(own_fixture(name));
    archive.edit_program("\"max_val\": 6", "\"max_val\": null");
    const std::string path = archive.save("unbounded");
    expect_error(path, text + "exir/import/testdata/make_fixtures.py:");
    expect_error(path, "dim 0: symbol u0 has no upper bound");
    // More than there are elements.
    archive = TestArchive::of(own_fixture(name));
    archive.edit_program("\"max_val\": 6", "\"max_val\": 7");
    expect_error(archive.save("more"), "in the archive, but its operator gives");
  }
}

// Whoever puts another value in the place of one goes through all of them.
TEST(ImportRefusals, RefusesListsOfFarMoreValuesThanAModelHas) {
  const auto times = [](const std::string& item) {
    std::string more;
    for (int i = 0; i < 1 << 14; ++i) more += item + ", ";
    return more;
  };
  TestArchive archive = TestArchive::of(own_fixture("mask"));
  archive.edit_program("\"as_tensors\": [", "\"as_tensors\": [" + times("{\"name\": \"m\"}"));
  expect_error(archive.save("long_list"), "has 16385 values, the limit is 16384");
  // Operands of the graphs that a node holds, and sizes.
  archive = TestArchive::of(shared_fixture("condition"));
  archive.edit_program("\"as_tensors\": [", "\"as_tensors\": [" + times("{\"name\": \"x\"}"));
  expect_error(archive.save("long_operands"), "has 16385 values, the limit is 16384");
  archive = TestArchive::of("test/models/varying/sizes.pt2");
  archive.edit_program("\"as_sym_ints\": [", "\"as_sym_ints\": [" + times("{\"as_int\": 1}"));
  expect_error(archive.save("long_sizes"), "values, the limit is 16384");
}

TEST(ImportRefusals, RefusesNumbersComputedAtRunTimeWhereSchemasHaveLiterals) {
  TestArchive archive = TestArchive::of("test/models/varying/sizes.pt2");
  archive.edit_program("\"dim\", \"arg\": {\"as_int\": -1}",
                       "\"dim\", \"arg\": {\"as_sym_int\": {\"as_name\": \"sym_size_int_3\"}}");
  expect_error(archive.save("computed_dim"),
               "is computed at run time, where only literals are supported");
}

TEST(ImportRefusals, TellsOfBranchesThatDiffer) {
  TestArchive archive = TestArchive::of(shared_fixture("condition"));
  archive.edit_program(
      "[{\"as_tensor\": {\"name\": \"sub\"}}], \"nodes\"",
      "[{\"as_tensor\": {\"name\": \"sub\"}}, {\"as_tensor\": {\"name\": \"x\"}}], "
      "\"nodes\"");
  expect_error(archive.save("more_results"), "the branches give 1 and 2 results");
}

TEST(ImportRefusals, TellsOfLoopsOverTensorsOfOtherNumbersOfRows) {
  // An operand becomes a second tensor that is mapped over.
  TestArchive archive = TestArchive::of("test/models/varying/map_rows.pt2");
  archive.edit_program("\"as_tensors\": [{\"name\": \"rows\"}]",
                       "\"as_tensors\": [{\"name\": \"rows\"}, {\"name\": \"weight\"}]");
  archive.edit_program("\"as_tensors\": [{\"name\": \"weight\"}, ", "\"as_tensors\": [");
  expect_error(archive.save("other_rows"),
               "maps over 'rows' of 5 rows and 'weight' of 6, where each round takes one of each");
}

TEST(ImportRefusals, TellsOfWritesThatOtherStateWouldSee) {
  expect_error(own_fixture("shared_state"),
               "buffer 'written' is written and shares its memory with 'read'");
  // Two parts of one storage that do not meet.
  EXPECT_TRUE(import_pt2(own_fixture("state_beside"), "forward").ok());
}

TEST(ImportRefusals, TakesStridesOfMemoryInTheOrderOfItsSizesOnly) {
  expect_error(own_fixture("strided_view"),
               "value 't' is a view of other memory; clone it or use other operators: its elements "
               "are not in the order of its sizes");
  expect_error(own_fixture("strided_memory"), "its elements do not begin where its storage does");
  EXPECT_TRUE(import_pt2(own_fixture("strided_rows"), "forward").ok());
}

TEST(ImportRefusals, NamesTheProgramsThatThereAre) {
  expect_error(shared_fixture("two_programs"),
               "has 2 programs (decode, prefill), none of them called "
               "'forward'");
}

TEST(ImportRefusals, RefusesWhatItCannotExpressByName) {
  expect_error(shared_fixture("pickled_payload"),
               "tensor 'weight' is a pickle in member 'data/weights/weight_0'");
  expect_error(shared_fixture("no_weights"), "member 'data/weights/weight_0' is empty");
  expect_error(own_fixture("autocast_on"), "under autocast is not supported");
}

TEST(ImportRefusals, RefusesWritesToInputsThatAreNone) {
  TestArchive archive = TestArchive::of(shared_fixture("input_mutation"));
  archive.edit_program("\"user_input_name\": \"args_0\"", "\"user_input_name\": \"args_9\"");
  expect_error(archive.save("no_such_input"), "write to input 'args_9'");
}

// Such a buffer was written to without having been loaded.
TEST(ImportRefusals, RefusesAResultUnderTheNameOfState) {
  TestArchive archive = TestArchive::of(shared_fixture("buffer_mutation_functional"));
  archive.edit_program("{\"as_tensor\": {\"name\": \"b_total\"}}, \"kind\"",
                       "{\"as_tensor\": {\"name\": \"x\"}}, \"kind\"");
  archive.edit_program("\"outputs\": [{\"as_tensor\": {\"name\": \"add\"}}], \"metadata\"",
                       "\"outputs\": [{\"as_tensor\": {\"name\": \"b_total\"}}], \"metadata\"");
  archive.edit_program("\"self\", \"arg\": {\"as_tensor\": {\"name\": \"add\"}}",
                       "\"self\", \"arg\": {\"as_tensor\": {\"name\": \"b_total\"}}");
  archive.edit_program("\"buffer_mutation\": {\"arg\": {\"name\": \"add\"}",
                       "\"buffer_mutation\": {\"arg\": {\"name\": \"b_total\"}");
  expect_error(archive.save("named_as_state"), "value 'b_total' is defined twice");
}

TEST(ImportRefusals, RefusesExpressionsOfAnyLength) {
  TestArchive archive = TestArchive::of(shared_fixture("dynamic_batch"));
  std::string sum = "Integer(0)";
  while (sum.size() <= 65536) sum += ", Integer(0)";
  const std::string symbol = "Symbol('s33', positive=True, integer=True)";
  archive.edit_program(symbol, absl::StrCat("Add(", symbol, ", ", sum, ")"));
  expect_error(archive.save("long_expression"), "characters, the limit is 65536");
}

TEST(ImportRefusals, RefusesASizeWithoutUpperBound) {
  TestArchive archive = TestArchive::of(shared_fixture("dynamic_batch"));
  archive.edit_program("{\"min_val\": 1, \"max_val\": 16}", "{\"min_val\": 1, \"max_val\": null}");
  const std::string path = archive.save("unbounded");
  expect_error(path, "input 'args_0': dim 0: symbol s33 has no upper bound; say one with max-size");
  const absl::StatusOr<Method> limited = import_pt2(path, "forward", *SizeLimits::read({"*=9"}));
  ASSERT_TRUE(limited.ok()) << limited.status();
  const SizeRange rows = limited->graph->inputs()[0]->tensor().all_sizes()[0].range();
  EXPECT_EQ(rows.low, 1);
  EXPECT_EQ(rows.high, 9);
  const SizeLimits none = SizeLimits::of_none();
  const absl::StatusOr<Method> shown = import_pt2(path, "forward", none);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(none.asked(), (std::set<std::string>{"s33"}));
  const std::string text = print_graph(*shown->graph, none.asked());
  EXPECT_NE(text.find("<s33: 1..>(%"), std::string::npos) << text;
}

// An expression that is s33 at every sample point, and only there.
TEST(ImportRefusals, RefusesASizeThatAgreesWithItsOperatorAtSamplePointsOnly) {
  const std::string symbol = "Symbol('s33', positive=True, integer=True)";
  const SampleValues samples = SizeSymbol("s33", {1, 16}).samples;
  std::string product;
  for (const int64_t sample : std::set<int64_t>(samples.begin(), samples.end())) {
    absl::StrAppend(&product, product.empty() ? "" : ", ", "Add(", symbol, ", Integer(", -sample,
                    "))");
  }
  TestArchive archive = TestArchive::of(shared_fixture("dynamic_batch"));
  const std::string linear =
      "\"linear\": {\"dtype\": 7, \"sizes\": [{\"as_expr\": {\"expr_str\": \"";
  archive.edit_program(linear + symbol,
                       absl::StrCat(linear, "Add(", symbol, ", Mul(", product, "))"));
  expect_error(archive.save("agrees_at_samples"),
               "in the archive, but its operator gives s33, which differs when s33 is ");
}

TEST(ImportRefusals, RefusesFilesThatAreNoProgram) {
  expect_error("no/such/file.pt2", "cannot be opened");
  expect_error(::testing::TempDir(), "is not a regular file");
  expect_error(write_test_file("empty.pt2", ""), "is empty");
  expect_error(write_test_file("text.pt2", std::string(1000, 'x')), "is not a zip archive");
  expect_error(write_test_file("made.pte", std::string("\0\0\0\0ET12", 8)),
               "is a compiled program, not what torch.export.save writes");
  expect_error(write_test_file("old.pt2", write_zip({{"serialized_exported_program.json", "{}"}})),
               "torch 2.7 or older");
  expect_error(write_test_file("other.pt2", write_zip({{"a/b", "c"}})),
               "is a zip archive but not an exported program");
  expect_error(write_test_file("pickle.pt2", write_zip({{"a/data.pkl", "c"}})),
               "was written by torch.save or torch.jit.save");
}

struct Edit {
  const char* member;
  const char* from;
  const char* to;
  const char* message;
};

TEST(ImportRefusals, NamesTheMemberThatIsWrong) {
  const char* kProgram = "models/model.json";
  const char* kWeights = "model_weights_config.json";
  const Edit kEdits[] = {
      {"archive_format", "pt2", "pt3", "archive_format is 'pt3'"},
      {"archive_version", "0", "1", "archive_version is '1'"},
      {"byteorder", "little", "big", "byteorder is 'big'"},
      {kProgram, "{\"graph_module\"", "{\"graph_module\" 1", "models/model.json: is not JSON"},
      {kProgram, "\"major\": 8", "\"major\": 9", "is 9.20, must be 8.x"},
      {kProgram, "\"nodes\"", "\"no_nodes\"",
       "models/model.json: graph_module.graph: has no 'nodes'"},
      {kProgram, "torch.ops.aten.conv2d.default", "torch.ops.aten.conv9d.x",
       "1 operator is not supported: aten.conv9d.x (node '"},
      {kProgram, "torch.ops.aten.conv2d.default",
       "torch.ops.export.access_subclass_inner_tensor.default",
       "save what its run_decompositions({}) returns"},
      {kProgram, "torch.ops.aten.conv2d.default", "torch._functorch.predispatch._add_batch_dim",
       "(of torch.vmap: save what run_decompositions({}) returns)"},
      {kProgram, "torch.ops.aten.conv2d.default",
       "torch.ops.aten._native_batch_norm_legit_functional.default",
       "(batch norm in training mode; call eval() on the model before exporting it)"},
      {kProgram, "\"name\": \"stride\"", "\"name\": \"strife\"",
       "the schema has no argument 'strife'"},
      {kProgram, "\"name\": \"bias\"", "\"name\": \"input\"", "is given twice"},
      {kProgram, "\"as_ints\": [1, 1]", "\"as_ints\": [0, 1]", "argument 'stride' has 0"},
      {kProgram, "\"as_ints\": [1, 1]", "\"as_ints\": [1.5, 1]", "is not a 64-bit integer"},
      {kProgram, "\"as_ints\": [1, 1]", "\"as_thing\": [1, 1]",
       "'as_thing' does not fit the argument's type"},
      {kProgram, "\"as_ints\": [1, 1]", "\"as_ints\": [1, 1, 1]",
       "argument 'stride' has 3 items, must have 2"},
      {kProgram, "{\"as_none\": true}", "{\"as_string\": \"x\"}", "argument 'bias'"},
      {kProgram, "{\"as_tensor\": {\"name\": \"p_0_weight\"}}, \"kind\"",
       "{\"as_tensor\": {\"name\": \"p_9\"}}, \"kind\"", "nothing is called 'p_9'"},
      {kProgram, "\"outputs\": [{\"as_tensor\": {\"name\": \"conv2d\"}}]", "\"outputs\": []",
       "has 0 results, its operator gives 1"},
      {kProgram, "\"outputs\": [{\"as_tensor\": {\"name\": \"conv2d\"}}]",
       "\"outputs\": [{\"as_tensor\": {\"name\": \"input\"}}]", "value 'input'"},
      {kProgram, "\"sizes\": [{\"as_int\": 4}", "\"sizes\": [{\"as_int\": 5}",
       "value 'p_0_weight' is f32[5,3,3,3] in the archive, but its payload is "
       "f32[4,3,3,3]"},
      {kProgram, "\"input_specs\": [{\"parameter\"", "\"input_specs\": [{\"custom_obj\"",
       "an input of kind 'custom_obj'"},
      {kProgram, "\"output_specs\": [{\"user_output\"", "\"output_specs\": [{\"loss_output\"",
       "an output of kind 'loss_output'"},
      {kProgram, "\"parameter_name\": \"0.weight\"", "\"parameter_name\": \"9.weight\"",
       "has no tensor '9.weight'"},
      {kWeights, "weight_0", "weight_77", "has no member 'data/weights/weight_77'"},
      {kWeights, "weight_0", "../../x", "has no member"},
      {kWeights, "\"dtype\": 7", "\"dtype\": 99", "is 99, which is not a dtype"},
      {kWeights, "\"dtype\": 7", "\"dtype\": 9", "dtype complex32 is not supported"},
      {kWeights, "\"layout\": 7", "\"layout\": 1", "is layout 1"},
      {kWeights, "{\"as_int\": 4}", "{\"as_int\": -4}", "dim 0 is -4, must be in [0, 2^31)"},
      {kWeights, "{\"as_int\": 4}", "{\"as_int\": 400}", "needs more"},
      {kWeights, "{\"as_int\": 4}, {\"as_int\": 3}, {\"as_int\": 3}",
       "{\"as_int\": 2000000000}, {\"as_int\": 2000000000}, "
       "{\"as_int\": 2000000000}",
       "more than 2^63 bytes"},
      {kWeights, "{\"as_int\": 27}", "{\"as_int\": 9223372036854775807}", "needs more"},
      {kWeights, "{\"as_int\": 27}", "{\"as_int\": -1}", "has -1"},
      {kWeights, "\"strides\": [{\"as_int\": 27}, ", "\"strides\": [", "has 3 items, must have 4"},
      {kWeights, "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": 1}",
       "needs more"},
      {kWeights, "\"storage_offset\": {\"as_int\": 0}",
       "\"storage_offset\": {\"as_int\": 9223372036854775807}", "needs more"},
      {kWeights, "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": -1}",
       "is -1"},
      {kWeights, "\"config\"", "\"confit\"", "has no 'config'"},
  };
  int count = 0;
  for (const Edit& edit : kEdits) {
    TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
    archive.edit(edit.member, edit.from, edit.to);
    expect_error(archive.save(absl::StrCat("edit_", count++)), edit.message);
  }
}

TEST(ImportRefusals, TakesNoEffectsButChecks) {
  const std::string from = "torch.ops.aten._linalg_check_errors.default";
  const std::pair<std::string, const char*> kCases[] = {
      {"torch.ops.mylib.print.default", "1 operator is not supported: mylib.print.default"},
      {"torch.ops.aten.add.Tensor", "1 operator is not supported: aten.add.Tensor"},
  };
  int count = 0;
  for (const auto& [to, message] : kCases) {
    TestArchive archive = TestArchive::of(own_fixture("checked_inverse"));
    archive.edit_program(from, to);
    expect_error(archive.save(absl::StrCat("effect_", count++)), message);
  }
  TestArchive archive = TestArchive::of(own_fixture("checked_inverse"));
  archive.edit_program("\"as_operator\"", "\"as_string\"");
  expect_error(archive.save("no_operator"), "has no 'as_operator'");
}

TEST(ImportRefusals, NamesOutputsThatShouldBeNumbers) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{\"as_name\": \"s\"}", "output 0: nothing is called 's'"},
      {"{\"as_name\": \"relu\"}", "output 0: value 'relu' is not a number"},
      {"{\"as_tensor\": {}}", "is 'as_tensor', must be a name or a number"},
  };
  int count = 0;
  for (const auto& [number, message] : kCases) {
    TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
    archive.edit_program(
        "{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"relu\"}}}}",
        absl::StrCat("{\"user_output\": {\"arg\": {\"as_sym_int\": ", number, "}}}"));
    expect_error(archive.save(absl::StrCat("number_", count++)), message);
  }
}

TEST(ImportRefusals, ComparesTypesWithWhatTheExporterRecorded) {
  TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
  std::string& text = archive.member("models/model.json").bytes;
  const size_t meta = text.find("\"relu\": {\"dtype\": 7");
  ASSERT_NE(meta, std::string::npos);
  text.replace(text.find('7', meta), 1, "6");
  expect_error(archive.save("recorded"),
               "value 'relu' is f16[1,4,6,6] in the archive, but its operator "
               "gives f32[1,4,6,6]");
}

TEST(ImportRefusals, RefusesDamagedWeights) {
  TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
  archive.member("data/weights/weight_0").crc = 1;
  expect_error(archive.save("damaged"), "member 'data/weights/weight_0' is damaged");
}

TEST(ImportRefusals, RefusesMissingMembers) {
  for (const char* name : {"models/model.json", "model_weights_config.json",
                           "model_constants_config.json", "data/weights/weight_0"}) {
    TestArchive archive = TestArchive::of(shared_fixture("conv_bn_relu"));
    archive.remove(name);
    expect_error(archive.save("missing"), "has no member");
  }
}

// Operators of complex numbers have no rule of shapes that would look at these.
TEST(ImportRefusals, NamesArgumentsOfComplexNumbersThatCannotBe) {
  const std::string n = R"("name": "n_fft", "arg": {"as_int": 64})";
  const std::string window = R"("name": "window", "arg": {"as_tensor": {"name": "b_window"}})";
  const std::string self = R"("name": "self", "arg": {"as_tensor": {"name": "view_1"}})";
  const std::string length = R"("name": "length", "arg": {"as_int": 410})";
  const std::string hop = R"("name": "hop_length", "arg": {"as_int": 16})";
  struct Case {
    std::string from;
    std::string to;
    const char* reason;
  };
  const Case cases[] = {
      {n, R"("name": "n_fft", "arg": {"as_none": true})", "argument 'n_fft' is missing"},
      {n, R"("name": "n_fft", "arg": {"as_int": 0})", "n_fft is 0, must be 1 to 2048"},
      {n, R"("name": "n_fft", "arg": {"as_int": 9223372036854775807})", "must be 1 to 2048"},
      {n, R"("name": "n_fft", "arg": {"as_int": 32})", "window must be [32], win_length"},
      {hop, R"("name": "hop_length", "arg": {"as_int": -1})", "must be at least 1"},
      {window, R"("name": "window", "arg": {"as_tensor": {"name": "stft"}})", "nothing is called"},
      {self, R"("name": "self", "arg": {"as_none": true})", "argument 'self' is missing"},
      {self, R"("name": "self", "arg": {"as_tensor": {"name": "b_short"}})", "does not fit dim 2"},
      {length, R"("name": "length", "arg": {"as_int": 9223372036854775807})", "samples"},
  };
  int i = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.to);
    TestArchive archive = TestArchive::of("test/models/complex/spectrogram.pt2");
    archive.edit_program(one.from, one.to);
    expect_error(archive.save(absl::StrCat("complex_", ++i)), one.reason);
  }
}

}  // namespace
}  // namespace petrel::exir
