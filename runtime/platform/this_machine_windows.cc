// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <iterator>

#include "runtime/platform/this_machine.h"
#include "runtime/platform/windows_text.h"

namespace petrel::runtime {

std::string describe_processors() {
  std::string lines;
  for (const char* name : {"Identifier", "VendorIdentifier", "ProcessorNameString"}) {
    char value[512];
    DWORD size = sizeof(value);
    if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", name,
                     RRF_RT_REG_SZ, nullptr, value, &size) != ERROR_SUCCESS) {
      continue;
    }
    lines.append(name).append("=").append(value).append("\n");
  }
  if (lines.empty()) return lines;
  constexpr DWORD kFeatures = 128;
  for (DWORD i = 0; i < kFeatures; ++i) lines += IsProcessorFeaturePresent(i) != 0 ? '1' : '0';
  return lines;
}

bool read_binary_state(const void* code, FileState* state) {
  HMODULE binary = nullptr;
  wchar_t wide[4096];
  if (GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          static_cast<const wchar_t*>(code), &binary) == 0) {
    return false;
  }
  const DWORD length = GetModuleFileNameW(binary, wide, std::size(wide));
  if (length == 0 || length == std::size(wide)) return false;
  const std::string path = utf8_path(wide);
  const int fd = open_to_read(path.c_str());
  if (fd < 0) return false;
  const bool is_read = read_state(fd, state);
  close_file(fd);
  return is_read;
}

}  // namespace petrel::runtime
