// SPDX-License-Identifier: Apache-2.0
//
// Whatever XNNPACK makes of stored integers, their scales and a bias, all of it can be
// replaced where names call weights: none lies in the payload alone.
#include "backends/xnnpack/aot/quantized_weight.h"

#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/backend/routed_blob_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::ContainsRegex;

struct Case {
  const char* name;
  const char* weights;  // how %d is made of constants
  const char* input;    // how %f is made of %x
  const char* product;
  std::vector<std::string> keys;  // each a pattern
};

constexpr char kRows[] =
    "%d = quantized_decomposed.dequantize_per_channel.default(%w, %s, none, 0, -127, 127, i8)\n";
constexpr char kStatic[] =
    "%q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8)\n"
    "%f = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8)\n";
constexpr char kDynamic[] =
    "%cs, %cz = quantized_decomposed.choose_qparams_per_token_asymmetric.default(%x, i8)\n"
    "%q = quantized_decomposed.quantize_per_token.default(%x, %cs, %cz, -128, 127, i8)\n"
    "%f = quantized_decomposed.dequantize_per_token.default(%q, %cs, %cz, -128, 127, i8, f32)\n";
constexpr char kFloats[] = "%f = aten.neg.default(%x)\n";
constexpr char kLinear[] = "%y = aten.linear.default(%f, %d, %b)\n";
constexpr char kHex[] = "[0-9a-f]+";

std::string made(const std::string& stem) { return "^" + stem + "_" + kHex + "$"; }

class Declared : public ::testing::TestWithParam<Case> {};

TEST_P(Declared, EveryWeightUnderItsName) {
  const Case& row = GetParam();
  std::string text = "method @forward(%x: f32[4,32]) {\n%w = constant @w : i8[4,32]\n";
  text += std::string("%b = constant @b : f32[4]\n") + row.weights + row.input + row.product;
  text +=
      "%r = quantized_decomposed.quantize_per_tensor.default(%y, 0.25, 0, -128, 127, i8)\n"
      "%o = quantized_decomposed.dequantize_per_tensor.default(%r, 0.25, 0, -128, 127, i8)\n"
      "return %o }";
  const auto partition = parse_partition(text, [](int64_t) { return 1; });
  ASSERT_NE(partition, nullptr);
  for (const std::string file : {"", "w.ptd"}) {
    exir::WeightRoutes routes;
    routes.keys = exir::WeightKeys::kName;
    routes.default_file = file;
    exir::RoutedBlobStore store(routes);
    exir::Subprogram subprogram;
    subprogram.method = "forward";
    subprogram.graph = partition.get();
    const auto results = xnnpack_backend()->preprocess_all({{"forward", {subprogram}}}, store);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const exir::Value* constant : partition->constants()) {
      const absl::Status declared = store.check_declared(*constant->constant(), "XnnpackBackend");
      EXPECT_TRUE(declared.ok()) << declared;
    }
    EXPECT_TRUE(store.bypassed().empty());
    std::vector<std::string> keys;
    for (const auto& [key, weight] : store.ledger().weights()) {
      keys.push_back(key);
      EXPECT_EQ(weight.destination, file);
    }
    ASSERT_EQ(keys.size(), row.keys.size()) << ::testing::PrintToString(keys);
    for (size_t i = 0; i < keys.size(); ++i) EXPECT_THAT(keys[i], ContainsRegex(row.keys[i]));
  }
}

constexpr char kScales[] = "%s = constant @s : f32[4]\n";
const std::string kOfRows = std::string(kScales) + kRows;
const std::string kOneScale = std::string("%s = constant @s : f32[1]\n") +
                              "%d = torchao.dequantize_affine.default(%w, [4, 32], %s, none, i8, "
                              "-127, 127, f32)\n";
const std::string kGroups = std::string("%s = constant @s : f32[4,1]\n") +
                            "%d = torchao.dequantize_affine.default(%w, [1, 32], %s, none, i8, "
                            "-127, 127, f32)\n";
const std::string kTwoUses =
    std::string("%g = aten.mul.Tensor(%f, %d)\n") + "%y = aten.linear.default(%g, %d, %b)\n";

INSTANTIATE_TEST_SUITE_P(
    All, Declared,
    ::testing::Values(
        Case{"Static",
             kOfRows.c_str(),
             kStatic,
             kLinear,
             {made("b@made_int32"), "^s$", "^s#times_0x1p-1$", "^w$"}},
        Case{"StaticOfOneScale",
             kOneScale.c_str(),
             kStatic,
             kLinear,
             {made("b@made_int32"), "^s#times_0x1p-1x4$", "^s#x4$", "^w$"}},
        Case{"Dynamic", kOfRows.c_str(), kDynamic, kLinear, {"^b$", "^s$", "^w$"}},
        Case{"DynamicOfOneScale", kOneScale.c_str(), kDynamic, kLinear, {"^b$", "^s#x4$", "^w$"}},
        Case{"Mixed", kOfRows.c_str(), kFloats, kLinear, {made("b@made_unscaled"), "^s$", "^w$"}},
        Case{"MixedOfRowsAsBlocks",
             kGroups.c_str(),
             kFloats,
             kLinear,
             {made("b@made_unscaled"), "^s$", "^w$"}},
        Case{"AlsoInFloats",
             kOfRows.c_str(),
             kFloats,
             kTwoUses.c_str(),
             {made("b@made_unscaled"), "^s$", "^w$", made("w@made_float")}}),
    [](const ::testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

// A level that a symmetric range lacks stands one beside its lowest; others stand further off.
TEST(TensorQuant, TakesTheWholeRangeOrASymmetricOne) {
  const std::pair<const char*, bool> cases[] = {
      {"-128, 127", true}, {"-127, 127", true}, {"-126, 127", false}, {"-127, 126", false}};
  for (const auto& [range, is_taken] : cases) {
    const auto partition = parse_partition(
        std::string("method @forward(%x: f32[4]) {\n"
                    "%q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 0, ") +
            range + ", i8)\nreturn %q }",
        [](int64_t) { return 1; });
    ASSERT_NE(partition, nullptr);
    EXPECT_EQ(tensor_quant(*partition->node_pointers().front()).has_value(), is_taken) << range;
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
