// SPDX-License-Identifier: Apache-2.0
//
// A symbol: a whole number that is chosen anew for each call, from a range. The
// exporter names those of the inputs; a size that no rule can express is a
// symbol of its own ("unknown"), equal to nothing but itself.
//
//   SizeSymbol("s0", {1, 16})    samples 16 1 2 5 7 10 12 14
//
// Sample points assign a number to every symbol: the first its largest, the
// second its smallest, the others some between, in general position. Comparing
// two expressions at the points can only show that they differ.
//
// Invariant: every sample lies in the range.
#ifndef PETREL_EXIR_IR_SIZE_SYMBOL_H_
#define PETREL_EXIR_IR_SIZE_SYMBOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "exir/ir/size_range.h"

namespace petrel::exir {

inline constexpr size_t kSamples = 8;
inline constexpr size_t kFirstGeneralSample = 2;
using SampleValues = std::array<int64_t, kSamples>;

struct SizeSymbol {
  // Samples that follow from name and range. Precondition: a range that is not
  // empty and ends.
  SizeSymbol(std::string name, SizeRange range);
  SizeSymbol(std::string name, SizeRange range, const SampleValues& samples, bool is_unknown);

  std::string name;
  SizeRange range;
  SampleValues samples;
  bool is_unknown = false;
};

// A total order; 0 for symbols that are the same.
int compare(const SizeSymbol& a, const SizeSymbol& b);

// "s0: 1..16"; with " at 16|1|..." where the samples are not those that follow.
std::string to_string(const SizeSymbol& symbol);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SIZE_SYMBOL_H_
