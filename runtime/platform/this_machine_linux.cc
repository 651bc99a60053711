// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "runtime/platform/this_machine.h"

namespace petrel::runtime {
namespace {

// To be looked at: a program may be run by those who may not read it.
int open_to_look(const char* path) { return open(path, O_PATH | O_CLOEXEC); }

}  // namespace

std::string describe_processors() {
  FILE* file = fopen("/proc/cpuinfo", "re");
  if (file == nullptr) return {};
  std::string text, lines;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), file)) > 0;) text.append(buffer, n);
  fclose(file);
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    for (const char* name :
         {"vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer",
          "CPU architecture", "CPU variant", "CPU part", "isa"}) {
      if (line.compare(0, strlen(name), name) == 0) lines += line + '\n';
    }
  }
  return lines;
}

bool read_binary_state(const void* code, FileState* state) {
  Dl_info info = {};
  const bool is_found =
      dladdr(code, &info) != 0 && info.dli_fname != nullptr && info.dli_fname[0] == '/';
  int fd = is_found ? open_to_look(info.dli_fname) : -1;
  if (fd < 0) fd = open_to_look("/proc/self/exe");
  if (fd < 0) return false;
  const bool is_read = read_state(fd, state);
  close_file(fd);
  return is_read;
}

}  // namespace petrel::runtime
