// SPDX-License-Identifier: Apache-2.0
//
// Options and loading of the C interface.

#include <array>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "extension/c_api/data_map.h"
#include "extension/c_api/guard.h"
#include "extension/c_api/handles.h"
#include "extension/data_loader/memory.h"
#include "extension/data_loader/file_descriptor_data_loader.h"
#include "extension/named_data_map/safetensors_map.h"
#include "runtime/platform/file.h"
#include "runtime/threads/thread_count.h"

namespace petrel::extension::c_api {

using runtime::DataLoader;
using runtime::Error;
using runtime::Result;

Descriptor::~Descriptor() { runtime::close_file(fd_); }

namespace {

// One of the enumerators 0 .. `last`.
Error check_choice(const char* name, int value, int last) {
  if (value >= 0 && value <= last) return Error::Ok;
  PETREL_LOG(Error, "%s is %d, must be in [0, %d]", name, value, last);
  return Error::InvalidArgument;
}

Result<Buffer> make_buffer(const void* data, size_t size, petrel_ownership ownership) {
  PETREL_RETURN_IF_ERROR(check_choice("ownership", ownership, PETREL_COPY));
  if (size > 0) PETREL_RETURN_IF_ERROR(require(data, "data"));
  Buffer buffer;
  buffer.size = size;
  buffer.data = data;
  if (ownership == PETREL_COPY && size > 0) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    buffer.copy = std::make_shared<const std::vector<uint8_t>>(bytes, bytes + size);
    buffer.data = buffer.copy->data();
  }
  return buffer;
}

Result<std::unique_ptr<DataLoader>> open_descriptor(int fd, uint64_t offset, uint64_t length) {
  Result<FileDescriptorDataLoader> loader = FileDescriptorDataLoader::from(fd, offset, length);
  if (!loader.ok()) return loader.error();
  return std::unique_ptr<DataLoader>(
      std::make_unique<FileDescriptorDataLoader>(std::move(loader.get())));
}

std::unique_ptr<DataLoader> open_buffer(const Buffer& buffer) {
  return open_memory(buffer.data, buffer.size);
}

// The data of options as a module takes it; what was copied goes with the loader.
Result<Module::Options> with_sources(const petrel_options& options) {
  Module::Options with = options.module;
  with.other_data = read_safetensors;
  for (const Source& source : options.sources) {
    if (source.map != nullptr) {
      with.data_maps.push_back(source.map);
    } else if (source.buffer.has_value()) {
      const Buffer buffer = *source.buffer;
      with.data_loaders.emplace_back(open_buffer(buffer).release(),
                                     [buffer](DataLoader* loader) { delete loader; });
    } else if (source.fd != nullptr) {
      PETREL_ASSIGN_OR_RETURN(std::unique_ptr<DataLoader> loader,
                              open_descriptor(source.fd->get(), source.offset, source.length));
      with.data_loaders.push_back(std::move(loader));
    } else {
      PETREL_ASSIGN_OR_RETURN(std::unique_ptr<DataLoader> loader,
                              open_file(source.path, with.load_mode));
      with.data_loaders.push_back(std::move(loader));
    }
  }
  return with;
}

template <typename Work>
petrel_status change(petrel_options* options, Work work) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(options, "options"));
    return work();
  });
}

// The options of a backend lie where the module finds them as long as it lives.
Error set_backend_options(const OptionMap& options, petrel_module* module) {
  module->backend_options.reserve(options.size());
  for (const auto& [backend, by_key] : options) {
    std::vector<runtime::BackendOption>& list = module->backend_options.emplace_back();
    for (const auto& [key, value] : by_key) {
      runtime::BackendOption& option = list.emplace_back();
      option.value = value;
      if (!runtime::copy_text(key, option.key)) return Error::Internal;  // was checked
    }
    if (module->options_by_backend.set_options(backend, {list.data(), list.size()}) != Error::Ok) {
      PETREL_LOG(Error,
                 "there are options of more than %zu backends, or the name of one is too long",
                 runtime::LoadBackendOptionsMap::kMaxBackends);
      return Error::InvalidArgument;
    }
  }
  return Error::Ok;
}

