// SPDX-License-Identifier: Apache-2.0
//
// What fuzz targets hold the product to beside the sanitizers: require() ends the
// process with a sentence when a promise is broken, which is a find.
//
//   require(result.ok() || messages.any(), "an error that nobody explains");

#ifndef PETREL_TEST_FUZZ_ORACLE_H_
#define PETREL_TEST_FUZZ_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Of the sanitizers, where there are any: reaches the log of a campaign, in which
// nobody hears what is written to stderr.
extern "C" __attribute__((weak)) void __sanitizer_report_error_summary(const char* summary);

namespace petrel::fuzz {

// Inputs that got as far as they could, which targets count: most are refused at once.
inline uint64_t whole_executions = 0;

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  if (__sanitizer_report_error_summary != nullptr) {
    char summary[160];
    std::snprintf(summary, sizeof(summary), "broken promise: %s", what);
    __sanitizer_report_error_summary(summary);
  }
  std::abort();
}

// Reads every byte, so that a sanitizer sees those that are not there.
inline void read_all(const void* data, size_t size) {
  static volatile unsigned sink = 0;
  unsigned sum = 0;
  for (size_t i = 0; i < size; ++i) sum += static_cast<const uint8_t*>(data)[i];
  sink = sink + sum;
}

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_ORACLE_H_
