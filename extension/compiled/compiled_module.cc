// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/compiled_module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "extension/compiled/module_file.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/platform/isa_level.h"

namespace petrel::extension {

using runtime::Error;
using runtime::Result;

namespace {

// The system looks for names without a folder elsewhere.
Result<std::string> absolute(const std::string& path) {
  char* const found = realpath(path.c_str(), nullptr);
  if (found == nullptr) {
    const int reason = errno;
    PETREL_LOG(Error, "%s: %s", path.c_str(), std::strerror(reason));
    return reason == ENOENT ? Error::NotFound : Error::AccessFailed;
  }
  std::string result = found;
  std::free(found);
  return result;
}

// What this process allows itself, as a level of modules.
uint32_t most_level() {
#if defined(__x86_64__)
  constexpr uint32_t kAvx2Level = runtime::kAvx2 | runtime::kFma3 | runtime::kF16c;
  constexpr uint32_t kAvx512Level = kAvx2Level | runtime::kAvx512f | runtime::kAvx512skx;
  const uint32_t features = runtime::isa_level().features;
  if ((features & kAvx2Level) != kAvx2Level) return PETREL_MODULE_LEVEL_BASE;
  if ((features & kAvx512Level) != kAvx512Level) return PETREL_MODULE_LEVEL_AVX2;
#endif
  return PETREL_MODULE_LEVEL_BEST;
}

// Zeros; at least one byte, so that there is an address.
void* allocate_zeros(size_t bytes, size_t align) {
  size_t rounded = 0;
  const size_t unit = std::max(align, alignof(std::max_align_t));
  if (!runtime::is_power_of_two(unit)) return nullptr;
  if (!runtime::checked_align_up(std::max<size_t>(bytes, 1), unit, &rounded)) return nullptr;
  void* const memory = std::aligned_alloc(unit, rounded);
  if (memory != nullptr) std::memset(memory, 0, rounded);
  return memory;
}

}  // namespace

void CompiledModule::Close::operator()(void* library) const { dlclose(library); }

void CompiledModule::Free::operator()(void* memory) const { std::free(memory); }

CompiledModule::CompiledModule() = default;

CompiledModule::~CompiledModule() {
  if (is_open_) metadata_->close(context_.get());
}

Result<std::unique_ptr<CompiledModule>> CompiledModule::open(const std::string& path) {
  PETREL_ASSIGN_OR_RETURN(const std::string file, absolute(path));
  std::string sha256;
  {
    PETREL_ASSIGN_OR_RETURN(const ModuleFile checked, ModuleFile::open(file));
    PETREL_RETURN_IF_ERROR(checked.check_runs_here());
    sha256 = checked.model_sha256();
  }
  std::unique_ptr<CompiledModule> module(new CompiledModule());
  PETREL_RETURN_IF_ERROR(module->load(file, sha256));
  PETREL_RETURN_IF_ERROR(module->allocate());
  PETREL_RETURN_IF_ERROR(module->open_devices());
  return module;
}

Error CompiledModule::load(const std::string& path, const std::string& sha256) {
  library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library_ == nullptr) {
    PETREL_LOG(Error, "%s: the system does not load it: %s", path.c_str(), dlerror());
    return Error::NotSupported;
  }
  using GetModel = const petrel_model_metadata* (*)(uint32_t);
  const auto get = reinterpret_cast<GetModel>(dlsym(library_.get(), PETREL_MODULE_SYMBOL));
  if (get == nullptr) {
    PETREL_LOG(Error, "%s: has no symbol %s", path.c_str(), PETREL_MODULE_SYMBOL);
    return Error::InvalidProgram;
  }
  metadata_ = get(most_level());
  if (metadata_->magic != PETREL_MODEL_MAGIC ||
      metadata_->abi_version != PETREL_MODEL_ABI_VERSION) {
    PETREL_LOG(Error, "%s: its code has magic %08x and ABI version %u, must have %08x and %u",
               path.c_str(), metadata_->magic, metadata_->abi_version, PETREL_MODEL_MAGIC,
               PETREL_MODEL_ABI_VERSION);
    return Error::InvalidProgram;
  }
  // The system keeps what it loaded from a path, whatever is at the path now.
  if (metadata_->sha256 != sha256) {
    PETREL_LOG(Error,
               "%s: holds model %.8s, the process still has model %.8s from this path; close that "
               "first, or write the new one to another path",
               path.c_str(), sha256.c_str(), metadata_->sha256);
    return Error::InvalidState;
  }
  return Error::Ok;
}

Error CompiledModule::allocate() {
  std::vector<void*> pools;
  std::vector<size_t> bytes;
  for (size_t i = 0; i < metadata_->num_pools; ++i) {
    const petrel_pool_info& pool = metadata_->pools[i];
    pools_.emplace_back(allocate_zeros(pool.bytes, pool.align));
    if (pools_.back() == nullptr) {
      PETREL_LOG(Error, "pool '%s' of %zu bytes aligned to %zu cannot be allocated", pool.name,
                 pool.bytes, pool.align);
      return Error::MemoryAllocationFailed;
    }
    pools.push_back(pools_.back().get());
    bytes.push_back(pool.bytes);
  }
  context_.reset(allocate_zeros(metadata_->context_bytes, 1));
  if (context_ == nullptr) {
    PETREL_LOG(Error, "model '%s': its context of %zu bytes cannot be allocated", metadata_->name,
               metadata_->context_bytes);
    return Error::MemoryAllocationFailed;
  }
  const int32_t status = metadata_->init(context_.get(), pools.data(), bytes.data());
  if (status != PETREL_MODEL_OK) {
    PETREL_LOG(Error, "model '%s' refuses its memory with status %d", metadata_->name, status);
    return Error::Internal;
  }
  for (size_t i = 0; i < metadata_->num_methods; ++i) {
    methods_.push_back(std::make_unique<CompiledMethod>(metadata_->methods[i], context_.get()));
  }
  return Error::Ok;
}

// This machine has no devices for them, only what backends wrote as C.
Error CompiledModule::open_devices() {
  if (metadata_->open == nullptr) return Error::Ok;
  const std::vector<void*> none(metadata_->num_devices, nullptr);
  const int32_t status = metadata_->open(context_.get(), none.data());
  is_open_ = status == PETREL_MODEL_OK;
  if (is_open_) return Error::Ok;
  std::string names;
  for (size_t i = 0; i < metadata_->num_devices; ++i) {
    names += (i > 0 ? ", " : "") + std::string(metadata_->devices[i].name);
  }
  PETREL_LOG(Error, "model '%s' runs on devices that are not there, of %s: status %d",
             metadata_->name, names.c_str(), status);
  return Error::NotSupported;
}

std::vector<std::string> CompiledModule::method_names() const {
  std::vector<std::string> names;
  for (const auto& method : methods_) names.emplace_back(method->name());
  return names;
}

Result<CompiledMethod*> CompiledModule::method(const std::string& name) const {
  std::string known;
  for (const auto& method : methods_) {
    if (name == method->name()) return method.get();
    known += (known.empty() ? "" : ", ") + std::string(method->name());
  }
  PETREL_LOG(Error, "model '%s' has no method '%s', it has: %s", metadata_->name, name.c_str(),
             known.c_str());
  return Error::NotFound;
}

Error CompiledModule::reset_state() {
  const int32_t status = metadata_->reset_state(context_.get());
  if (status == PETREL_MODEL_OK) return Error::Ok;
  PETREL_LOG(Error, "model '%s': resetting its state gives status %d", metadata_->name, status);
  return Error::Internal;
}

}  // namespace petrel::extension
