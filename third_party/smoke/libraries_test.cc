// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <openssl/sha.h>
#include <rapidjson/document.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "flatbuffers/flatbuffers.h"
#include "third_party/smoke/point_generated.h"

namespace {

TEST(LibrariesTest, AbseilLinks) {
  absl::flat_hash_map<std::string, int> map;
  map["a"] = 1;
  absl::StatusOr<int> value = absl::NotFoundError(absl::StrCat("b", 2));
  EXPECT_EQ(value.status().message(), "b2");
  EXPECT_EQ(map.at("a"), 1);
  EXPECT_GT(absl::ToUnixSeconds(absl::Now()), 0);
}

TEST(LibrariesTest, FlatcMakesHeadersThatRoundTrip) {
  flatbuffers::FlatBufferBuilder builder;
  petrel::smoke::FinishPointBuffer(builder, petrel::smoke::CreatePointDirect(builder, 7, "seven"));
  flatbuffers::Verifier verifier(builder.GetBufferPointer(), builder.GetSize());
  ASSERT_TRUE(petrel::smoke::VerifyPointBuffer(verifier));
  const auto* point = petrel::smoke::GetPoint(builder.GetBufferPointer());
  EXPECT_EQ(point->x(), 7);
  EXPECT_THAT(point->name()->str(), ::testing::StrEq("seven"));
}

TEST(LibrariesTest, MinizipReadsWhatItWrote) {
  const std::string path = ::testing::TempDir() + "/smoke.zip";
  zipFile out = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  ASSERT_NE(out, nullptr);
  ASSERT_EQ(zipOpenNewFileInZip(out, "entry", nullptr, nullptr, 0, nullptr, 0, nullptr, 0, 0),
            ZIP_OK);
  ASSERT_EQ(zipWriteInFileInZip(out, "bytes", 5), ZIP_OK);
  ASSERT_EQ(zipCloseFileInZip(out), ZIP_OK);
  ASSERT_EQ(zipClose(out, nullptr), ZIP_OK);

  unzFile in = unzOpen64(path.c_str());
  ASSERT_NE(in, nullptr);
  ASSERT_EQ(unzLocateFile(in, "entry", 1), UNZ_OK);
  ASSERT_EQ(unzOpenCurrentFile(in), UNZ_OK);
  char bytes[8] = {};
  EXPECT_EQ(unzReadCurrentFile(in, bytes, sizeof(bytes)), 5);
  EXPECT_STREQ(bytes, "bytes");
  unzCloseCurrentFile(in);
  unzClose(in);
}

TEST(LibrariesTest, CryptoHashesEmptyStringToKnownDigest) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(nullptr, 0, digest);
  EXPECT_EQ(digest[0], 0xe3);
  EXPECT_EQ(digest[31], 0x55);
}

TEST(LibrariesTest, RapidJsonParses) {
  rapidjson::Document document;
  document.Parse("{\"x\": [1, 2]}");
  ASSERT_FALSE(document.HasParseError());
  EXPECT_EQ(document["x"][1].GetInt64(), 2);
}

TEST(LibrariesTest, NlohmannJsonPrints) {
  const nlohmann::json json = {{"x", {1, 2}}};
  EXPECT_EQ(json.dump(), R"({"x":[1,2]})");
}

TEST(LibrariesTest, Cli11Parses) {
  CLI::App app;
  int n = 0;
  app.add_option("-n", n);
  app.parse("-n 3");
  EXPECT_EQ(n, 3);
}

// Lanes may be used only where the compiler is told what the target has.
HWY_ATTR float add_lanes(float a, float b) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  return hn::GetLane(hn::Add(hn::Set(d, a), hn::Set(d, b)));
}

TEST(LibrariesTest, HighwayAddsLanes) { EXPECT_EQ(add_lanes(1.5f, 2.0f), 3.5f); }

TEST(LibrariesTest, BenchmarkLinks) {
  EXPECT_FALSE(benchmark::ReportUnrecognizedArguments(0, nullptr));
}

}  // namespace
