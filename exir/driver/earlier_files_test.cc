// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/earlier_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "exir/ir/blob.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class EarlierFilesTest : public ::testing::Test {
 protected:
  EarlierFilesTest()
      : folder_(fs::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void write_manifest(const std::string& files) const {
    write("manifest.json",
          R"({"name": "kws", "sha256": ")" + model_ + R"(", "files": {)" + files + "}}");
  }
  // A row of the manifest for a file with this text.
  static std::string row(const std::string& name, const std::string& text) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    return "\"" + name + "\": \"" + to_hex(sha256_of({bytes, text.size()})) + "\"";
  }
  bool has(const std::string& name) const { return fs::exists(folder_ / name); }

  const fs::path folder_;
  const std::string model_ = std::string(64, 'a');
};

TEST_F(EarlierFilesTest, FilesThatAreNotWrittenAgainGo) {
  write("kws.c", "int a;");
  write("kws_memory.c", "int b;");
  write_manifest(row("kws.c", "int a;") + ", " + row("kws_memory.c", "int b;"));
  const EarlierFiles earlier = EarlierFiles::read(folder_, "kws");
  write("manifest.json", "{}");  // the next run's
  EXPECT_THAT(earlier.remove_but({"kws.c"}), ElementsAre("kws_memory.c"));
  EXPECT_TRUE(has("kws.c") && has("manifest.json"));
  EXPECT_FALSE(has("kws_memory.c"));
  EXPECT_THAT(earlier.remove_but({"kws.c"}), IsEmpty());
}

TEST_F(EarlierFilesTest, FilesOfAnotherPackageStay) {
  write("kws.c", "int a;");
  write_manifest(row("kws.c", "int a;"));
  EXPECT_THAT(EarlierFiles::read(folder_, "other").remove_but({"other.c"}), IsEmpty());
  EXPECT_TRUE(has("kws.c"));
}

TEST_F(EarlierFilesTest, WhatOthersMadeStays) {
  write("changed.c", "int mine;");
  write("outside.c", "int a;");
  fs::create_directories(folder_ / "in" / "folder");
  fs::create_symlink(folder_ / "outside.c", folder_ / "in" / "link.c");
  const std::string text = "int a;", outside = folder_ / "outside.c";
  std::string rows = row("changed.c", text);
  for (const std::string& name :
       {std::string("../outside.c"), outside, std::string("link.c"), std::string("folder"),
        std::string("."), std::string(".."), std::string(), std::string("a\\u0000b")}) {
    rows += ", " + row(name, text);
  }
  write_manifest(rows);
  fs::copy_file(folder_ / "manifest.json", folder_ / "in" / "manifest.json");
  fs::copy_file(folder_ / "changed.c", folder_ / "in" / "changed.c");
  EXPECT_THAT(EarlierFiles::read(folder_ / "in", "kws").remove_but({}), IsEmpty());
  EXPECT_TRUE(has("outside.c") && has("in/link.c") && has("in/folder") && has("in/changed.c"));
}

TEST_F(EarlierFilesTest, WhatTheCompilerMadeSaysOfWhichModelItIs) {
  write_manifest("");
  write("libkws.so", "the user's, of model " + model_);
  write("kws.o", "the user's");
  EXPECT_THAT(EarlierFiles::read(folder_, "kws").remove_but({}), IsEmpty());
  std::ifstream file(folder_ / "manifest.json");
  const std::string manifest((std::istreambuf_iterator<char>(file)), {});
  write("libkws.so",
        "\x7f"
        "ELF" +
            manifest);
  write("kws.o",
        "\x7f"
        "ELF" +
            model_);
  EXPECT_THAT(EarlierFiles::read(folder_, "kws").remove_but({"kws.o"}), ElementsAre("libkws.so"));
  EXPECT_THAT(EarlierFiles::read(folder_, "kws").remove_but({}), ElementsAre("kws.o"));
}

TEST_F(EarlierFilesTest, ManifestsThatSayNothingOfFiles) {
  write("kws.mk", "x");
  EXPECT_THAT(EarlierFiles::read(folder_, "kws").remove_but({}), IsEmpty());
  EXPECT_THAT(EarlierFiles::read(folder_ / "no", "kws").remove_but({}), IsEmpty());
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"files": 1})", R"({"files": ["kws.mk"]})",
                           R"({"files": {"kws.mk": 2}})", R"({"files": {}, "name": 1})"}) {
    write("manifest.json", text);
    EXPECT_THAT(EarlierFiles::read(folder_, "kws").remove_but({}), IsEmpty()) << text;
  }
  EXPECT_TRUE(has("kws.mk"));
}

}  // namespace
}  // namespace petrel::exir
