// SPDX-License-Identifier: Apache-2.0
//
// What every system must do. test/sdk/machines also compiles it for Windows.

#include <gtest/gtest.h>

#ifdef __linux__
#include <fcntl.h>
#endif

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/platform/aligned_memory.h"
#include "runtime/platform/file.h"
#include "runtime/platform/glob.h"
#include "runtime/platform/heap_size.h"
#include "runtime/platform/pages.h"
#include "runtime/platform/private_file.h"
#include "runtime/platform/random_bytes.h"
#include "runtime/platform/this_machine.h"

namespace petrel::runtime {
namespace {

// A name that no code page of one byte has in full: "Gewicht-ä-重み".
constexpr char kName[] = u8"Gewicht-\u00e4-\u91cd\u307f";

std::filesystem::path path_in_folder(const std::string& name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return std::filesystem::path(folder == nullptr ? "." : folder) / std::filesystem::u8path(name);
}

std::string written(const std::string& name, const std::string& text) {
  const std::filesystem::path path = path_in_folder(name);
  std::ofstream(path, std::ios::binary) << text;
  return path.u8string();
}

std::string read_all(int fd) {
  std::string text(100, '\0');
  const int64_t got = read_at(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

TEST(AlignedMemory, IsAligned) {
  for (size_t alignment = 16; alignment <= 4096; alignment *= 2) {
    void* const memory = allocate_aligned(alignment, 3 * alignment);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    std::memset(memory, 1, 3 * alignment);
    free_aligned(memory);
  }
}

TEST(HeapSize, IsWhatWasAskedForOrMore) {
  for (size_t size = 128; size <= size_t{1} << 20; size *= 2) {
    void* const block = std::malloc(size);
    ASSERT_NE(block, nullptr);
    EXPECT_GE(heap_size(block), size);
    EXPECT_LE(heap_size(block), size + 8192);
    std::free(block);
    void* const memory = allocate_aligned(128, size);
    ASSERT_NE(memory, nullptr);
    EXPECT_GE(aligned_heap_size(memory, 128), size);
    EXPECT_LE(aligned_heap_size(memory, 128), size + 8192);
    free_aligned(memory);
  }
}

TEST(Pages, AreZerosAndStayUntilGivenBack) {
  constexpr size_t kSize = size_t{1} << 20, kPage = 65536;
  for (void* (*take)(size_t) : {&take_pages, &take_unreserved_pages}) {
    auto* const memory = static_cast<uint8_t*>(take(kSize));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(std::vector<uint8_t>(memory, memory + kSize), std::vector<uint8_t>(kSize));
    std::memset(memory, 7, kSize);
    populate_pages(memory, kSize);
    EXPECT_EQ(memory[kSize - 1], 7);
    // They hold zeros or what they held, and can be written.
    EXPECT_EQ(clear_pages(memory + kPage, kPage) ? 0 : 7, memory[kPage]);
    drop_pages(memory + 2 * kPage, kPage);
    memory[2 * kPage] = 5;
    EXPECT_EQ(memory[2 * kPage], 5);
    EXPECT_EQ(memory[kPage - 1], 7);
    EXPECT_EQ(memory[3 * kPage], 7);
    give_back_pages(memory, kSize);
  }
}

TEST(Pages, NoneWithoutRoom) { EXPECT_EQ(take_pages(SIZE_MAX / 4), nullptr); }

TEST(Pages, OfAFileHoldItsBytes) {
  const std::string text(200'000, 'x');
  const int fd = open_to_read(written("mapped", text + "end").c_str());
  ASSERT_GE(fd, 0);
  const auto* const bytes = static_cast<const char*>(map_file(fd, text.size() + 3));
  close_file(fd);
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(std::string(bytes, text.size() + 3), text + "end");
  forget_pages(bytes, text.size());
  EXPECT_EQ(std::string(bytes + text.size(), 3), "end");
  EXPECT_EQ(bytes[0], 'x');
  bring_pages(bytes, text.size() + 3);
  EXPECT_EQ(std::string(bytes, text.size() + 3), text + "end");
  unmap_file(bytes, text.size() + 3);
}

TEST(RandomBytes, Differ) {
  uint8_t first[1000] = {}, second[1000] = {};
  ASSERT_TRUE(random_bytes(first, sizeof(first)));
  ASSERT_TRUE(random_bytes(second, sizeof(second)));
  EXPECT_NE(std::memcmp(first, second, sizeof(first)), 0);
  EXPECT_NE(std::memcmp(first + 500, second + 500, 500), 0);
}

TEST(File, IsReadByRangesUnderAnyName) {
  const int fd = open_to_read(written(kName, "0123\r\n6789").c_str());
  ASSERT_GE(fd, 0);
  char bytes[4] = {};
  EXPECT_EQ(read_at(fd, bytes, 4, 3), 4);
  EXPECT_EQ(std::string(bytes, 4), "3\r\n6");
  EXPECT_EQ(read_at(fd, bytes, 4, 8), 2);
  EXPECT_EQ(read_at(fd, bytes, 4, 10), 0);
  EXPECT_EQ(read_at(fd, bytes, 4, 11), 0);
  const int other = duplicate_file(fd);
  ASSERT_GE(other, 0);
  close_file(fd);
  EXPECT_EQ(read_all(other), "0123\r\n6789");
  close_file(other);
}

TEST(File, SaysWhyItCannotBeOpened) {
  errno = 0;
  EXPECT_EQ(open_to_read(path_in_folder("not there").u8string().c_str()), -1);
  EXPECT_EQ(errno, ENOENT);
  errno = 0;
  EXPECT_EQ(open_to_read("\xff\xfe"), -1);
  EXPECT_NE(errno, 0);
  FileState state;
  errno = 0;
  EXPECT_FALSE(read_state(12345, &state));
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(duplicate_file(12345), -1);
}

TEST(File, HasSizeAndTimes) {
  const std::string path = written("timed", "abc");
  const int fd = open_to_read(path.c_str());
  const int twin = open_to_read(path.c_str());
  const int other = open_to_read(written("other", "abc").c_str());
  FileState state, of_twin, of_other;
  ASSERT_TRUE(read_state(fd, &state));
  ASSERT_TRUE(read_state(twin, &of_twin));
  ASSERT_TRUE(read_state(other, &of_other));
  EXPECT_TRUE(state.is_regular);
  EXPECT_EQ(state.size, 3u);
  EXPECT_EQ(state.number, of_twin.number);
  EXPECT_EQ(state.device, of_other.device);
  EXPECT_NE(state.number, of_other.number);
  const auto now = static_cast<uint64_t>(std::time(nullptr));
  EXPECT_NEAR(static_cast<double>(state.modified_ns) / 1e9, static_cast<double>(now), 100);
  EXPECT_NEAR(static_cast<double>(state.changed_seconds), static_cast<double>(now), 100);
  EXPECT_LT(state.changed_ns, 1'000'000'000u);
  std::ofstream(std::filesystem::u8path(path), std::ios::binary | std::ios::app) << "d";
  ASSERT_TRUE(read_state(fd, &of_twin));
  EXPECT_EQ(of_twin.size, 4u);
  for (const int one : {fd, twin, other}) close_file(one);
}

TEST(PrivateFile, ReplacesTheOldOneAtOnce) {
  const std::string path = path_in_folder(std::string(kName) + ".private").u8string();
  const char* reason = "";
  EXPECT_EQ(open_private(path.c_str(), &reason), -1);
  EXPECT_EQ(reason, nullptr);
  for (const std::string text : {"first", "second"}) {
    NewPrivateFile file(path);
    ASSERT_TRUE(file.is_open()) << std::strerror(errno);
    ASSERT_TRUE(file.write(text.data(), text.size()));
    ASSERT_TRUE(file.put_in_place()) << std::strerror(errno);
    const int fd = open_private(path.c_str(), &reason);
    ASSERT_GE(fd, 0) << reason;
    EXPECT_EQ(read_all(fd), text);
    close_file(fd);
  }
}

TEST(PrivateFile, IsGoneUnlessPutInPlace) {
  const std::filesystem::path folder = path_in_folder("beside");
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "file").u8string();
  {
    NewPrivateFile file(path);
    ASSERT_TRUE(file.is_open());
    ASSERT_TRUE(file.write("x", 1));
#ifdef O_TMPFILE
    // Nothing to be left where the process is killed.
    const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR, 0600);
    if (unnamed >= 0) {
      EXPECT_TRUE(std::filesystem::is_empty(folder));
      close_file(unnamed);
    }
#endif
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(PrivateFile, IsRefusedWhereOthersMayRead) {
  const std::filesystem::path path = std::filesystem::u8path(written("open", "x"));
  std::filesystem::permissions(path, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const char* reason = nullptr;
  EXPECT_EQ(open_private(path.u8string().c_str(), &reason), -1);
  ASSERT_NE(reason, nullptr);
  EXPECT_NE(std::string(reason).find("is open to other users"), std::string::npos) << reason;
}

TEST(Glob, MatchesAsFileNames) {
  struct Row {
    const char* glob;
    const char* text;
    bool is_match;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"", "", true},
           {"", "a", false},
           {"*", "", true},
           {"*", "a.b/c", true},
           {"a*c", "abc", true},
           {"a*c", "abcd", false},
           {"*lora*", "x.lora_a", true},
           {"*ab*ab", "abxab", true},
           {"*ab*ab", "ab", false},
           {"?", "a", true},
           {"?", "", false},
           {"a?c", "abc", true},
           {"[a-c]x", "bx", true},
           {"[a-c]x", "dx", false},
           {"[!a-c]x", "dx", true},
           {"[!a-c]x", "ax", false},
           {"[]]", "]", true},
           {"[a-]", "-", true},
           {"[ab", "[ab", true},
           {"[", "[", true},
           {"\\a", "\\a", true},
           {"a**b", "ab", true},
           {"*[0-9]", "w12", true},
           {"*[0-9]", "w12x", false},
       }) {
    EXPECT_EQ(matches_glob(row.glob, row.text), row.is_match) << row.glob << " " << row.text;
  }
}

TEST(ThisMachine, SaysWhatItIs) {
  EXPECT_FALSE(describe_processors().empty());
  EXPECT_EQ(describe_processors(), describe_processors());
  FileState state;
  ASSERT_TRUE(read_binary_state(reinterpret_cast<const void*>(&describe_processors), &state));
  EXPECT_TRUE(state.is_regular);
  EXPECT_GT(state.size, 10'000u);
}

}  // namespace
}  // namespace petrel::runtime