petrel_status set_backend_option(petrel_options* options, const char* backend, const char* key,
                                 const runtime::OptionValue& value) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(backend, "backend"));
    PETREL_RETURN_IF_ERROR(require(key, "key"));
    char copy[runtime::kMaxOptionKeyLength];
    if (!runtime::copy_text(key, copy)) {
      PETREL_LOG(Error, "key has %zu bytes, must have less than %zu", std::strlen(key),
                 runtime::kMaxOptionKeyLength);
      return Error::InvalidArgument;
    }
    options->backend_options[backend][key] = value;
    return Error::Ok;
  });
}

// `open` loads the program; it may put buffers into the module.
template <typename Open>
petrel_status load(const petrel_options* given, petrel_module** out, Open open) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    const petrel_options defaults;
    const petrel_options& options = given != nullptr ? *given : defaults;
    auto module = std::make_unique<petrel_module>();
    PETREL_ASSIGN_OR_RETURN(Module::Options module_options, with_sources(options));
    module_options.num_threads =
        options.num_threads.value_or(static_cast<int>(runtime::thread_count()));
    PETREL_RETURN_IF_ERROR(set_backend_options(options.backend_options, module.get()));
    module_options.backend_options = &module->options_by_backend;
    PETREL_ASSIGN_OR_RETURN(module->module, open(module_options, module.get()));
    module->names = module->module->method_names();
    *out = module.release();
    return Error::Ok;
  });
}

}  // namespace
}  // namespace petrel::extension::c_api

using namespace petrel::extension::c_api;  // NOLINT: the C names are global
using petrel::extension::MergeOrder;
using petrel::extension::Module;
using petrel::runtime::DataLoader;
using petrel::runtime::DataPrecedence;
using petrel::runtime::Error;
using petrel::runtime::Result;

extern "C" {

petrel_status petrel_options_create(petrel_options** out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    *out = new petrel_options;
    return Error::Ok;
  });
}

void petrel_options_destroy(petrel_options* options) { delete options; }

petrel_status petrel_options_set_load_mode(petrel_options* options, petrel_load_mode mode) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_choice("mode", mode, PETREL_LOAD_MMAP));
    options->module.load_mode =
        mode == PETREL_LOAD_MMAP ? Module::LoadMode::Mmap : Module::LoadMode::File;
    return Error::Ok;
  });
}

petrel_status petrel_options_set_num_threads(petrel_options* options, int32_t num_threads) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(
        check_choice("num_threads", num_threads, static_cast<int>(petrel::runtime::kMaxThreads)));
    options->num_threads = num_threads;
    return Error::Ok;
  });
}

petrel_status petrel_options_set_share_memory(petrel_options* options, int32_t share) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_choice("share", share, 1));
    options->module.share_memory_arenas = share != 0;
    return Error::Ok;
  });
}

petrel_status petrel_options_set_writable_inputs(petrel_options* options, int32_t writable) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_choice("writable", writable, 1));
    options->module.writable_inputs = writable != 0;
    return Error::Ok;
  });
}

petrel_status petrel_options_set_limit(petrel_options* options, petrel_limit limit,
                                       uint64_t value) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_choice("limit", limit, PETREL_MAX_ELEMENT_OPERATIONS));
    options->module.limits.*petrel::runtime::kLimitRows[limit].value = value;
    return Error::Ok;
  });
}

petrel_status petrel_options_set_data_precedence(petrel_options* options,
                                                 petrel_precedence precedence) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_choice("precedence", precedence, PETREL_PROGRAM_FIRST));
    constexpr DataPrecedence kChoices[] = {DataPrecedence::RefuseDifferent,
                                           DataPrecedence::ExternalFirst,
                                           DataPrecedence::ProgramFirst};
    options->module.data_precedence = kChoices[precedence];
    return Error::Ok;
  });
}

petrel_status petrel_options_add_data_map(petrel_options* options, const petrel_data_map* map) {
  return change(options, [&]() -> Error {
    PETREL_ASSIGN_OR_RETURN(std::shared_ptr<const petrel::runtime::NamedDataMap> made,
                            make_data_map(map));
    Source source;
    source.map = std::move(made);
    options->sources.push_back(std::move(source));
    return Error::Ok;
  });
}

petrel_status petrel_options_set_backend_bool(petrel_options* options, const char* backend,
                                              const char* key, int32_t value) {
  return set_backend_option(options, backend, key, value != 0);
}

petrel_status petrel_options_set_backend_int(petrel_options* options, const char* backend,
                                             const char* key, int32_t value) {
  return set_backend_option(options, backend, key, static_cast<int>(value));
}

