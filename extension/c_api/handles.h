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
#include "runtime/backend/options.h"
#include "runtime/core/evalue.h"
#include "runtime/core/named_data_map.h"

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

// External data, not opened yet: exactly one member is set.
struct Source {
  std::shared_ptr<const runtime::NamedDataMap> map;
  std::string path;
  std::optional<Buffer> buffer;
  std::shared_ptr<const Descriptor> fd;
  uint64_t offset = 0;  // of fd
  uint64_t length = 0;
};

// Where an output is copied to.
struct Target {
  void* data = nullptr;  // null: nowhere
  size_t size = 0;
};

// Inputs of the next run and outputs of the last one.
struct Call {
  std::vector<std::optional<petrel_value>> inputs;
  std::vector<runtime::EValue> outputs;
  std::vector<Target> targets;  // by output; shorter where nobody asked
  bool has_run = false;
};

// By backend and key.
using OptionMap = std::map<std::string, std::map<std::string, runtime::OptionValue>>;

}  // namespace petrel::extension::c_api

struct petrel_options {
  petrel::extension::Module::Options module;
  std::optional<int32_t> num_threads;
  std::vector<petrel::extension::c_api::Source> sources;
  petrel::extension::c_api::OptionMap backend_options;
};

struct petrel_method {
  petrel_module* module;
  std::string name;
};

struct petrel_module {
  // Destroyed last to first: the module before what it reads.
  std::vector<petrel::extension::c_api::Buffer> buffers;
  std::vector<std::vector<petrel::runtime::BackendOption>> backend_options;
  petrel::runtime::LoadBackendOptionsMap options_by_backend;
  std::unique_ptr<petrel::extension::Module> module;
  std::vector<std::string> names;
  std::map<std::string, petrel::extension::c_api::Call, std::less<>> calls;
  std::map<std::string, std::unique_ptr<petrel_method>, std::less<>> methods;
};

#endif  // PETREL_EXTENSION_C_API_HANDLES_H_
