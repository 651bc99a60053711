// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/touch.h"

#include <algorithm>
#include <cstdint>

#include "runtime/platform/pages.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uintptr_t kPage = 4096;
// What one thread asks for at a time: more than a wake-up costs.
constexpr size_t kPiece = 64 * kPage;

void touch_piece(void* first, size_t begin, size_t size) {
  auto* const data = static_cast<uint8_t*>(first) + begin;
  if (runtime::populate_pages(data, size)) return;
  for (size_t at = 0; at < size; at += kPage) {
    volatile uint8_t* const byte = data + at;
    *byte = *byte;
  }
}

}  // namespace

void touch(void* data, size_t size, pthreadpool_t threads) {
  const auto start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (start + kPage - 1) / kPage * kPage;
  const uintptr_t end = (start + size) / kPage * kPage;
  if (begin >= end) return;
  pthreadpool_parallelize_1d_tile_1d(
      threads, &touch_piece, static_cast<uint8_t*>(data) + (begin - start), end - begin, kPiece, 0);
}

void touch_to_read(const void* data, size_t size) {
  const size_t before = reinterpret_cast<uintptr_t>(data) % kPage;
  runtime::bring_pages(static_cast<const uint8_t*>(data) - before, before + size);
}

}  // namespace petrel::backends::xnnpack
