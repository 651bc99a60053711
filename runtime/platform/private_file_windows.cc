// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <windows.h>
// After it, which they need.
#include <aclapi.h>
#include <sddl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/platform/private_file.h"
#include "runtime/platform/random_bytes.h"
#include "runtime/platform/windows_text.h"

namespace petrel::runtime {
namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

struct FreeLocal {
  void operator()(void* memory) const { LocalFree(memory); }
};
using Local = std::unique_ptr<void, FreeLocal>;

// The user of this process, or whom its new files belong to; empty if that is not told.
std::vector<uint8_t> from_token(TOKEN_INFORMATION_CLASS what) {
  HANDLE token = nullptr;
  if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) == 0) return {};
  DWORD size = 0;
  GetTokenInformation(token, what, nullptr, 0, &size);
  std::vector<uint8_t> bytes(size);
  if (size == 0 || GetTokenInformation(token, what, bytes.data(), size, &size) == 0) bytes.clear();
  CloseHandle(token);
  return bytes;
}

PSID user_of(std::vector<uint8_t>& token) {
  return reinterpret_cast<TOKEN_USER*>(token.data())->User.Sid;
}

PSID owner_of(std::vector<uint8_t>& token) {
  return reinterpret_cast<TOKEN_OWNER*>(token.data())->Owner;
}

// Whom nothing can be hidden from, or who is the owner under another name.
bool may_have_rights(PSID who, PSID owner) {
  return EqualSid(who, owner) != 0 || IsWellKnownSid(who, WinLocalSystemSid) != 0 ||
         IsWellKnownSid(who, WinBuiltinAdministratorsSid) != 0 ||
         IsWellKnownSid(who, WinCreatorOwnerRightsSid) != 0;
}

bool is_closed_to_others(PACL rights, PSID owner) {
  if (rights == nullptr) return false;
  for (DWORD i = 0; i < rights->AceCount; ++i) {
    void* entry = nullptr;
    if (GetAce(rights, i, &entry) == 0) return false;
    const BYTE type = static_cast<ACE_HEADER*>(entry)->AceType;
    if (type == ACCESS_DENIED_ACE_TYPE) continue;
    if (type != ACCESS_ALLOWED_ACE_TYPE ||
        !may_have_rights(&static_cast<ACCESS_ALLOWED_ACE*>(entry)->SidStart, owner)) {
      return false;
    }
  }
  return true;
}

// Null when the file is private.
const char* reason_against(HANDLE file) {
  BY_HANDLE_FILE_INFORMATION info;
  if (GetFileType(file) != FILE_TYPE_DISK || GetFileInformationByHandle(file, &info) == 0) {
    return "is not a regular file";
  }
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return "is a symbolic link";
  PSID owner = nullptr;
  PACL rights = nullptr;
  PSECURITY_DESCRIPTOR all = nullptr;
  if (GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                      &owner, nullptr, &rights, nullptr, &all) != ERROR_SUCCESS) {
    return "does not say whose it is";
  }
  const Local keep(all);
  std::vector<uint8_t> user = from_token(TokenUser), creator = from_token(TokenOwner);
  if (user.empty() || creator.empty()) return "cannot be used: this process has no user";
  if (EqualSid(owner, user_of(user)) == 0 && EqualSid(owner, owner_of(creator)) == 0) {
    return "belongs to another user";
  }
  if (!is_closed_to_others(rights, user_of(user))) {
    return "is open to other users: its owner alone may have rights";
  }
  return nullptr;
}

// Rights for this user alone, none from the folder; null if there are none to be had.
Local own_rights() {
  std::vector<uint8_t> user = from_token(TokenUser);
  wchar_t* text = nullptr;
  if (user.empty() || ConvertSidToStringSidW(user_of(user), &text) == 0) return nullptr;
  const Local keep(text);
  const std::wstring rights = std::wstring(L"D:P(A;;FA;;;") + text + L")";
  PSECURITY_DESCRIPTOR made = nullptr;
  ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.c_str(), SDDL_REVISION_1, &made,
                                                       nullptr);
  return Local(made);
}

}  // namespace

int open_private(const char* path, const char** out_reason) {
  *out_reason = nullptr;
  const HANDLE file = CreateFileW(wide_path(path).c_str(), GENERIC_READ | READ_CONTROL, kShareAll,
                                  nullptr, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    set_errno();
    if (errno != ENOENT) *out_reason = strerror(errno);
    return -1;
  }
  *out_reason = reason_against(file);
  const int fd = *out_reason != nullptr
                     ? -1
                     : _open_osfhandle(reinterpret_cast<intptr_t>(file), _O_RDONLY | _O_BINARY);
  if (fd < 0) CloseHandle(file);
  if (fd < 0 && *out_reason == nullptr) *out_reason = strerror(errno);
  return fd;
}

NewPrivateFile::NewPrivateFile(const std::string& path) : path_(path) {
  uint32_t number = 0;
  const Local rights = own_rights();
  if (rights == nullptr || !random_bytes(&number, sizeof(number))) {
    errno = EACCES;
    return;
  }
  name_ = path + "." + std::to_string(number);
  SECURITY_ATTRIBUTES attributes = {sizeof(attributes), rights.get(), FALSE};
  const HANDLE file =
      CreateFileW(wide_path(name_.c_str()).c_str(), GENERIC_WRITE, FILE_SHARE_DELETE, &attributes,
                  CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    set_errno();
    return;
  }
  fd_ = _open_osfhandle(reinterpret_cast<intptr_t>(file), _O_WRONLY | _O_BINARY);
  if (fd_ < 0) CloseHandle(file);
}

NewPrivateFile::~NewPrivateFile() {
  if (fd_ >= 0) _close(fd_);
  if (!name_.empty() && !is_in_place_) DeleteFileW(wide_path(name_.c_str()).c_str());
}

bool NewPrivateFile::write(const void* bytes, size_t size) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    const int put = _write(fd_, at, static_cast<unsigned>(std::min(size, size_t{1} << 30)));
    if (put < 0) return false;
    at += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

bool NewPrivateFile::put_in_place() {
  if (_commit(fd_) != 0) return false;
  // A file that is open for writing is not renamed.
  const int fd = fd_;
  fd_ = -1;
  if (_close(fd) != 0) return false;
  is_in_place_ = MoveFileExW(wide_path(name_.c_str()).c_str(), wide_path(path_.c_str()).c_str(),
                             MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0;
  if (!is_in_place_) set_errno();
  return is_in_place_;
}

}  // namespace petrel::runtime
