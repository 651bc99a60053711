// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/xnnpack_delegate.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/tiles.h"
#include "runtime/threads/thread_pool.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::BackendOption;
using runtime::Error;
using runtime::Result;
using runtime::Span;

constexpr char kNumThreads[] = "num_threads";
constexpr char kShareWeights[] = "weight_cache_enabled";
constexpr char kSharingMode[] = "workspace_sharing_mode";
constexpr char kPackedFile[] = "packed_weights_file";
constexpr char kVerifyPacked[] = "verify_packed";
constexpr char kWinograd[] = "winograd";
constexpr char kMath[] = "math";
constexpr char kHugePages[] = "huge_pages";
constexpr char kTiles[] = "tiles";
constexpr char kRule[] = "rule";
constexpr int kSharedByMethod = 1;
constexpr int kSharedByAll = 2;
constexpr int kMaxSharingMode = kSharedByAll;

// The value as a T, or a message that names the option.
template <typename T>
Result<T> value_of(const BackendOption& option, const char* type) {
  if (const T* value = std::get_if<T>(&option.value)) return T(*value);
  PETREL_LOG(Error, "option '%s' must be %s", option.key, type);
  return Error::InvalidType;
}

Result<std::string_view> text_of(const BackendOption& option) {
  const auto* text = std::get_if<std::array<char, runtime::kMaxOptionValueLength>>(&option.value);
  if (text == nullptr) {
    PETREL_LOG(Error, "option '%s' must be a text", option.key);
    return Error::InvalidType;
  }
  return std::string_view(text->data());
}

Result<bool> is_fast(const BackendOption& option) {
  PETREL_ASSIGN_OR_RETURN(const std::string_view math, text_of(option));
  if (math == "fast" || math == "exact") return math == "fast";
  PETREL_LOG(Error, "option '%s' is '%s', must be 'exact' or 'fast'", option.key,
             std::string(math).c_str());
  return Error::InvalidArgument;
}

constexpr const char* name_of(HugePages pages) {
  if (pages == HugePages::kAlways) return "on";
  return pages == HugePages::kNever ? "off" : "auto";
}

Result<HugePages> huge_pages_of(const BackendOption& option) {
  PETREL_ASSIGN_OR_RETURN(const std::string_view name, text_of(option));
  for (const HugePages pages : {HugePages::kWhereCheap, HugePages::kAlways, HugePages::kNever}) {
    if (name == name_of(pages)) return pages;
  }
  PETREL_LOG(Error, "option '%s' is '%s', must be 'auto', 'on' or 'off'", option.key,
             std::string(name).c_str());
  return Error::InvalidArgument;
}

// The text itself, not empty.
Result<std::string_view> tiles_of(const BackendOption& option) {
  PETREL_ASSIGN_OR_RETURN(const std::string_view tiles, text_of(option));
  if (!tiles.empty()) return tiles;
  PETREL_LOG(Error, "option '%s' is empty, must be 'rule', 'trial' or a path", option.key);
  return Error::InvalidArgument;
}

// `packed` is the file of packed weights, or empty.
TileRequest request_of(const std::string& tiles, const std::string& packed) {
  using Kind = TileRequest::Kind;
  if (tiles.empty()) return {};
  if (tiles == kRule) return {Kind::kRule, ""};
  if (tiles == "trial") return {Kind::kTrial, packed.empty() ? "" : packed + ".tiles"};
  return {Kind::kTable, tiles};
}

// Precondition: it fits.
std::array<char, runtime::kMaxOptionValueLength> as_value(const char* text) {
  std::array<char, runtime::kMaxOptionValueLength> value = {};
  std::strcpy(value.data(), text);
  return value;
}

Error refuse(const BackendOption& option) {
  PETREL_LOG(Error, "XnnpackBackend has no option '%s'", option.key);
  return Error::NotSupported;
}

// What one load asks for beyond the options of the process. `tiles` is what that asks for.
Error read_load_options(Span<const BackendOption> given, std::string tiles,
                        Delegate::Options* options) {
  std::string packed;
  for (const BackendOption& option : given) {
    const std::string_view key = option.key;
    if (key == kShareWeights) {
      PETREL_ASSIGN_OR_RETURN(options->share_weights, value_of<bool>(option, "a bool"));
    } else if (key == kWinograd) {
      PETREL_ASSIGN_OR_RETURN(options->winograd, value_of<bool>(option, "a bool"));
    } else if (key == kMath) {
      PETREL_ASSIGN_OR_RETURN(options->fast_math, is_fast(option));
    } else if (key == kHugePages) {
      PETREL_ASSIGN_OR_RETURN(options->huge_pages, huge_pages_of(option));
    } else if (key == kPackedFile) {
      PETREL_ASSIGN_OR_RETURN(const std::string_view path, text_of(option));
      if (path.empty()) {
        PETREL_LOG(Error, "option '%s' is empty, must be a path", option.key);
        return Error::InvalidArgument;
      }
      packed = path;
    } else if (key == kTiles) {
      PETREL_ASSIGN_OR_RETURN(tiles, tiles_of(option));
    } else if (key == kVerifyPacked) {
      PETREL_ASSIGN_OR_RETURN(const std::string_view when, text_of(option));
      if (when != "first" && when != "never") {
        PETREL_LOG(Error, "option '%s' is '%s', must be 'first' or 'never'", option.key,
                   std::string(when).c_str());
        return Error::InvalidArgument;
      }
      options->verify_packed =
          when == "never" ? PackedFile::Verify::kNever : PackedFile::Verify::kFirstUse;
    } else {
      return refuse(option);
    }
  }
  if (!packed.empty() && !options->share_weights) {
    PETREL_LOG(Error, "option '%s' needs option '%s' to be true", kPackedFile, kShareWeights);
    return Error::InvalidArgument;
  }
  // Packed weights lie as the tile reads them.
  settle_tiles(request_of(tiles, packed));
  if (!packed.empty()) options->packed_file = PackedFile::open(packed);
  return Error::Ok;
}

}  // namespace

