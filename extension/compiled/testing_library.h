// SPDX-License-Identifier: Apache-2.0
//
// The bytes of compiled modules for tests, with something changed, and sealed anew.
//
//   const std::string library = read_library(path);
//   write_library(sealed(with<uint16_t>(library, offsetof(Elf64_Ehdr, e_machine), EM_S390)));
#ifndef PETREL_EXTENSION_COMPILED_TESTING_LIBRARY_H_
#define PETREL_EXTENSION_COMPILED_TESTING_LIBRARY_H_

#include <gtest/gtest.h>
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/micro/model/petrel_module.h"

namespace petrel::extension {

inline std::string read_library(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Its path; the file of the last call is gone.
inline std::string write_library(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/changed.so";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline size_t header_at(const std::string& library) {
  return library.find(std::string(PETREL_MODULE_MAGIC, 8));
}

// Makes length and digest those of the bytes again.
inline std::string sealed(std::string library) {
  const size_t at = header_at(library);
  const uint64_t size = library.size();
  std::memcpy(&library[at + offsetof(petrel_module_header, file_bytes)], &size, sizeof(size));
  char* const digest = &library[at + offsetof(petrel_module_header, file_sha256)];
  std::memset(digest, 0, 32);
  SHA256_CTX context;
  unsigned char made[32];
  SHA256_Init(&context);
  SHA256_Update(&context, library.data(), library.size());
  SHA256_Final(made, &context);
  std::memcpy(digest, made, sizeof(made));
  return library;
}

template <typename T>
std::string with(std::string library, size_t at, T value) {
  std::memcpy(&library[at], &value, sizeof(value));
  return library;
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_COMPILED_TESTING_LIBRARY_H_
