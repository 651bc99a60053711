// SPDX-License-Identifier: Apache-2.0
//
// Changes each part of the JSON of small archives, and counts with which words they are
// refused. A check that is lost, or that another one comes before, changes the counts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/import/import.h"
#include "exir/import/test_archive.h"
#include "exir/import/test_fixtures.h"
#include "test/fuzz/memory_file.h"
#include "test/refusals/json_damage.h"
#include "test/refusals/refusal_counts.h"

namespace petrel::exir {
namespace {

// "f32[2,s0]" as "type": which one it is says nothing about the check.
std::string without_types(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '[') {
      out += text[i];
      continue;
    }
    const size_t name = out.find_last_not_of("abcdefghijklmnopqrstuvwxyz0123456789") + 1;
    const size_t end = text.find(']', i);
    if (name == out.size() || end == std::string::npos) {
      out += text[i];
      continue;
    }
    out.resize(name);
    out += "type";
    i = end;
  }
  return out;
}

// What is wrong, without where it is, and without the values that rules and checksums add.
std::string reason_of(std::string message) {
  message = message.substr(0, message.find(", when '"));
  message = message.substr(0, message.find(", its checksum is "));
  const size_t place = message.rfind(": ");
  return without_types(place == std::string::npos ? message : message.substr(place + 2));
}

// What the importer says of the file.
std::string refusal_of(const std::string& bytes) {
  static fuzz::MemoryFile file;
  const std::string path = file.write(bytes.data(), bytes.size());
  const absl::Status status = import_pt2(path, "forward").status();
  if (status.ok()) return "";
  EXPECT_TRUE(absl::StartsWith(status.message(), path + ": ")) << status.message();
  return reason_of(std::string(status.message()));
}

TestArchive small_archive(const std::string& path) {
  TestArchive archive = TestArchive::of(path);
  std::string& program = archive.member("models/model.json").bytes;
  program = without_metadata(program);
  archive.remove("data/sample_inputs/model.pt");
  return archive;
}

std::string table(const std::string& name) {
  return absl::StrCat("test/refusals/archives/", name, ".txt");
}

void count(const std::string& name, const std::vector<std::string>& paths) {
  refusals::RefusalCounts counts(table(name));
  refusals::JsonDamage damage;
  for (const std::string& path : paths) {
    TestArchive archive = small_archive(path);
    for (const char* member :
         {"models/model.json", "model_weights_config.json", "model_constants_config.json"}) {
      std::string& text = archive.member(member).bytes;
      const std::string whole = text;
      damage.each(whole, [&](const std::string& changed) {
        text = changed;
        counts.add(member, refusal_of(archive.bytes()));
      });
      text = whole;
    }
  }
  counts.expect_as_recorded();
}

std::string varying(const std::string& name) {
  return absl::StrCat("test/models/varying/", name, ".pt2");
}

std::string complex(const std::string& name) {
  return absl::StrCat("test/models/complex/", name, ".pt2");
}

TEST(RefusalCounts, OfState) {
  count("state",
        {own_fixture("state_beside"), own_fixture("writes_state"), own_fixture("writes_input"),
         shared_fixture("conv_bn_relu"), shared_fixture("buffer_mutation_functional"),
         shared_fixture("input_mutation"), shared_fixture("constants"),
         shared_fixture("transposed_parameter"), shared_fixture("prim_inputs"),
         shared_fixture("in_place"), own_fixture("views"), own_fixture("strided_rows")});
}

TEST(RefusalCounts, OfRegions) {
  count("regions", {own_fixture("no_grad"), own_fixture("autocast_off"),
                    own_fixture("numbers_in_region"), own_fixture("checked_inverse"),
                    shared_fixture("condition"), varying("map_rows"), varying("scan_rows")});
}

TEST(RefusalCounts, OfLoops) { count("loops", {varying("while_bound")}); }

TEST(RefusalCounts, OfSizes) {
  count("sizes",
        {own_fixture("mask"), own_fixture("nonzero"), own_fixture("scaled_sizes"),
         own_fixture("promotes"), shared_fixture("int_inputs"), shared_fixture("dynamic_derived"),
         varying("found_places"), varying("mask_rows"), varying("returned_numbers")});
}

TEST(RefusalCounts, OfNumbers) { count("numbers", {varying("powers"), varying("numbers")}); }

TEST(RefusalCounts, OfCallsWithOut) { count("outs", {varying("outs")}); }

TEST(RefusalCounts, OfComplexNumbers) {
  count("complex", {complex("spectrogram"), complex("mixing"), complex("operator")});
}

// The headers of a member that is stored, and its name.
TEST(RefusalCounts, OfMembers) {
  refusals::RefusalCounts counts(table("members"));
  const std::string kPath = own_fixture("state_beside");
  const auto change = [&](const char* name, const char* what, const auto& how) {
    TestArchive archive = small_archive(kPath);
    how(archive.member(name));
    counts.add(absl::StrCat(name, ", ", what), refusal_of(archive.bytes()));
  };
  for (const char* name : {"archive_format", "archive_version", "byteorder", "models/model.json",
                           "model_weights_config.json", "weight_0"}) {
    change(name, "compressed", [](TestMember& member) { member.method = 8; });
    change(name, "encrypted", [](TestMember& member) { member.flags = 1; });
    change(name, "another checksum", [](TestMember& member) { member.crc = 1; });
    change(name, "no content", [](TestMember& member) { member.bytes.clear(); });
    change(name, "long content", [](TestMember& member) { member.bytes += std::string(99, ' '); });
    for (const uint32_t size : {0u, 1u, 1u << 20, 0xfffffffeu}) {
      change(name, "another size", [&](TestMember& member) { member.size = size; });
    }
    for (const uint32_t place : {1u, 1u << 20, 0xfffffffeu}) {
      change(name, "another place", [&](TestMember& member) { member.place = place; });
    }
    for (const char* other : {"", "/m/a", "m/../../a", "m\\a", "m/a\n", "m/x", "m/byteorder"}) {
      change(name, "another name", [&](TestMember& member) { member.name = other; });
    }
    change(name, "a long name", [](TestMember& member) { member.name += std::string(4096, 'n'); });
  }
  counts.expect_as_recorded();
}

}  // namespace
}  // namespace petrel::exir
