// SPDX-License-Identifier: Apache-2.0
//
// ModuleFile: the file of a compiled module as data. Nothing in it is run: what is there is
// known, and whether it is whole, before the system's loader sees it.
//
//   Result<ModuleFile> file = ModuleFile::open("libkws.so");
//   file->manifest();            {"format": 1, "name": "kws", "methods": ...
//   file->check_runs_here();     the machine and the ABI are those of this process
//
// Invariant: the file is as long as it was made and its SHA-256 is the one that it holds.
// That finds damage; it proves nothing about who made the file. Owns copies.
#ifndef PETREL_EXTENSION_COMPILED_MODULE_FILE_H_
#define PETREL_EXTENSION_COMPILED_MODULE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/core/result.h"
#include "runtime/micro/model/petrel_module.h"

namespace petrel::extension {

class ModuleFile {
 public:
  // NotFound and AccessFailed as for every file; InvalidProgram for one that is not a module,
  // or damaged.
  static runtime::Result<ModuleFile> open(const std::string& path);

  // NotSupported, with both sides, for a module of another machine or ABI version.
  runtime::Error check_runs_here() const;

  // The JSON that `gen-c` wrote of the model.
  const std::string& manifest() const { return manifest_; }
  size_t bytes() const { return header_.file_bytes; }
  uint32_t abi_version() const { return header_.abi_version; }
  // As in the manifest and in the metadata of the code.
  std::string model_sha256() const;
  // "x86-64", or the number of a machine without a name here.
  std::string machine() const;

 private:
  ModuleFile(std::string path, uint16_t machine) : path_(std::move(path)), machine_(machine) {}

  std::string path_;
  uint16_t machine_;  // of elf.h
  petrel_module_header header_ = {};
  std::string manifest_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_COMPILED_MODULE_FILE_H_
