// SPDX-License-Identifier: Apache-2.0
//
// Options of backends: a key and a bool, an int or a short text. They are
// copied when they are set.
//
//   BackendOptions<2> options;
//   options.set_option("num_threads", 4);
//   options.set_option("workspace_sharing_mode", 2);
//   registry.set_option("XnnpackBackend", options.view());    // process wide
//
//   LoadBackendOptionsMap map;                                // for one load
//   map.set_options("XnnpackBackend", options.view());
//   program->load_method("forward", &memory, nullptr, nullptr, &map);

#ifndef PETREL_RUNTIME_BACKEND_OPTIONS_H_
#define PETREL_RUNTIME_BACKEND_OPTIONS_H_

#include <array>
#include <cstring>
#include <string_view>
#include <variant>

#include "runtime/core/error.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

inline constexpr size_t kMaxOptionKeyLength = 64;
inline constexpr size_t kMaxOptionValueLength = 256;

// Text values end with a NUL within the array.
using OptionValue = std::variant<bool, int, std::array<char, kMaxOptionValueLength>>;

struct BackendOption {
  char key[kMaxOptionKeyLength] = {};
  OptionValue value = false;
};

// Copies `text` with its NUL; false if it is too long or contains one.
template <size_t N>
[[nodiscard]] bool copy_text(std::string_view text, char (&out)[N]) {
  if (text.size() >= N || text.find('\0') != std::string_view::npos) return false;
  std::memcpy(out, text.data(), text.size());
  std::memset(out + text.size(), 0, N - text.size());
  return true;
}

// Up to `kCapacity` options of one backend.
template <size_t kCapacity>
class BackendOptions final {
 public:
  Span<BackendOption> view() { return {options_, size_}; }

  // Adds or replaces. InvalidArgument if the key or text is too long or no
  // room is left.
  Error set_option(std::string_view key, bool value) { return set_value(key, value); }
  Error set_option(std::string_view key, int value) { return set_value(key, value); }
  Error set_option(std::string_view key, const char* value) {
    char text[kMaxOptionValueLength];
    if (!copy_text(value, text)) return Error::InvalidArgument;
    std::array<char, kMaxOptionValueLength> array;
    std::memcpy(array.data(), text, sizeof(text));
    return set_value(key, array);
  }

 private:
  Error set_value(std::string_view key, OptionValue value) {
    size_t i = 0;
    while (i < size_ && key != options_[i].key) ++i;
    if (i == kCapacity || !copy_text(key, options_[i].key)) return Error::InvalidArgument;
    options_[i].value = value;
    if (i == size_) ++size_;
    return Error::Ok;
  }

  BackendOption options_[kCapacity];
  size_t size_ = 0;
};

// The value of `key` as a T: bool, int or const char* (valid as long as the
// options). NotFound, or InvalidType.
template <typename T>
Result<T> get_option_value(Span<const BackendOption> options, std::string_view key) {
  for (const BackendOption& option : options) {
    if (key != option.key) continue;
    if constexpr (std::is_same_v<T, const char*>) {
      const auto* text = std::get_if<std::array<char, kMaxOptionValueLength>>(&option.value);
      if (text == nullptr) return Error::InvalidType;
      return static_cast<const char*>(text->data());
    } else {
      const T* value = std::get_if<T>(&option.value);
      if (value == nullptr) return Error::InvalidType;
      return T(*value);
    }
  }
  return Error::NotFound;
}

// Options by backend, for one load_method. Refers to the options given.
class LoadBackendOptionsMap final {
 public:
  static constexpr size_t kMaxBackends = 8;

  // Replaces what was set for `backend_id`.
  Error set_options(std::string_view backend_id, Span<BackendOption> options) {
    size_t i = 0;
    while (i < size_ && backend_id != entries_[i].id) ++i;
    if (i == kMaxBackends || !copy_text(backend_id, entries_[i].id)) {
      return Error::InvalidArgument;
    }
    entries_[i].options = options;
    if (i == size_) ++size_;
    return Error::Ok;
  }

  // Empty when nothing was set.
  Span<const BackendOption> get_options(std::string_view backend_id) const {
    for (size_t i = 0; i < size_; ++i) {
      if (backend_id == entries_[i].id) return entries_[i].options;
    }
    return {};
  }

 private:
  struct Entry {
    char id[kMaxOptionKeyLength] = {};
    Span<BackendOption> options;
  };
  Entry entries_[kMaxBackends];
  size_t size_ = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_BACKEND_OPTIONS_H_
