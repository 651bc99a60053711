// SPDX-License-Identifier: Apache-2.0
//
// Span<T>: a pointer and a number of elements that someone else owns.
//
//   void sum(Span<const int32_t> values);
//   int32_t v[3] = {1, 2, 3};
//   sum(v);
//
// Indexing is not checked: whoever makes an index from a file checks it first.

#ifndef PETREL_RUNTIME_CORE_SPAN_H_
#define PETREL_RUNTIME_CORE_SPAN_H_

#include <cstddef>
#include <type_traits>
#include <utility>

namespace petrel::runtime {

template <typename T>
class Span final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  constexpr Span(T* begin, T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}

  template <size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}

  // Span<T> to Span<const T>.
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr Span(const Span<U>& other) : data_(other.data()), size_(other.size()) {}

  // Anything with data() and size(): std::vector, std::array.
  template <typename C, typename Data = decltype(std::declval<C&>().data()),
            typename Size = decltype(std::declval<C&>().size()),
            typename = std::enable_if_t<
                std::is_convertible_v<std::remove_pointer_t<Data> (*)[], T (*)[]> &&
                std::is_integral_v<Size>>>
  constexpr Span(C& container) : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return data_; }
  constexpr const T* cend() const { return data_ + size_; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  // Ends the process where there is none.
  constexpr T& at(size_t i) const {
    if (i >= size_) __builtin_trap();
    return data_[i];
  }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }

  // The first `count` elements; `count` must not exceed size().
  constexpr Span first(size_t count) const { return Span(data_, count); }
  // The elements from `start` on; `start` must not exceed size().
  constexpr Span subspan(size_t start) const { return Span(data_ + start, size_ - start); }
  constexpr Span slice(size_t start, size_t count) const { return subspan(start).first(count); }
  constexpr Span slice(size_t start) const { return subspan(start); }
  // Element by element.
  constexpr bool equals(Span other) const { return equal(*this, other); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Element-wise equality.
template <typename T, typename U>
constexpr bool equal(Span<T> a, Span<U> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}
template <typename T>
constexpr bool operator==(Span<T> a, Span<T> b) {
  return equal(a, b);
}
template <typename T>
constexpr bool operator!=(Span<T> a, Span<T> b) {
  return !equal(a, b);
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_SPAN_H_
