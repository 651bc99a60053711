// SPDX-License-Identifier: Apache-2.0
//
// What Windows wants in other words: paths as UTF-16, reasons as numbers of errno.
//
//   const HANDLE file = CreateFileW(wide_path(path).c_str(), ...);
//   if (file == INVALID_HANDLE_VALUE) set_errno();

#ifndef PETREL_RUNTIME_PLATFORM_WINDOWS_TEXT_H_
#define PETREL_RUNTIME_PLATFORM_WINDOWS_TEXT_H_

#include <string>

namespace petrel::runtime {

// Empty, which no file is called, for what is not UTF-8.
std::wstring wide_path(const char* path);
std::string utf8_path(const wchar_t* path);

// From GetLastError().
void set_errno();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_WINDOWS_TEXT_H_
