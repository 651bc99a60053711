// SPDX-License-Identifier: Apache-2.0
//
// A file mapped for reading. The mapping lives as long as the object; slices of
// it are kept alive by sharing the object:
//
//   PETREL_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
//                           MappedFile::open("model.pt2"));
//   Blob weight = Blob::view(file->bytes().subspan(64, 400), file);
//
// Whoever truncates the file while it is mapped makes reads of it fail with
// SIGBUS; replacing it by renaming another over it is safe.
#ifndef PETREL_EXIR_IMPORT_MAPPED_FILE_H_
#define PETREL_EXIR_IMPORT_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace petrel::exir {

class MappedFile {
 public:
  // NotFound when there is no such file, InvalidArgument when it is not a
  // regular file.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> open(const std::string& path);
  // The same for who does not put the path before its errors: they begin with it.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> open_named(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::Span<const uint8_t> bytes() const { return absl::MakeConstSpan(data_, size_); }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  const uint8_t* data_;  // null when the file is empty
  size_t size_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_MAPPED_FILE_H_
