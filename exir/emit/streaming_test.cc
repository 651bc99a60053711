// SPDX-License-Identifier: Apache-2.0
//
// More data than memory passes through: buffers are made, hashed and written one
// by one.
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/emit/flat_data_writer.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr size_t kBlobBytes = size_t{32} << 20;
constexpr size_t kBlobs = 16;

// The most memory that this process has held, in bytes.
uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

TEST(Streaming, HoldsAFewBuffersAndNotTheFile) {
  const uint64_t before = peak_bytes();
  ASSERT_GT(before, 0u);
  NamedBlobStore store;
  for (size_t i = 0; i < kBlobs; ++i) {
    const Blob blob = Blob::produced(kBlobBytes, [i](absl::Span<uint8_t> out) {
      std::memset(out.data(), static_cast<int>(i + 1), out.size());
    });
    ASSERT_TRUE(*store.add_named_blob(absl::StrCat("k", i), blob, 16, "w.ptd"));
  }
  uint64_t written = 0;
  const auto size =
      write_flat_data(store.destinations().at("w.ptd"), 128, [&](absl::Span<const uint8_t> bytes) {
        written += bytes.size();
        return absl::OkStatus();
      });
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(written, *size);
  EXPECT_GE(written, kBlobs * kBlobBytes);
  // What hashing may keep, a buffer in work and a little.
  const uint64_t grown = peak_bytes() - before;
  EXPECT_LT(grown, Blob::kMostKept + 3 * kBlobBytes) << grown;
  printf("%zu MB passed through %zu MB of memory\n", static_cast<size_t>(written >> 20),
         static_cast<size_t>(grown >> 20));
}

}  // namespace
}  // namespace petrel::exir
