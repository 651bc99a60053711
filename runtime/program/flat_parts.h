// SPDX-License-Identifier: Apache-2.0
//
// Parts of a flatbuffer that was checked (table_verifier.h). What is absent is empty, so that
// whoever reads asks for no null; an entry that is not there ends the process.
//
//   for (uint32_t i = 0; i < size_of(plan.values()); ++i) use(entry(plan.values(), i));
//
// What is done for any type is done without one: small code has it once.

#ifndef PETREL_RUNTIME_PROGRAM_FLAT_PARTS_H_
#define PETREL_RUNTIME_PROGRAM_FLAT_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "flatbuffers/flatbuffers.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

namespace internal {

struct FlatList {
  const uint8_t* data;
  size_t size;
};

inline FlatList list_of(const void* vector) {
  if (vector == nullptr) return {nullptr, 0};
  const auto* const bytes = static_cast<const flatbuffers::Vector<uint8_t>*>(vector);
  return {bytes->data(), bytes->size()};
}

inline const void* entry_of(const void* vector, uint32_t index) {
  const FlatList offsets = list_of(vector);
  if (index >= offsets.size) __builtin_trap();
  const uint8_t* const place = offsets.data + index * sizeof(flatbuffers::uoffset_t);
  return place + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(place);
}

inline bool is_aligned(const void* vector, size_t alignment) {
  const FlatList list = list_of(vector);
  return list.size == 0 || (reinterpret_cast<uintptr_t>(list.data) & (alignment - 1)) == 0;
}

}  // namespace internal

inline uint32_t size_of(const void* vector) {
  return static_cast<uint32_t>(internal::list_of(vector).size);
}

// Of numbers.
template <typename T>
Span<const T> items_of(const flatbuffers::Vector<T>* vector) {
  const internal::FlatList list = internal::list_of(vector);
  return {reinterpret_cast<const T*>(list.data), list.size};
}

// A table of a list of them.
template <typename T>
const T& entry(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector, uint32_t index) {
  return *static_cast<const T*>(internal::entry_of(vector, index));
}

// With a data() that is a C string, also when it is empty.
inline std::string_view text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view("") : std::string_view(text->c_str(), text->size());
}

// True if the text exists, has at most `max_length` bytes and no NUL in it, so that it is the
// same text as a C string. Looks at no more than max_length bytes.
inline bool is_c_text(const flatbuffers::String* text, size_t max_length) {
  return text != nullptr && text->size() <= max_length &&
         std::memchr(text->c_str(), '\0', text->size()) == nullptr;
}
// The same of one that is not empty.
inline bool is_name(const flatbuffers::String* text, size_t max_length) {
  return is_c_text(text, max_length) && text->size() != 0;
}

// True if the elements, in a buffer that starts at a multiple of 16, are aligned: the
// flatbuffers verifier looks at the length field only.
template <typename T>
bool is_aligned(const flatbuffers::Vector<T>* vector, size_t alignment = sizeof(T)) {
  return internal::is_aligned(vector, alignment);
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_FLAT_PARTS_H_
