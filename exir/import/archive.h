// SPDX-License-Identifier: Apache-2.0
//
// An archive of torch.export.save on disk: the mapped file, its zip directory
// and the program that is to be read from it.
//
//   models/<name>.json                       the program
//   data/weights/<name>_weights_config.json  FQN -> file, dtype, sizes, strides
//   data/weights/weight_<i>                  storages of parameters and buffers
//   data/constants/...                       the same for constants
//   archive_format, archive_version, byteorder
//   data/sample_inputs/..., extra/...        not read
#ifndef PETREL_EXIR_IMPORT_ARCHIVE_H_
#define PETREL_EXIR_IMPORT_ARCHIVE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "exir/import/json.h"
#include "exir/import/mapped_file.h"
#include "exir/import/zip_archive.h"

namespace petrel::exir {

struct ProgramArchive {
  std::shared_ptr<const MappedFile> file;
  ZipArchive zip;
  std::string name;       // of the program: models/<name>.json
  std::string json_name;  // "models/<name>.json"
  JsonDocument json;
};

// The program called `wanted`, or the only one in the archive. Errors say what
// about the file is not supported: another format or version, big endian, an
// archive of torch 2.8 or older.
absl::StatusOr<ProgramArchive> open_program_archive(const std::string& path,
                                                    const std::string& wanted);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_ARCHIVE_H_
