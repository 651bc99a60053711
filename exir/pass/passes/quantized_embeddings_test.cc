// SPDX-License-Identifier: Apache-2.0
//
// test/eager/passes has what tables of all widths give.
#include "exir/pass/passes/quantized_embeddings.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

// Bytes of `level`; all else holds zeros.
std::unique_ptr<Graph> parse(const std::string& body, uint8_t level) {
  auto graph = parse_graph(
      "method @m(%i: i64[3]) {\n" + body + "}",
      [](absl::string_view name) { return find_op(name); },
      [&](const std::string& fqn, const TensorType& type) {
        auto constant = std::make_shared<Constant>();
        constant->fqn = fqn;
        constant->type = type;
        const uint8_t byte = fqn == "q" ? level : 0;
        constant->data =
            Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes()), byte));
        return constant;
      });
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : nullptr;
}

std::string table(const std::string& block, const std::string& levels, const std::string& weight) {
  return "%q = constant @q : i8[5,8]\n%s = constant @s : f32[5,2]\n%z = constant @z : i8[5,2]\n"
         "%w = torchao.dequantize_affine.default(%q, " +
         block + ", %s, %z, i8, " + levels + ", f32)\n%y = aten.embedding.default(" + weight +
         ", %i, -1, false, false)\nreturn %y\n";
}

// The same with scales and rows of bfloat16.
std::string of_bfloat16(std::string body) {
  for (const std::string from : {"f32[5,2]", "f32)"}) {
    body.replace(body.find(from), 3, "bf16");
  }
  return body;
}

std::string after(const std::string& body, uint8_t level) {
  const auto graph = parse(body, level);
  if (graph == nullptr) return "";
  const auto changed = quantized_embeddings(*graph, PassContext());
  return changed.ok() ? print_graph(*graph) : std::string(changed.status().message());
}

TEST(QuantizedEmbeddings, LookUpRowsOfPackedTables) {
  EXPECT_THAT(after(table("[1, 4]", "-8, 7", "%w"), 7),
              HasSubstr("constant @\"q#4bit\" : u8[5,4]"));
  EXPECT_THAT(after(table("[1, 4]", "-2, 1", "%w"), 1),
              HasSubstr("constant @\"q#2bit\" : u8[5,2]"));
  EXPECT_THAT(after(table("[1, 4]", "-128, 127", "%w"), 9),
              HasSubstr("embedding_byte.default(%q, %s, none, -128, 127, %i)"));
}

TEST(QuantizedEmbeddings, RoundTheRowsThatAreLookedUpToBfloat16) {
  const std::string text = after(of_bfloat16(table("[1, 4]", "-8, 7", "%w")), 7);
  EXPECT_THAT(text, HasSubstr("embedding_4bit.default("));
  EXPECT_THAT(text, HasSubstr(": f32[3,8]"));
  EXPECT_THAT(text, HasSubstr(": bf16[3,8]"));
}

TEST(QuantizedEmbeddings, RefuseLevelsThatTheProgramRulesOut) {
  const std::string text = after(table("[1, 4]", "-8, 7", "%w"), 8);
  EXPECT_THAT(text, HasSubstr("(aten.embedding.default)"));
  EXPECT_THAT(text, HasSubstr("table 'q' has the level 8, must be in [-8, 7]"));
}

TEST(QuantizedEmbeddings, LeaveBlocksOfSeveralRows) {
  const std::string body =
      "%q = constant @q : i8[5,8]\n%s = constant @s : f32[1,2]\n"
      "%w = torchao.dequantize_affine.default(%q, [5, 4], %s, none, i8, -8, 7, f32)\n"
      "%y = aten.embedding.default(%w, %i, -1, false, false)\nreturn %y\n";
  EXPECT_THAT(after(body, 7), HasSubstr("aten.embedding.default(%w"));
}

// As the quantiser of embeddings makes them; the wheel dequantises no channels by such zero points.
TEST(QuantizedEmbeddings, TakesBytesWithZeroPointsThatAreFloats) {
  const std::string text = after(
      "%q = constant @q : u8[5,8]\n%s = constant @s : f32[5]\n%z = constant @z : f32[5]\n"
      "%w = quantized_decomposed.dequantize_per_channel.default(%q, %s, %z, 0, 0, 255, u8, none)\n"
      "%y = aten.embedding.default(%w, %i, -1, false, false)\nreturn %y\n",
      200);
  EXPECT_THAT(text, HasSubstr("quantized_decomposed.embedding_byte.default(%q, "));
  EXPECT_THAT(text, HasSubstr(", 0, 255, %i)"));
}

}  // namespace
}  // namespace petrel::exir
