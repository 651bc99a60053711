// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/flatbuffer_mutator.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/executor/registry.h"
#include "test/fuzz/flatbuffer_sites.h"
#include "test/fuzz/program_run.h"
#include "test/fuzz/schemas.h"

// Only libFuzzer has it.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size, size_t) { return size; }

namespace petrel::fuzz {
namespace {

using runtime::Error;

std::vector<uint8_t> golden(const char* name = "test/faults/golden/methods.pte") {
  std::ifstream file(name, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  return {chars.begin(), chars.end()};
}

size_t count(const std::vector<Site>& sites, Site::Kind kind) {
  size_t n = 0;
  for (const Site& site : sites) n += site.kind == kind ? 1 : 0;
  return n;
}

TEST(FlatbufferSitesTest, AreAllOverAProgram) {
  const std::vector<uint8_t> bytes = golden();
  const std::vector<Site> sites = find_sites(program_schema(), bytes.data(), bytes.size());
  for (const Site& site : sites) ASSERT_LE(site.position + site.width, bytes.size());
  EXPECT_GT(count(sites, Site::Kind::kNumber), 100u);
  EXPECT_GT(count(sites, Site::Kind::kUnion), 10u);
  EXPECT_GT(count(sites, Site::Kind::kOffset), 50u);
  EXPECT_GT(count(sites, Site::Kind::kLength), 20u);
  EXPECT_GT(count(sites, Site::Kind::kField), 100u);
}

TEST(FlatbufferSitesTest, OfAnyBytesLieInside) {
  std::vector<uint8_t> bytes = golden();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    for (const Site& site : find_sites(program_schema(), part.data(), part.size())) {
      ASSERT_LE(site.position + site.width, part.size());
    }
  }
}

// What extends a program is a buffer of its own, in a segment.
TEST(FlatbufferSitesTest, AreAllOverWhatExtendsAProgram) {
  const std::vector<uint8_t> bytes = golden("test/fuzz/program_seeds/petrel_program");
  const Layout outer = {program_schema(), 0}, both = {program_schema(), 0, &additions_schema()};
  const std::vector<Site> few = find_sites(outer, bytes.data(), bytes.size());
  const std::vector<Site> all = find_sites(both, bytes.data(), bytes.size());
  const std::vector<Site> inner(all.begin() + static_cast<ptrdiff_t>(few.size()), all.end());
  for (const Site& site : inner) ASSERT_LE(site.position + site.width, bytes.size());
  // Two digests of weights and one of all have 32 bytes each.
  EXPECT_GT(count(inner, Site::Kind::kNumber), 96u);
  EXPECT_GT(count(inner, Site::Kind::kOffset), 20u);
  EXPECT_GT(count(inner, Site::Kind::kLength), 20u);
  EXPECT_GT(count(inner, Site::Kind::kField), 20u);
}

// Otherwise the fuzzer would see little but the first check.
TEST(FlatbufferMutatorTest, OftenMakesProgramsThatLoad) {
  const std::vector<uint8_t> bytes = golden();
  int changed = 0, loaded = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    std::vector<uint8_t> copy = bytes;
    ASSERT_TRUE(change_flatbuffer({program_schema(), 0}, copy.data(), copy.size(), seed));
    if (copy == bytes) continue;
    ++changed;
    const ProgramResult result =
        run_program(copy.data(), copy.size(), runtime::default_registry(), small_limits());
    loaded += result.load == Error::Ok ? 1 : 0;
  }
  std::printf("%d changed, %d loaded\n", changed, loaded);
  EXPECT_GT(changed, 800);
  EXPECT_GT(loaded, changed / 10);
}

TEST(MutantsTest, OfOneInputDifferAndOftenLoad) {
  for (const char* name :
       {"test/faults/golden/methods.pte", "test/fuzz/program_seeds/petrel_program"}) {
    const std::vector<uint8_t> base = golden(name);
    const Mutants mutants({program_schema(), 0, &additions_schema()}, base);
    std::minstd_rand random(1);
    std::vector<uint8_t> mutant;
    int changed = 0, loaded = 0;
    for (int i = 0; i < 1000; ++i) {
      mutants.make(random, &mutant);
      if (mutant == base) continue;
      ++changed;
      const ProgramResult result =
          run_program(mutant.data(), mutant.size(), runtime::default_registry(), small_limits());
      loaded += result.load == Error::Ok ? 1 : 0;
    }
    std::printf("%s: %d changed, %d loaded\n", name, changed, loaded);
    EXPECT_GT(changed, 800);
    EXPECT_GT(loaded, changed / 10);
  }
}

}  // namespace
}  // namespace petrel::fuzz
