// SPDX-License-Identifier: Apache-2.0
//
// The one in the middle of some times; 0 where there are none.
#ifndef PETREL_TEST_PERF_MIDDLE_H_
#define PETREL_TEST_PERF_MIDDLE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

inline double middle(std::vector<double> times) {
  if (times.empty()) return 0;
  const auto half = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), half, times.end());
  return *half;
}

#endif  // PETREL_TEST_PERF_MIDDLE_H_
