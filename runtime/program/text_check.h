// SPDX-License-Identifier: Apache-2.0
//
// Checks of strings and vectors of a flatbuffer that its own verifier leaves
// out.

#ifndef PETREL_RUNTIME_PROGRAM_TEXT_CHECK_H_
#define PETREL_RUNTIME_PROGRAM_TEXT_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "flatbuffers/flatbuffers.h"

namespace petrel::runtime {

// True if the text exists, has at most `max_length` bytes and no NUL in it, so
// that it is the same text as a C string. Looks at no more than max_length
// bytes.
inline bool is_c_text(const flatbuffers::String* text, size_t max_length) {
  return text != nullptr && text->size() <= max_length &&
         (text->size() == 0 || std::memchr(text->c_str(), '\0', text->size()) == nullptr);
}

inline bool is_name(const flatbuffers::String* text, size_t max_length) {
  return is_c_text(text, max_length) && text->size() != 0;
}

// True if the elements, in a buffer that starts at a multiple of 16, are
// aligned: the flatbuffers verifier looks at the length field only.
template <typename T>
bool is_aligned(const flatbuffers::Vector<T>* vector, size_t alignment = sizeof(T)) {
  return vector == nullptr || vector->size() == 0 ||
         reinterpret_cast<uintptr_t>(vector->Data()) % alignment == 0;
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_TEXT_CHECK_H_
