// SPDX-License-Identifier: Apache-2.0
//
// new and delete for libpetrel.dylib alone, compiled to be hidden. Those of the library of C++
// that is static in it would be seen from outside, and macOS may then use them for the whole
// process.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* allocate(size_t size, size_t alignment) noexcept {
  if (size == 0) size = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

// Asks the handler that the process has set for memory, as often as it comes back.
void* allocate_or_throw(size_t size, size_t alignment) {
  for (;;) {
    if (void* const memory = allocate(size, alignment)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* allocate_or_null(size_t size, size_t alignment) noexcept {
  try {
    return allocate_or_throw(size, alignment);
  } catch (...) {
    return nullptr;
  }
}

size_t number(std::align_val_t alignment) { return static_cast<size_t>(alignment); }

}  // namespace

// NOLINTBEGIN: the language names them
using Nothrow = const std::nothrow_t&;
using Align = std::align_val_t;

void* operator new(size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](size_t n) { return allocate_or_throw(n, 1); }
void* operator new(size_t n, Align a) { return allocate_or_throw(n, number(a)); }
void* operator new[](size_t n, Align a) { return allocate_or_throw(n, number(a)); }
void* operator new(size_t n, Nothrow) noexcept { return allocate_or_null(n, 1); }
void* operator new[](size_t n, Nothrow) noexcept { return allocate_or_null(n, 1); }
void* operator new(size_t n, Align a, Nothrow) noexcept { return allocate_or_null(n, number(a)); }
void* operator new[](size_t n, Align a, Nothrow) noexcept { return allocate_or_null(n, number(a)); }

void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, Align) noexcept { std::free(p); }
void operator delete[](void* p, Align) noexcept { std::free(p); }
void operator delete(void* p, size_t, Align) noexcept { std::free(p); }
void operator delete[](void* p, size_t, Align) noexcept { std::free(p); }
void operator delete(void* p, Nothrow) noexcept { std::free(p); }
void operator delete[](void* p, Nothrow) noexcept { std::free(p); }
void operator delete(void* p, Align, Nothrow) noexcept { std::free(p); }
void operator delete[](void* p, Align, Nothrow) noexcept { std::free(p); }
// NOLINTEND
