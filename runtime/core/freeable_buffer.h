// SPDX-License-Identifier: Apache-2.0
//
// FreeableBuffer: bytes, and the function that gives them back. It owns them:
// they are given back once, by free() or by the destructor.
//
//   FreeableBuffer buffer(data, size, &unmap, loader);
//   read(buffer.data(), buffer.size());
//   buffer.free();                     // early; data() is null from here on

#ifndef PETREL_RUNTIME_CORE_FREEABLE_BUFFER_H_
#define PETREL_RUNTIME_CORE_FREEABLE_BUFFER_H_

#include <cstddef>
#include <utility>

namespace petrel::runtime {

class FreeableBuffer final {
 public:
  using FreeFn = void (*)(void* context, void* data, size_t size);

  FreeableBuffer() = default;

  // free_fn may be null when nobody has to be told.
  FreeableBuffer(const void* data, size_t size, FreeFn free_fn, void* free_fn_context = nullptr)
      : data_(data), size_(size), free_fn_(free_fn), context_(free_fn_context) {}

  FreeableBuffer(FreeableBuffer&& other) noexcept { *this = std::move(other); }
  FreeableBuffer& operator=(FreeableBuffer&& other) noexcept {
    if (this != &other) {
      free();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      free_fn_ = std::exchange(other.free_fn_, nullptr);
      context_ = std::exchange(other.context_, nullptr);
    }
    return *this;
  }
  FreeableBuffer(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(const FreeableBuffer&) = delete;
  ~FreeableBuffer() { free(); }

  // Gives the bytes back; does nothing the second time.
  void free() {
    if (data_ != nullptr && free_fn_ != nullptr) {
      free_fn_(context_, const_cast<void*>(data_), size_);
    }
    data_ = nullptr;
    size_ = 0;
  }
  // ExecuTorch's name for it.
  void Free() { free(); }

  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const void* data_ = nullptr;
  size_t size_ = 0;
  FreeFn free_fn_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_FREEABLE_BUFFER_H_
