// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_symbol.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "schema/checksum.h"

namespace petrel::exir {
namespace {

// A number between `low` and `high`, in one of `count` strata of them; `which`
// decides where in a stratum and in what order, so that no two symbols go
// together.
int64_t point_between(int64_t low, int64_t high, size_t k, size_t count, uint64_t which) {
  const auto width = static_cast<uint64_t>(high - low + 1);
  const uint64_t stratum = (k * (1 + 4 * (which % 2)) + which / 2) % count;
  const uint64_t begin = width * stratum / count;
  const uint64_t end = std::max(width * (stratum + 1) / count, begin + 1);
  // Odd steps of a golden-ratio sequence: fixed, and without a pattern.
  const uint64_t hash = (which / 12 + k + 1) * uint64_t{0x9E3779B97F4A7C15} >> 33;
  return low + static_cast<int64_t>(begin + hash % (end - begin));
}

SampleValues samples_of(const std::string& name, SizeRange range) {
  // Exporters assume that a size is neither 0 nor 1 unless it is always, so
  // nothing may be concluded from those; they are tried last.
  const int64_t low = std::min(std::max<int64_t>(range.low, 1), range.high);
  const int64_t general = std::min(std::max<int64_t>(low, 2), range.high);
  SampleValues samples{};
  samples[0] = range.high;
  samples[1] = low;
  const uint64_t which = schema::checksum(name.data(), name.size()) >> 16;
  const size_t count = kSamples - kFirstGeneralSample;
  for (size_t k = 0; k < count; ++k) {
    samples[kFirstGeneralSample + k] = point_between(general, range.high, k, count, which);
  }
  return samples;
}

}  // namespace

SizeSymbol::SizeSymbol(std::string name_of, SizeRange range_of)
    : name(std::move(name_of)), range(range_of), samples(samples_of(name, range)) {}

SizeSymbol::SizeSymbol(std::string name_of, SizeRange range_of, const SampleValues& samples_at,
                       bool unknown)
    : name(std::move(name_of)), range(range_of), samples(samples_at), is_unknown(unknown) {}

int compare(const SizeSymbol& a, const SizeSymbol& b) {
  if (const int order = a.name.compare(b.name); order != 0) return order;
  if (a.range.low != b.range.low) return a.range.low < b.range.low ? -1 : 1;
  if (a.range.high != b.range.high) return a.range.high < b.range.high ? -1 : 1;
  if (a.samples != b.samples) return a.samples < b.samples ? -1 : 1;
  return static_cast<int>(a.is_unknown) - static_cast<int>(b.is_unknown);
}

std::string to_string(const SizeSymbol& symbol) {
  std::string text = absl::StrCat(symbol.name, ": ", symbol.range.low, "..", symbol.range.high);
  if (symbol.is_unknown) {
    absl::StrAppend(&text, " unknown ", absl::StrJoin(symbol.samples, "|"));
  } else if (symbol.samples != samples_of(symbol.name, symbol.range)) {
    absl::StrAppend(&text, " at ", absl::StrJoin(symbol.samples, "|"));
  }
  return text;
}

}  // namespace petrel::exir