bool XnnpackBackend::is_available() const { return start_xnnpack() == xnn_status_success; }

Result<runtime::DelegateHandle*> XnnpackBackend::init(runtime::BackendInitContext& context,
                                                      runtime::FreeableBuffer* processed,
                                                      Span<const runtime::CompileSpec>) const {
  Delegate::Options options;
  options.share_weights = share_weights_;
  options.winograd = winograd_;
  options.fast_math = fast_math_;
  options.huge_pages = huge_pages_;
  std::string tiles;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tiles = tiles_;
  }
  PETREL_RETURN_IF_ERROR(read_load_options(context.runtime_specs(), std::move(tiles), &options));
  // The allocator is one of the method, or of several if the application says
  // so, which are then taken for one.
  const int mode = workspace_sharing_mode_;
  if (mode == kSharedByMethod) options.workspace_owner = context.get_runtime_allocator();
  if (mode == kSharedByAll) options.workspace_owner = this;
  options.memory = context.memory();
  options.sizes_are_fixed = context.sizes_are_fixed();
  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Delegate> delegate,
                          Delegate::create(processed->data(), processed->size(),
                                           context.get_named_data_map(), options));
  processed->free();
  return static_cast<runtime::DelegateHandle*>(delegate.release());
}

Error XnnpackBackend::execute(runtime::BackendExecutionContext& context,
                              runtime::DelegateHandle* handle, Span<runtime::EValue*> args) const {
  if (handle == nullptr) return Error::DelegateInvalidHandle;
  return static_cast<Delegate*>(handle)->execute(context, args);
}

Result<size_t> XnnpackBackend::num_outputs(runtime::DelegateHandle* handle) const {
  return static_cast<const Delegate*>(handle)->num_outputs();
}

void XnnpackBackend::destroy(runtime::DelegateHandle* handle) const {
  delete static_cast<Delegate*>(handle);
}

Error XnnpackBackend::set_option(Span<const BackendOption> options) {
  for (const BackendOption& option : options) {
    const std::string_view key = option.key;
    if (key == kNumThreads) {
      PETREL_ASSIGN_OR_RETURN(const int count, value_of<int>(option, "an int"));
      if (count < 0) {
        PETREL_LOG(Error, "option '%s' is %d, must not be negative", option.key, count);
        return Error::InvalidArgument;
      }
      PETREL_RETURN_IF_ERROR(runtime::set_thread_count(static_cast<size_t>(count)));
    } else if (key == kShareWeights) {
      PETREL_ASSIGN_OR_RETURN(share_weights_, value_of<bool>(option, "a bool"));
    } else if (key == kWinograd) {
      PETREL_ASSIGN_OR_RETURN(winograd_, value_of<bool>(option, "a bool"));
    } else if (key == kMath) {
      PETREL_ASSIGN_OR_RETURN(fast_math_, is_fast(option));
    } else if (key == kHugePages) {
      PETREL_ASSIGN_OR_RETURN(huge_pages_, huge_pages_of(option));
    } else if (key == kTiles) {
      PETREL_ASSIGN_OR_RETURN(const std::string_view tiles, tiles_of(option));
      const std::lock_guard<std::mutex> lock(mutex_);
      tiles_ = tiles;
    } else if (key == kSharingMode) {
      PETREL_ASSIGN_OR_RETURN(const int mode, value_of<int>(option, "an int"));
      if (mode < 0 || mode > kMaxSharingMode) {
        PETREL_LOG(Error, "option '%s' is %d, must be in [0, %d]", option.key, mode,
                   kMaxSharingMode);
        return Error::InvalidArgument;
      }
      workspace_sharing_mode_ = mode;
    } else {
      return refuse(option);
    }
  }
  return Error::Ok;
}

Error XnnpackBackend::get_option(Span<BackendOption> options) {
  for (BackendOption& option : options) {
    const std::string_view key = option.key;
    if (key == kNumThreads) {
      option.value = static_cast<int>(runtime::thread_count());
    } else if (key == kShareWeights) {
      option.value = share_weights_.load();
    } else if (key == kWinograd) {
      option.value = winograd_.load();
    } else if (key == kMath) {
      option.value = as_value(fast_math_ ? "fast" : "exact");
    } else if (key == kHugePages) {
      option.value = as_value(name_of(huge_pages_));
    } else if (key == kTiles) {
      const std::lock_guard<std::mutex> lock(mutex_);
      option.value = as_value(tiles_.empty() ? kRule : tiles_.c_str());
    } else if (key == kSharingMode) {
      option.value = workspace_sharing_mode_.load();
    } else {
      return refuse(option);
    }
  }
  return Error::Ok;
}

runtime::Backend xnnpack_backend() {
  // Never destroyed: methods may outlive static objects.
  static XnnpackBackend* const backend = new XnnpackBackend;
  return {"XnnpackBackend", backend};
}

}  // namespace petrel::backends::xnnpack
