// SPDX-License-Identifier: Apache-2.0
//
// Some samples that stand for all: those that hold the ends of the most ranges, and others
// evenly between them. What is cut off a range costs the samples at its ends alone, so a few
// samples without these would tell that it costs nothing.
//
//   ends of ranges  0 0 5 0 0 0 0 1 0 0       pick_samples(ends, 4):
//                       ^   ^     ^ ^         places 2 and 7 stand for themselves, two others
//                                             for four samples each
#ifndef PETREL_EXTENSION_QUANTIZE_SAMPLE_PICKS_H_
#define PETREL_EXTENSION_QUANTIZE_SAMPLE_PICKS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "extension/quantize/calibration_data.h"

namespace petrel::extension {

struct SamplePick {
  size_t place = 0;   // among all samples of the method
  double weight = 1;  // samples that it stands for
};

// By place; weights add up to the number of samples.
using SamplePicks = std::vector<SamplePick>;

// At most `most`, which is not 0. `ends[i]`: ends of ranges that sample i holds.
SamplePicks pick_samples(const std::vector<size_t>& ends, size_t most);

// Of `count` samples `most`, evenly.
SamplePicks spread_samples(size_t count, size_t most);

using PicksByMethod = std::map<std::string, SamplePicks>;

WantsSample those_of(const SamplePicks& picks);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_SAMPLE_PICKS_H_
