// SPDX-License-Identifier: Apache-2.0
#include "exir/import/zip_archive.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/import/crc32.h"
#include "exir/import/test_archive.h"

namespace petrel::exir {
namespace {

absl::Span<const uint8_t> span_of(const std::string& bytes) {
  return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string text_of(absl::Span<const uint8_t> bytes) {
  return std::string(bytes.begin(), bytes.end());
}

std::vector<TestMember> small_members() {
  return {{"m/archive_format", "pt2"},
          {"m/data/a", "first"},
          {"m/data/empty", ""},
          {"m/b", "second one"}};
}

void expect_refused(const std::vector<TestMember>& members, const std::string& message) {
  const std::string bytes = write_zip(members);
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_FALSE(zip.ok()) << message;
  EXPECT_TRUE(absl::StrContains(zip.status().message(), message)) << zip.status();
}

TEST(ZipArchive, GivesSlicesWithoutTheRootFolder) {
  const std::string bytes = write_zip(small_members());
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_EQ(zip->names(),
            (std::vector<std::string>{"archive_format", "b", "data/a", "data/empty"}));
  const auto a = zip->read("data/a");
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(text_of(*a), "first");
  const char* begin = reinterpret_cast<const char*>(a->data());
  EXPECT_GE(begin, bytes.data());
  EXPECT_LT(begin, bytes.data() + bytes.size());
  EXPECT_EQ(zip->read("data/empty")->size(), 0u);
  EXPECT_EQ(zip->read("data/c").status().code(), absl::StatusCode::kNotFound);
}

TEST(ZipArchive, FindsTheRootUnderAddedFolders) {
  const std::string bytes =
      write_zip({{"x/y/archive_format", "pt2"}, {"x/y/models/m.json", "{}"}, {"x/other", "z"}});
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_TRUE(zip->contains("models/m.json"));
  EXPECT_FALSE(zip->contains("other"));
}

TEST(ZipArchive, ReadsWhatTheExporterWrites) {
  const std::string bytes = read_file("test/models/fixtures/torch_2_13/conv_bn_relu.pt2");
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  for (const std::string& name : zip->names()) {
    EXPECT_TRUE(zip->read(name).ok()) << zip->read(name).status();
  }
  EXPECT_EQ(text_of(*zip->read("archive_format")), "pt2");
}

TEST(ZipArchive, RefusesCompressedMembers) {
  auto members = small_members();
  members[1].method = 8;
  const std::string bytes = write_zip(members);
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_TRUE(absl::StrContains(zip->read("data/a").status().message(),
                                "member 'data/a' is compressed; save the program again"));
  EXPECT_TRUE(zip->read("b").ok());
}

TEST(ZipArchive, RefusesEncryptedMembers) {
  auto members = small_members();
  members[1].flags = 1;
  expect_refused(members, "member 'm/data/a' is encrypted");
}

TEST(ZipArchive, RefusesDuplicateNames) {
  auto members = small_members();
  members.push_back(members[1]);
  expect_refused(members, "member 'm/data/a' occurs twice");
}

TEST(ZipArchive, RefusesNamesThatLeaveTheArchive) {
  for (const char* name : {"/etc/passwd", "m/../../x", "..", "m\\x", "m/a\nb", "../m"}) {
    auto members = small_members();
    members[1].name = name;
    expect_refused(members, "the name of member");
  }
}

TEST(ZipArchive, RefusesSizesBeyondTheFile) {
  for (uint32_t size : {1000u, 0x7fffffffu, 0xfffffffeu}) {
    auto members = small_members();
    members[1].size = size;
    const std::string bytes = write_zip(members);
    EXPECT_FALSE(ZipArchive::open(span_of(bytes)).ok()) << size;
  }
}

// Where the directory agrees with the header, the file's length is what tells.
TEST(ZipArchive, RefusesALastMemberBeyondTheFile) {
  std::string bytes = write_zip(small_members());
  const std::string two_sizes("\x0a\0\0\0\x0a\0\0\0", 8);
  const std::string beyond("\0\0\1\0\0\0\1\0", 8);
  int changed = 0;
  for (size_t at = 0; (at = bytes.find(two_sizes, at)) != std::string::npos; ++changed) {
    bytes.replace(at, beyond.size(), beyond);
  }
  ASSERT_EQ(changed, 2);
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_FALSE(zip.ok());
  EXPECT_TRUE(absl::StrContains(zip.status().message(), "member 'm/b' is said to be 65536 bytes"))
      << zip.status();
}

TEST(ZipArchive, RefusesZip64SizesThatAreNotThere) {
  auto members = small_members();
  members[1].size = 0xffffffff;
  const std::string bytes = write_zip(members);
  EXPECT_FALSE(ZipArchive::open(span_of(bytes)).ok());
}

TEST(ZipArchive, RefusesOverlappingMembers) {
  auto members = small_members();
  // Another name, of the same length, for the header of the first member.
  TestMember twin = members[0];
  twin.name.back() = 'z';
  twin.place = 0;
  members.push_back(twin);
  expect_refused(members, "overlap");
}

TEST(ZipArchive, RefusesDamagedContentWhenItIsRead) {
  auto members = small_members();
  members[1].crc = 1;
  const std::string bytes = write_zip(members);
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_TRUE(zip->read("b").ok());
  EXPECT_EQ(zip->read("data/a").status().code(), absl::StatusCode::kDataLoss);
}

// Two of three large members are damaged, one of them in its last piece.
TEST(ZipArchive, RefusesDamagedContentAlikeWithEveryNumberOfThreads) {
  std::vector<TestMember> members = {{"m/archive_format", "pt2"}};
  for (const char* name : {"m/a", "m/b", "m/c"}) {
    members.push_back({name, std::string(5 * kCrcPieceBytes + 3, name[2])});
  }
  std::string bytes = write_zip(members);
  const size_t end_of_b = bytes.find(std::string(10, 'c'));
  bytes[bytes.rfind("bbbb", end_of_b)] = 'x';
  bytes[end_of_b] = 'x';
  std::vector<std::string> answers;
  for (const size_t threads : {1, 2, 3, 8}) {
    const auto zip = ZipArchive::open(span_of(bytes), threads);
    ASSERT_TRUE(zip.ok()) << zip.status();
    EXPECT_TRUE(zip->read("a").ok());
    EXPECT_EQ(zip->read("b").status().code(), absl::StatusCode::kDataLoss);
    answers.push_back(
        absl::StrCat(zip->read("b").status().message(), "\n", zip->read("c").status().message()));
    EXPECT_EQ(answers.back(), answers.front()) << threads << " threads";
  }
  EXPECT_TRUE(absl::StrContains(answers[0], "member 'b' is damaged, its checksum is "));
  EXPECT_TRUE(absl::StrContains(answers[0], "member 'c' is damaged, its checksum is "));
}

TEST(ZipArchive, RefusesWhatIsNoArchive) {
  for (const std::string& bytes : {std::string(), std::string("P"), std::string("PK\5\6"),
                                   std::string(22, '\0'), std::string(100000, 'x')}) {
    EXPECT_FALSE(ZipArchive::open(span_of(bytes)).ok());
  }
}

// As numpy.savez() without arrays writes it.
TEST(ZipArchive, OpensOneWithoutMembers) {
  const std::string bytes = "PK\5\6" + std::string(18, '\0');
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_TRUE(zip->names().empty());
  EXPECT_EQ(zip->read("x.npy").status().code(), absl::StatusCode::kNotFound);
  std::string damaged = bytes;
  damaged[10] = 1;  // A member, of which nothing else tells.
  EXPECT_FALSE(ZipArchive::open(span_of(damaged)).ok());
}

void expect_refused_bytes(const std::string& bytes, const std::string& message) {
  const auto zip = ZipArchive::open(span_of(bytes));
  ASSERT_FALSE(zip.ok()) << message;
  EXPECT_TRUE(absl::StrContains(zip.status().message(), message)) << zip.status();
}

TEST(ZipArchive, NamesWhatIsWrongWithTheDirectory) {
  const std::string bytes = write_zip(small_members());
  expect_refused_bytes(bytes + "x", "is not a zip archive, or its end is missing");
  // Where the directory is said to be.
  std::string changed = bytes;
  changed[bytes.size() - 3] = 1;
  EXPECT_EQ(ZipArchive::open(span_of(changed)).status().message(), "is not a zip archive");
  // The first two bytes of the third entry.
  const std::string entry("PK\1\2", 4);
  size_t third = bytes.find(entry);
  for (int i = 0; i < 2; ++i) third = bytes.find(entry, third + 1);
  changed = bytes;
  changed[third] = 'Q';
  expect_refused_bytes(changed, "the zip directory is damaged behind entry 2 of 4");
  // The two sizes of its content, the first of which is what is stored.
  changed = bytes;
  changed[bytes.find(entry) + 20] = 4;
  expect_refused_bytes(changed, "member 'm/archive_format' is stored but has two sizes, 4 and 3");
}

// Its header tells of more bytes behind the name than the file has.
TEST(ZipArchive, RefusesContentBehindTheFile) {
  std::string bytes = write_zip(small_members());
  const size_t last = bytes.rfind(std::string("PK\3\4", 4));
  bytes[last + 28] = bytes[last + 29] = '\xff';
  expect_refused_bytes(bytes, "member 'm/b' is said to be 10 bytes at ");
}

// Opens and reads everything; what comes out may be an error, never a crash.
void exercise(const std::string& bytes) {
  // A copy of the exact size, so that a sanitizer sees every byte too far.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  const auto zip = ZipArchive::open(absl::MakeConstSpan(exact));
  if (!zip.ok()) {
    EXPECT_FALSE(zip.status().message().empty());
    return;
  }
  for (const std::string& name : zip->names()) {
    const auto member = zip->read(name);
    if (member.ok()) {
      EXPECT_LE(member->size(), exact.size());
    }
  }
}

TEST(ZipArchive, SurvivesEveryTruncation) {
  const std::string bytes = write_zip(small_members());
  for (size_t size = 0; size < bytes.size(); ++size) {
    exercise(bytes.substr(0, size));
    EXPECT_FALSE(ZipArchive::open(span_of(bytes.substr(0, size))).ok()) << size;
  }
}

TEST(ZipArchive, SurvivesEveryChangedByte) {
  const std::string bytes = write_zip(small_members());
  for (size_t place = 0; place < bytes.size(); ++place) {
    const int old = static_cast<uint8_t>(bytes[place]);
    for (int value : {0, 0xff, old ^ 0xff, old ^ 1, old ^ 0x80, old + 1}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      exercise(changed);
    }
  }
}

}  // namespace
}  // namespace petrel::exir
