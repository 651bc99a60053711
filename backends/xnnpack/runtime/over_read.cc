// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/over_read.h"

#include <xnnpack.h>

#include <cstring>
#include <new>

namespace petrel::backends::xnnpack {
namespace {

constexpr uintptr_t kSmallestPage = 4096;
constexpr std::align_val_t kAlignment{64};
static_assert(XNN_EXTRA_BYTES <= kSmallestPage);

}  // namespace

bool is_safe_to_over_read(const void* data, size_t size) {
  if (size == 0) return false;
  const uintptr_t last = reinterpret_cast<uintptr_t>(data) + size - 1;
  return last / kSmallestPage == (last + XNN_EXTRA_BYTES) / kSmallestPage;
}

bool PaddedBuffer::reserve(size_t size) {
  if (data_ != nullptr && size <= size_) return true;
  size_t padded = 0;
  if (__builtin_add_overflow(size, size_t{XNN_EXTRA_BYTES}, &padded)) return false;
  // First: what it holds is lost anyway, and both would take twice as much.
  data_.reset();
  size_ = 0;
  auto* data = static_cast<uint8_t*>(::operator new(padded, kAlignment, std::nothrow));
  if (data == nullptr) return false;
  // Not left uninitialised: kernels compute with it, though to no effect.
  std::memset(data + size, 0, XNN_EXTRA_BYTES);
  data_.reset(data);
  size_ = size;
  return true;
}

void PaddedBuffer::Free::operator()(uint8_t* data) const { ::operator delete(data, kAlignment); }

}  // namespace petrel::backends::xnnpack
