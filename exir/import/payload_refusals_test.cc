// SPDX-License-Identifier: Apache-2.0
//
// What the importer says of tensors that are not in the memory they name.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/import/expect_error.h"
#include "exir/import/import.h"
#include "exir/import/test_archive.h"
#include "exir/import/test_fixtures.h"

namespace petrel::exir {
namespace {

// An archive whose outputs are buffers that view one storage of 24 bytes.
std::string save_views(const std::string& name, const std::string& torch,
                       const std::vector<std::string>& metas) {
  std::string config, inputs, outputs, input_specs, output_specs;
  const auto append = [](std::string* list, const std::string& item) {
    absl::StrAppend(list, list->empty() ? "" : ", ", item);
  };
  for (size_t i = 0; i < metas.size(); ++i) {
    const std::string tensor = absl::StrCat("{\"as_tensor\": {\"name\": \"b", i, "\"}}");
    append(&config,
           absl::StrCat("\"f", i, "\": {\"path_name\": \"weight_0\", \"use_pickle\": false, ",
                        "\"tensor_meta\": {\"dtype\": 7, \"layout\": 7, ", metas[i], "}}"));
    append(&inputs, tensor);
    append(&outputs, tensor);
    append(&input_specs,
           absl::StrCat("{\"buffer\": {\"arg\": {\"name\": \"b", i, "\"}, \"buffer_name\": \"f", i,
                        "\", \"persistent\": true}}"));
    append(&output_specs, absl::StrCat("{\"user_output\": {\"arg\": ", tensor, "}}"));
  }
  TestArchive archive = TestArchive::of(own_fixture("shared_state"));
  archive.member("weights_config.json").bytes = absl::StrCat("{\"config\": {", config, "}}");
  archive.member("models/model.json").bytes = absl::StrCat(
      "{\"graph_module\": {\"graph\": {\"inputs\": [", inputs, "], \"outputs\": [", outputs,
      "], \"nodes\": [], \"tensor_values\": {}}, \"signature\": {\"input_specs\": [", input_specs,
      "], \"output_specs\": [", output_specs, "]}}, \"range_constraints\": {}, ",
      "\"schema_version\": {\"major\": 8, \"minor\": 20}, \"torch_version\": \"", torch, "\"}");
  return archive.save(name);
}

std::string view_meta(const std::string& size, const std::string& stride) {
  return absl::StrCat("\"sizes\": [", size, "], \"strides\": [", stride,
                      "], \"storage_offset\": {\"as_int\": 0}");
}

std::string ints(const std::vector<int64_t>& list) {
  std::string text;
  for (const int64_t number : list) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "{\"as_int\": ", number, "}");
  }
  return text;
}

// Each is a copy of its own, and a few bytes name it.
TEST(PayloadRefusals, RefusesViewsThatTogetherAreFarLargerThanTheFile) {
  std::vector<std::string> metas;
  for (int64_t i = 0; i < 17; ++i) metas.push_back(view_meta(ints({16'777'216 - i}), ints({0})));
  expect_error(save_views("many_views", "2.13.0", metas),
               "tensor 'f16': member 'data/weights/weight_0' is named so often that its views");
  metas.resize(15);
  EXPECT_TRUE(import_pt2(save_views("some_views", "2.13.0", metas), "forward").ok());
  // One view under many names is one.
  metas = std::vector<std::string>(30, metas[0]);
  EXPECT_TRUE(import_pt2(save_views("one_view", "2.13.0", metas), "forward").ok());
}

// What torch 2.9.0 wrote, with strides that no memory has.
TEST(PayloadRefusals, TakesADenseCopyWhateverItsStrides) {
  const std::string meta = view_meta(ints({2, 3}), ints({int64_t{1} << 62, int64_t{1} << 62}));
  EXPECT_TRUE(import_pt2(save_views("dense_copy", "2.9.0", {meta}), "forward").ok());
  expect_error(save_views("no_dense_copy", "2.13.0", {meta}), "needs more");
}

TEST(PayloadRefusals, BoundsWhatAStorageExpandsTo) {
  expect_error(save_views("expanded", "2.13.0", {view_meta(ints({16'777'217}), ints({0}))}),
               "has 24 bytes that expand to 67108868, the limit is 67108864");
}

// Floats that are no short binary fractions: nobody knows of which values such sizes are.
constexpr char kUnknown[] =
    R"-({"as_expr": {"expr_str": "TruncToInt(Mul(Float('0.1', precision=53), Integer(50)))"}})-";

TEST(PayloadRefusals, TakesNoSizesThatMayVary) {
  const std::string five = ints({5});
  expect_error(save_views("strides", "2.13.0", {view_meta(five, kUnknown)}),
               "tensor 'f0': dim 0 varies, must be fixed");
  expect_error(save_views("sizes", "2.13.0", {view_meta(kUnknown, ints({1}))}),
               "tensor 'f0': dim 0 varies, must be fixed");
  const std::string meta = absl::StrCat("\"sizes\": [", five, "], \"strides\": [", ints({1}),
                                        "], \"storage_offset\": ", kUnknown);
  expect_error(save_views("offset", "2.13.0", {meta}), "storage_offset: varies, must be fixed");
}

TEST(PayloadRefusals, NamesPicklesOfTorch28) {
  TestArchive archive = TestArchive::of(own_fixture("shared_state"));
  archive.member("model_weights_config.json").name = "m/data/weights/model.pt";
  expect_error(archive.save("torch_2_8"),
               "member 'data/weights/model.pt' is a pickle of torch 2.8");
}

}  // namespace
}  // namespace petrel::exir
