// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK's kernels may read up to XNN_EXTRA_BYTES past the end of an array.
// What they find there never matters, but it must be mapped memory:
//
//   ...data data data|..|          the rest of the page of the last byte is
//   -----------------page end      readable whatever it holds
//   ...data data data|             here the next page may not be: copy
//   -----------------page end
//
// A PaddedBuffer holds such copies.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_OVER_READ_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_OVER_READ_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace petrel::backends::xnnpack {

// True if XNNPACK may be given `size` bytes at `data` as they are. No page of
// any system is smaller than what it assumes.
bool is_safe_to_over_read(const void* data, size_t size);

class PaddedBuffer {
 public:
  // Room for at least `size` bytes and what may be read past them; the old
  // contents are lost when it grows. False when there is no memory.
  bool reserve(size_t size);
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* data) const;
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_OVER_READ_H_
