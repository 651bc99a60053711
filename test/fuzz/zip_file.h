// SPDX-License-Identifier: Apache-2.0
//
// A zip archive in memory, whole and right: members are stored, checksums are theirs.
//
//   std::string bytes = write_zip_file({{"m/archive_format", "pt2"}, ...});

#ifndef PETREL_TEST_FUZZ_ZIP_FILE_H_
#define PETREL_TEST_FUZZ_ZIP_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace petrel::fuzz {

struct ZipMember {
  std::string name;
  std::string bytes;
};

std::string write_zip_file(const std::vector<ZipMember>& members);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_ZIP_FILE_H_
