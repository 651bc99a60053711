// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/sysctl.h>

#include "runtime/platform/this_machine.h"

namespace petrel::runtime {

std::string describe_processors() {
  std::string lines;
  // The last two are of x86-64 alone.
  for (const char* name : {"machdep.cpu.brand_string", "hw.cputype", "hw.cpusubtype",
                           "hw.cpufamily", "machdep.cpu.features", "machdep.cpu.leaf7_features"}) {
    char value[4096];
    size_t size = sizeof(value);
    if (sysctlbyname(name, value, &size, nullptr, 0) != 0) continue;
    lines.append(name).append("=").append(value, size).append("\n");
  }
  return lines;
}

bool read_binary_state(const void* code, FileState* state) {
  Dl_info info = {};
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return false;
  const int fd = open_to_read(info.dli_fname);
  if (fd < 0) return false;
  const bool is_read = read_state(fd, state);
  close_file(fd);
  return is_read;
}

}  // namespace petrel::runtime
