// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include "runtime/platform/pages.h"

namespace petrel::runtime {
namespace {

// What a balloon takes back from a machine. Its features are a text of zeros and ones.
constexpr char kBalloons[] = "/sys/bus/virtio/drivers/virtio_balloon/virtio*/features";
constexpr int kReportsFreePages = 5;

bool reports_free_pages(const char* features) {
  const int file = open(features, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[kReportsFreePages + 1] = {};
  const bool is_whole = read(file, text, sizeof(text)) == static_cast<ssize_t>(sizeof(text));
  close(file);
  return is_whole && text[kReportsFreePages] == '1';
}

bool any_balloon_reports_free_pages() {
  glob_t found = {};
  bool reports = false;
  if (glob(kBalloons, GLOB_NOSORT, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) reports |= reports_free_pages(found.gl_pathv[i]);
  }
  globfree(&found);
  return reports;
}

}  // namespace

bool huge_pages_are_cheap() {
  static const bool are_cheap = !any_balloon_reports_free_pages();
  return are_cheap;
}

}  // namespace petrel::runtime
