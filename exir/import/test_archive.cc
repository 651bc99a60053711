// SPDX-License-Identifier: Apache-2.0
#include "exir/import/test_archive.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "exir/import/mapped_file.h"
#include "exir/import/zip_archive.h"

namespace petrel::exir {
namespace {

void put(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i, value >>= 8) {
    out->push_back(static_cast<char>(value & 0xff));
  }
}

uint32_t crc_of(const std::string& bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Version needed to the uncompressed size: what both headers share.
void put_common(const TestMember& member, bool in_directory, std::string* out) {
  const auto size = static_cast<uint32_t>(member.bytes.size());
  const uint32_t shown = in_directory ? member.size.value_or(size) : size;
  put(0, 2, out);
  put(member.flags, 2, out);
  put(member.method, 2, out);
  put(0, 4, out);  // time and date
  put(member.crc.value_or(crc_of(member.bytes)), 4, out);
  put(shown, 4, out);
  put(shown, 4, out);
  put(member.name.size(), 2, out);
}

}  // namespace

std::string write_zip(const std::vector<TestMember>& members) {
  std::string out;
  std::string directory;
  for (const TestMember& member : members) {
    const size_t place = out.size();
    put(0x04034b50, 4, &out);
    put_common(member, /*in_directory=*/false, &out);
    // Pads the content to a multiple of 16.
    const size_t padding = (16 - (out.size() + 2 + member.name.size()) % 16) % 16;
    put(padding, 2, &out);
    out += member.name;
    out.append(padding, 'Z');
    out += member.bytes;

    put(0x02014b50, 4, &directory);
    put(0, 2, &directory);  // version made by
    put_common(member, /*in_directory=*/true, &directory);
    put(0, 2 + 2 + 2 + 2 + 4, &directory);
    put(member.place.value_or(static_cast<uint32_t>(place)), 4, &directory);
    directory += member.name;
  }
  const size_t place = out.size();
  out += directory;
  put(0x06054b50, 4, &out);
  put(0, 4, &out);
  put(members.size(), 2, &out);
  put(members.size(), 2, &out);
  put(directory.size(), 4, &out);
  put(place, 4, &out);
  put(0, 2, &out);
  return out;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string write_test_file(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::string without_metadata(std::string text) {
  size_t place = 0;
  while ((place = text.find("\"metadata\": {\"", place)) != std::string::npos) {
    const size_t open = place + 12;
    size_t end = open + 1;
    bool quoted = false;
    while (quoted || text[end] != '}') {
      if (text[end] == '\\') {
        ++end;
      } else if (text[end] == '"') {
        quoted = !quoted;
      }
      ++end;
    }
    text.erase(open + 1, end - open - 1);
    place = open;
  }
  return text;
}

TestArchive TestArchive::of(const std::string& path) {
  TestArchive archive;
  const auto file = MappedFile::open(path);
  EXPECT_TRUE(file.ok()) << path << ": " << file.status();
  if (!file.ok()) return archive;
  const auto zip = ZipArchive::open((*file)->bytes());
  EXPECT_TRUE(zip.ok()) << path << ": " << zip.status();
  if (!zip.ok()) return archive;
  for (const std::string& name : zip->names()) {
    const auto bytes = zip->read(name);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    TestMember member;
    member.name = "m/" + name;
    member.bytes.assign(bytes->begin(), bytes->end());
    archive.members_.push_back(std::move(member));
  }
  return archive;
}

TestMember& TestArchive::member(const std::string& suffix) {
  for (TestMember& member : members_) {
    if (absl::EndsWith(member.name, suffix)) return member;
  }
  ADD_FAILURE() << "no member " << suffix;
  members_.emplace_back();
  return members_.back();
}

void TestArchive::remove(const std::string& suffix) {
  const auto end = std::remove_if(members_.begin(), members_.end(), [&](const TestMember& member) {
    return absl::EndsWith(member.name, suffix);
  });
  EXPECT_NE(end, members_.end()) << "no member " << suffix;
  members_.erase(end, members_.end());
}

void TestArchive::edit(const std::string& suffix, const std::string& from, const std::string& to) {
  std::string& text = member(suffix).bytes;
  const size_t place = text.find(from);
  ASSERT_NE(place, std::string::npos) << "no " << from;
  text.replace(place, from.size(), to);
}

std::string TestArchive::save(const std::string& name) const {
  return write_test_file(name + ".pt2", bytes());
}

}  // namespace petrel::exir
