// SPDX-License-Identifier: Apache-2.0
//
// Conversions between element types of tensors of equal layout: all that have
// arithmetic but unsigned ones above 8 bits, each into each. Floats become integers
// towards zero, what is out of range as the portable kernel has it.
#include "runtime/kernels/optimized/cast.h"

#include <cstdint>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"

namespace petrel::runtime::optimized {
namespace {

// A bool in memory: any byte but 0 is true.
struct Truth {
  uint8_t byte;
};

template <typename From, typename To>
To converted(From x) {
  if constexpr (std::is_same_v<From, Truth>) {
    return converted<uint8_t, To>(x.byte != 0 ? 1 : 0);
  } else if constexpr (std::is_same_v<To, Truth>) {
    return Truth{static_cast<uint8_t>(x != From{0} ? 1 : 0)};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(portable::to_integer(static_cast<double>(x)));
  } else {
    return static_cast<To>(x);
  }
}

// Whether all floats are in the range of int32, NaN none of them.
bool fit_int32(const float* from, size_t n) {
  int32_t largest = 0;
  for (size_t i = 0; i < n; ++i) {
    int32_t bits = 0;
    std::memcpy(&bits, from + i, sizeof(bits));
    bits &= 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return largest < 0x4f000000;
}

template <typename From, typename To>
void convert(const void* in, void* out, size_t n) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    if (fit_int32(from, n)) {
      for (size_t i = 0; i < n; ++i) to[i] = static_cast<To>(static_cast<int32_t>(from[i]));
      return;
    }
  }
  for (size_t i = 0; i < n; ++i) to[i] = converted<From, To>(from[i]);
}

using Convert = void (*)(const void* in, void* out, size_t n);

template <typename From>
Convert converter_from(ScalarType to) {
  switch (to) {
    case ScalarType::Float:
      return &convert<From, float>;
    case ScalarType::Long:
      return &convert<From, int64_t>;
    case ScalarType::Int:
      return &convert<From, int32_t>;
    case ScalarType::Double:
      return &convert<From, double>;
    case ScalarType::Short:
      return &convert<From, int16_t>;
    case ScalarType::Char:
      return &convert<From, int8_t>;
    case ScalarType::Byte:
      return &convert<From, uint8_t>;
    case ScalarType::Bool:
      return &convert<From, Truth>;
    default:
      return nullptr;
  }
}

// Half and bfloat16 count as floats here. Null for types that are not taken.
Convert converter(ScalarType from, ScalarType to) {
  if (is_narrow(to)) to = ScalarType::Float;
  switch (from) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float:
      return converter_from<float>(to);
    case ScalarType::Long:
      return converter_from<int64_t>(to);
    case ScalarType::Int:
      return converter_from<int32_t>(to);
    case ScalarType::Double:
      return converter_from<double>(to);
    case ScalarType::Short:
      return converter_from<int16_t>(to);
    case ScalarType::Char:
      return converter_from<int8_t>(to);
    case ScalarType::Byte:
      return converter_from<uint8_t>(to);
    case ScalarType::Bool:
      return converter_from<Truth>(to);
    default:
      return nullptr;
  }
}

bool cast(const Tensor& self, const Tensor& out) {
  const ScalarType from = self.scalar_type(), to = out.scalar_type();
  const Convert convert = converter(from, to);
  if (from == to || convert == nullptr || resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return false;
  }
  constexpr size_t kPiece = 1024;
  const char* in = static_cast<const char*>(self.const_data_ptr());
  char* result = static_cast<char*>(out.mutable_data_ptr());
  const size_t n = self.numel();
  parallel_for((n + kPiece - 1) / kPiece, 0.5 * kPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin * kPiece; i < n && i < end * kPiece; i += kPiece) {
      const size_t count = n - i < kPiece ? n - i : kPiece;
      float wide[kPiece], rest[kPiece];
      const void* source = in + i * self.element_size();
      if (is_narrow(from)) {
        widen(from, in, i, wide, count);
        source = wide;
      }
      convert(source, is_narrow(to) ? static_cast<void*>(rest) : result + i * out.element_size(),
              count);
      if (is_narrow(to)) narrow(rest, to, result, i, count);
    }
  });
  return true;
}

}  // namespace

bool can_load_floats(ScalarType type) {
  return type != ScalarType::Double && converter(type, ScalarType::Float) != nullptr;
}

void load_floats(ScalarType type, const void* data, size_t first, float* out, size_t n) {
  if (type == ScalarType::Float || is_narrow(type)) return widen(type, data, first, out, n);
  const char* from = static_cast<const char*>(data) + first * element_size(type);
  converter(type, ScalarType::Float)(from, out, n);
}

// _to_copy.out, _to_dim_order_copy.out, _clone_dim_order.out(Tensor self, *,
//   bool non_blocking, int[]? order, out)
void to_order_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  if (!cast(self, out)) portable::to_order_out(context, raw);
}

}  // namespace petrel::runtime::optimized
