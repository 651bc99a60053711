// SPDX-License-Identifier: Apache-2.0
//
// Memory of this process, as Linux tells it.
#ifndef PETREL_TEST_PERF_PROCESS_MEMORY_H_
#define PETREL_TEST_PERF_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace petrel::test {

// The bytes that lines of /proc/self/FILE which begin with one of `names` tell.
inline size_t told_by(const char* file, const std::vector<std::string>& names) {
  std::ifstream lines(std::string("/proc/self/") + file);
  size_t kilobytes = 0;
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& name : names) {
      if (line.compare(0, name.size(), name) != 0) continue;
      kilobytes += std::strtoull(line.c_str() + name.size(), nullptr, 10);
    }
  }
  return kilobytes * 1024;
}

// Pages that this process shares with nobody.
inline size_t private_bytes() {
  return told_by("smaps_rollup", {"Private_Clean:", "Private_Dirty:"});
}

// Pages of this process, those that it maps several times once; of pages that others
// have, too, its share.
inline size_t own_bytes() { return told_by("smaps_rollup", {"Pss:"}); }

}  // namespace petrel::test

#endif  // PETREL_TEST_PERF_PROCESS_MEMORY_H_
