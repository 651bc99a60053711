// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <algorithm>

#include "runtime/platform/file.h"
#include "runtime/platform/windows_text.h"

namespace petrel::runtime {
namespace {

// Others may write, rename and delete meanwhile, as on other systems.
constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr uint64_t kTicksPerSecond = 10'000'000;     // of a hundred nanoseconds
constexpr uint64_t kSecondsTo1970 = 11'644'473'600;  // from 1601, where they begin

HANDLE handle_of(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }

// A descriptor that owns the handle.
int descriptor_of(HANDLE handle) {
  const int fd = _open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_RDONLY | _O_BINARY);
  if (fd < 0) CloseHandle(handle);
  return fd;
}

uint64_t since_1970(const LARGE_INTEGER& time) {
  const auto ticks = static_cast<uint64_t>(time.QuadPart);
  return ticks - std::min(ticks, kSecondsTo1970 * kTicksPerSecond);
}

}  // namespace

int open_to_read(const char* path) {
  const HANDLE handle = CreateFileW(wide_path(path).c_str(), GENERIC_READ, kShareAll, nullptr,
                                    OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    set_errno();
    return -1;
  }
  return descriptor_of(handle);
}

// Opened anew, so that reading does not move the position of the first one; where that cannot be
// done, the two share it.
int duplicate_file(int fd) {
  const HANDLE handle = handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = EBADF;
    return -1;
  }
  HANDLE other = ReOpenFile(handle, GENERIC_READ, kShareAll, 0);
  if (other == INVALID_HANDLE_VALUE &&
      DuplicateHandle(GetCurrentProcess(), handle, GetCurrentProcess(), &other, 0, FALSE,
                      DUPLICATE_SAME_ACCESS) == 0) {
    set_errno();
    return -1;
  }
  return descriptor_of(other);
}

void close_file(int fd) { _close(fd); }

bool read_state(int fd, FileState* state) {
  const HANDLE handle = handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = EBADF;
    return false;
  }
  BY_HANDLE_FILE_INFORMATION info;
  FILE_BASIC_INFO times;
  *state = FileState{};
  // Pipes have neither.
  if (GetFileType(handle) != FILE_TYPE_DISK) return true;
  if (GetFileInformationByHandle(handle, &info) == 0 ||
      GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof(times)) == 0) {
    set_errno();
    return false;
  }
  state->is_regular = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  state->size = uint64_t{info.nFileSizeHigh} << 32 | info.nFileSizeLow;
  state->device = info.dwVolumeSerialNumber;
  state->number = uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  state->modified_ns = since_1970(times.LastWriteTime) * 100;
  // Some file systems have no such time.
  const uint64_t changed = std::max(since_1970(times.ChangeTime), since_1970(times.LastWriteTime));
  state->changed_seconds = changed / kTicksPerSecond;
  state->changed_ns = changed % kTicksPerSecond * 100;
  return true;
}

int64_t read_at(int fd, void* bytes, size_t size, uint64_t offset) {
  OVERLAPPED where = {};
  where.Offset = static_cast<DWORD>(offset);
  where.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD got = 0;
  const auto most = static_cast<DWORD>(std::min(size, size_t{1} << 30));
  if (ReadFile(handle_of(fd), bytes, most, &got, &where) != 0) return got;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  set_errno();
  return -1;
}

}  // namespace petrel::runtime
