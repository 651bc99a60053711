// SPDX-License-Identifier: Apache-2.0
//
// The additions of a program, petrel.program, damaged where its lists of texts are: they are
// counted before all of it is verified.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "schema/additions_generated.h"
#include "test/faults/attack.h"

namespace petrel::faults {
namespace {

namespace add = schema::additions;

std::string refusal(std::vector<uint8_t> additions) {
  const QuietLog quiet;
  Recipe recipe;
  recipe.named_data.emplace_back("petrel.program", static_cast<uint32_t>(recipe.segments.size()));
  recipe.segments.push_back(std::move(additions));
  EXPECT_EQ(run(recipe).load, Error::InvalidProgram);
  return QuietLog::last();
}

constexpr char kDamaged[] = "named data petrel.program is not a valid flatbuffer: it is damaged";

std::string too_many_parts(size_t bytes) {
  return "named data petrel.program refers to its own parts too often: more than the " +
         std::to_string(bytes) + " bytes it has";
}

// `times` methods, which are one, whose `names` names are one.
std::vector<uint8_t> with_names(size_t times, size_t names) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<flatbuffers::Offset<flatbuffers::String>> texts(names,
                                                                    builder.CreateString("name"));
  const auto list = builder.CreateVector(texts);
  const std::vector<flatbuffers::Offset<add::MethodAdditions>> methods(
      times, add::CreateMethodAdditions(builder, 0, 0, 0, list));
  add::FinishAdditionsBuffer(builder,
                             add::CreateAdditions(builder, 0, builder.CreateVector(methods)));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// The list of methods begins with its length.
uint8_t* last_method(std::vector<uint8_t>& bytes, size_t times) {
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    if (flatbuffers::ReadScalar<uint32_t>(&bytes[at]) == times) return &bytes[at + 4 * times];
  }
  ADD_FAILURE() << "no list of " << times;
  return nullptr;
}

TEST(DamagedAdditions, AreRefusedAsAWhole) {
  std::vector<uint8_t> bytes = with_names(1, 1);
  const std::string name = "name";
  const auto text = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  ASSERT_NE(text, bytes.end());
  flatbuffers::WriteScalar<uint32_t>(&*text - 4, uint32_t{1} << 20);
  EXPECT_EQ(refusal(bytes), kDamaged);
}

TEST(DamagedAdditions, ThatShareTheirTextsAreCounted) {
  EXPECT_EQ(refusal(with_names(1000, 1001)), too_many_parts(with_names(1000, 1001).size()));
}

// The last of half a million methods is none; each of the others has half a million texts.
TEST(DamagedAdditions, ThatShareTheirTextsAreRefusedAtOnce) {
  constexpr size_t kTimes = size_t{1} << 19;
  std::vector<uint8_t> bytes = with_names(kTimes, kTimes + 1);
  uint8_t* const last = last_method(bytes, kTimes);
  ASSERT_NE(last, nullptr);
  flatbuffers::WriteScalar<uint32_t>(last, UINT32_MAX);
  EXPECT_EQ(refusal(bytes), too_many_parts(bytes.size()));
}

}  // namespace
}  // namespace petrel::faults
