// SPDX-License-Identifier: Apache-2.0
//
// Arrays in NumPy's `.npy` files (format versions 1 to 3).
//
//   absl::StatusOr<NpyArray> x = read_npy("x.npy");
//   PETREL_RETURN_IF_ERROR(write_npy("y.npy", array));
//
//   "\x93NUMPY" major minor | header length | "{'descr': '<f4', ...}\n" | data
//
// In memory an array is always in C order and little-endian; a file in Fortran
// order is put into C order, a big-endian one refused by name. bfloat16 has no NumPy type: it is
// written as two opaque bytes ("<V2") and read back as such.
#ifndef PETREL_EXTENSION_NPY_NPY_H_
#define PETREL_EXTENSION_NPY_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/core/scalar_type.h"

namespace petrel::extension {

struct NpyArray {
  runtime::ScalarType type = runtime::ScalarType::Float;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
};

// InvalidArgument when the file is not an array of a known type, or has another
// number of bytes than its shape asks for.
absl::StatusOr<NpyArray> read_npy(const std::string& path);

// The bytes of such a file; errors begin with `path`.
absl::StatusOr<NpyArray> parse_npy(absl::string_view bytes, const std::string& path);

// Writes beside `path` and renames, so that `path` is whole or not there.
absl::Status write_npy(const std::string& path, const NpyArray& array);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NPY_NPY_H_
