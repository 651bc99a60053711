// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/platform/processors.h"

namespace petrel::runtime {
namespace {

// Of one of the system's small files; empty if it is not there.
std::string read_text(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return {};
  char text[4096];
  const size_t size = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return std::string(text, size);
}

// Microseconds of processors in a period, a quota of "max" or -1 is none.
size_t whole_processors(const char* quota, const char* period) {
  const long long time = std::strtoll(quota, nullptr, 10);
  const long long of = std::strtoll(period, nullptr, 10);
  if (time <= 0 || of <= 0) return 0;
  return static_cast<size_t>(std::max(time / of, 1LL));
}

// Version 2 has both numbers in one file.
size_t quota_of_unified(const std::string& group) {
  const std::string text = read_text(group + "/cpu.max");
  const size_t space = text.find(' ');
  if (space == std::string::npos) return 0;
  return whole_processors(text.c_str(), text.c_str() + space);
}

size_t quota_of_controller(const std::string& group) {
  return whole_processors(read_text(group + "/cpu.cfs_quota_us").c_str(),
                          read_text(group + "/cpu.cfs_period_us").c_str());
}

size_t smaller_limit(size_t a, size_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// Of a group and those above it. A container may see its own group as the topmost one and be told
// its name outside: names that are not there are passed over.
template <typename Quota>
size_t least_quota(const std::string& mount, std::string_view group, const Quota& quota) {
  size_t least = quota(mount);
  while (group.size() > 1) {
    least = smaller_limit(least, quota(mount + std::string(group)));
    group = group.substr(0, group.rfind('/'));
  }
  return least;
}

// Whether "cpu" is one of "cpu,cpuacct".
bool has_controller(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == wanted) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

// Lines are "number:controllers:/group"; version 2 names no controllers.
size_t processor_quota(const char* root) {
  const std::string base = root;
  const std::string groups = read_text(base + "/proc/self/cgroup");
  size_t least = 0;
  for (std::string_view rest = groups; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      least = smaller_limit(least, least_quota(base + "/sys/fs/cgroup", group, quota_of_unified));
    } else if (has_controller(controllers, "cpu")) {
      const std::string mount = base + "/sys/fs/cgroup/";
      for (const std::string& name : {std::string(controllers), std::string("cpu")}) {
        least = smaller_limit(least, least_quota(mount + name, group, quota_of_controller));
      }
    }
  }
  return least;
}

size_t usable_processors() {
  const size_t count = std::max(1u, std::thread::hardware_concurrency());
  const size_t quota = processor_quota("");
  return quota == 0 ? count : std::min(count, quota);
}

}  // namespace petrel::runtime
