// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/seal.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace petrel::exir {
namespace {

// Offsets in struct petrel_module_header.
constexpr size_t kFileBytesAt = 16;
constexpr size_t kModelAt = 24;
constexpr size_t kFileSha256At = 56;
constexpr absl::string_view kMagic("PETRELM\0", 8);

// Where the header of the model begins; npos when there is none.
size_t find_header(absl::string_view library, absl::string_view model, size_t from) {
  for (size_t at = library.find(kMagic, from); at != absl::string_view::npos;
       at = library.find(kMagic, at + 1)) {
    if (library.substr(at).size() < kFileSha256At + model.size()) break;
    if (library.substr(at + kModelAt, model.size()) == model) return at;
  }
  return absl::string_view::npos;
}

}  // namespace

absl::Status seal(const Sha256& model, std::string* library) {
  const absl::string_view digest(reinterpret_cast<const char*>(model.data()), model.size());
  const size_t at = find_header(*library, digest, 0);
  if (at == std::string::npos || find_header(*library, digest, at + 1) != std::string::npos) {
    return absl::FailedPreconditionError(
        absl::StrCat("the library that the C compiler made has ", library->size(),
                     " bytes, and not exactly one header of the module among them"));
  }
  const uint64_t bytes = library->size();
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    (*library)[at + kFileBytesAt + i] = static_cast<char>(bytes >> 8 * i & 0xff);
  }
  const Sha256 file =
      sha256_of({reinterpret_cast<const uint8_t*>(library->data()), library->size()});
  for (size_t i = 0; i < file.size(); ++i) {
    (*library)[at + kFileSha256At + i] = static_cast<char>(file[i]);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