petrel_status petrel_options_set_backend_text(petrel_options* options, const char* backend,
                                              const char* key, const char* value) {
  char text[petrel::runtime::kMaxOptionValueLength] = "";
  if (value == nullptr || !petrel::runtime::copy_text(value, text)) {
    return change(options, [&]() -> Error {
      PETREL_RETURN_IF_ERROR(require(value, "value"));
      PETREL_LOG(Error, "value has %zu bytes, must have less than %zu", std::strlen(value),
                 sizeof(text));
      return Error::InvalidArgument;
    });
  }
  std::array<char, petrel::runtime::kMaxOptionValueLength> array;
  std::memcpy(array.data(), text, sizeof(text));
  return set_backend_option(options, backend, key, array);
}

petrel_status petrel_options_set_data_order(petrel_options* options, petrel_data_order order) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_choice("order", order, PETREL_DATA_FIRST_COUNTS));
    options->module.data_order =
        order == PETREL_DATA_FIRST_COUNTS ? MergeOrder::FirstCounts : MergeOrder::RefuseDifferent;
    return Error::Ok;
  });
}

petrel_status petrel_options_add_data_path(petrel_options* options, const char* path) {
  return change(options, [&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(path, "path"));
    Source source;
    source.path = path;
    options->sources.push_back(std::move(source));
    return Error::Ok;
  });
}

petrel_status petrel_options_add_data_buffer(petrel_options* options, const void* data, size_t size,
                                             petrel_ownership ownership) {
  return change(options, [&]() -> Error {
    Source source;
    PETREL_ASSIGN_OR_RETURN(source.buffer, make_buffer(data, size, ownership));
    options->sources.push_back(std::move(source));
    return Error::Ok;
  });
}

petrel_status petrel_options_add_data_fd(petrel_options* options, int fd, uint64_t offset,
                                         uint64_t length) {
  return change(options, [&]() -> Error {
    const int copy = petrel::runtime::duplicate_file(fd);
    if (copy < 0) {
      PETREL_LOG(Error, "descriptor %d cannot be duplicated", fd);
      return Error::AccessFailed;
    }
    Source source;
    source.fd = std::make_shared<const Descriptor>(copy);
    source.offset = offset;
    source.length = length;
    options->sources.push_back(std::move(source));
    return Error::Ok;
  });
}

petrel_status petrel_module_load_path(const char* path, const petrel_options* options,
                                      petrel_module** out) {
  return load(options, out,
              [&](const Module::Options& module_options,
                  petrel_module*) -> Result<std::unique_ptr<Module>> {
                PETREL_RETURN_IF_ERROR(require(path, "path"));
                return Module::load(path, module_options);
              });
}

petrel_status petrel_module_load_buffer(const void* data, size_t size, petrel_ownership ownership,
                                        const petrel_options* options, petrel_module** out) {
  return load(options, out,
              [&](const Module::Options& module_options,
                  petrel_module* module) -> Result<std::unique_ptr<Module>> {
                PETREL_ASSIGN_OR_RETURN(const Buffer buffer, make_buffer(data, size, ownership));
                module->buffers.push_back(buffer);
                return Module::load(open_buffer(buffer), module_options);
              });
}

petrel_status petrel_module_load_fd(int fd, uint64_t offset, uint64_t length,
                                    const petrel_options* options, petrel_module** out) {
  return load(options, out,
              [&](const Module::Options& module_options,
                  petrel_module*) -> Result<std::unique_ptr<Module>> {
                PETREL_ASSIGN_OR_RETURN(std::unique_ptr<DataLoader> loader,
                                        open_descriptor(fd, offset, length));
                return Module::load(std::move(loader), module_options);
              });
}

petrel_status petrel_module_replace_data(petrel_module* module, const petrel_options* data,
                                         const char* keys, size_t* changed) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(module, "module"));
    PETREL_RETURN_IF_ERROR(require(data, "data"));
    PETREL_ASSIGN_OR_RETURN(const Module::Options with, with_sources(*data));
    PETREL_ASSIGN_OR_RETURN(const Module::Replaced replaced,
                            module->module->replace_data(with, keys == nullptr ? "*" : keys));
    // Outputs of the last run may be views of what is gone.
    if (replaced.changed != 0) {
      for (auto& [method, call] : module->calls) {
        call.outputs.clear();
        call.has_run = false;
      }
    }
    if (changed != nullptr) *changed = replaced.changed;
    return Error::Ok;
  });
}

void petrel_module_destroy(petrel_module* module) { delete module; }

}  // extern "C"
