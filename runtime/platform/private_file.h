// SPDX-License-Identifier: Apache-2.0
//
// PrivateFile: a file that is the user's own and that no other user may read or write (on POSIX
// of mode 0600, on Windows with a list of rights for its owner and the system alone), so that what
// is in it was written by the user's own programs. Symbolic links are not followed.
//
//   const char* reason = nullptr;
//   const int fd = open_private(path, &reason);   // -1: `reason` says why, null: not there
//   ... read_at(fd, ...); close_file(fd);
//
//   NewPrivateFile file(path);                    // under another name beside it, or none
//   bool is_good = file.is_open() && file.write(bytes, size) && file.put_in_place();
//
// put_in_place() replaces the file at once: who opens it finds the old one or the new one, whole.
// Without it the destructor removes what was written.

#ifndef PETREL_RUNTIME_PLATFORM_PRIVATE_FILE_H_
#define PETREL_RUNTIME_PLATFORM_PRIVATE_FILE_H_

#include <cstddef>
#include <string>

namespace petrel::runtime {

int open_private(const char* path, const char** out_reason);

class NewPrivateFile {
 public:
  explicit NewPrivateFile(const std::string& path);
  ~NewPrivateFile();
  NewPrivateFile(const NewPrivateFile&) = delete;
  NewPrivateFile& operator=(const NewPrivateFile&) = delete;

  bool is_open() const { return fd_ >= 0; }
  // False when one of them failed; errno says why.
  bool write(const void* bytes, size_t size);
  // Windows refuses while any process has the old one mapped.
  bool put_in_place();

 private:
  const std::string path_;
  std::string name_;  // empty as long as it has none
  int fd_ = -1;
  bool is_in_place_ = false;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_PRIVATE_FILE_H_
