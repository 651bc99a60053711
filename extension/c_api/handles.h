// SPDX-License-Identifier: Apache-2.0
//
// What the handles of the C interface stand for.
#ifndef PETREL_EXTENSION_C_API_HANDLES_H_
#define PETREL_EXTENSION_C_API_HANDLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "extension/c_api/petrel.h"
#include "extension/module/module.h"
#include "runtime/core/evalue.h"

namespace petrel::extension::c_api {

// Bytes that are borrowed or, with `copy`, the library's.
struct Buffer {
  const void* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const std::vector<uint8_t>> copy;
};

// A descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

// One file of external data, not opened yet: exactly one member is set.
struct Source {
  std::string path;
  std::optional<Buffer> buffer;
  std::shared_ptr<const Descriptor> fd;
  uint64_t offset = 0;  // of fd
  uint64_t length = 0;
};

// Inputs of the next run and outputs of the last one.
struct Call {
  std::vector<std::optional<petrel_value>> inputs;
  std::vector<runtime::EValue> outputs;
  bool has_run = false;
};

}  // namespace petrel::extension::c_api

struct petrel_options {
  petrel::extension::Module::Options module;
  std::optional<int32_t> num_threads;
  std::vector<petrel::extension::c_api::Source> sources;
};

struct petrel_module {
  // Destroyed last to first: the module before what it reads.
  std::vector<petrel::extension::c_api::Buffer> buffers;
  std::unique_ptr<petrel::extension::Module> module;
  std::vector<std::string> names;
  std::map<std::string, petrel::extension::c_api::Call, std::less<>> calls;
};

#endif  // PETREL_EXTENSION_C_API_HANDLES_H_
