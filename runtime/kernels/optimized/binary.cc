// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and comparisons of two operands (binary_rows.h): of floats as vector
// code, of half, bfloat16 and mixed types by way of floats, of integers and
// doubles as plain loops.
#include <cstring>

#include "runtime/kernels/optimized/binary_rows.h"
#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/binary.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

// Vector functions of x and y, and of a parameter p.
#define PETREL_FLOAT_BINARY(X)                                         \
  X(add, hn::Add(x, y))                                                \
  X(sub, hn::Sub(x, y))                                                \
  X(rsub, hn::Sub(y, x))                                               \
  X(add_scaled, hn::MulAdd(hn::Set(d, p), y, x))                       \
  X(rsub_scaled, hn::NegMulAdd(hn::Set(d, p), x, y))                   \
  X(mul, hn::Mul(x, y))                                                \
  X(div, hn::Div(x, y))                                                \
  X(maximum, hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y)) \
  X(minimum, hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Lt(x, y)), x, y))

#define PETREL_FLOAT_COMPARISON(X) \
  X(eq, hn::Eq(x, y))              \
  X(ne, hn::Not(hn::Eq(x, y)))     \
  X(lt, hn::Lt(x, y))              \
  X(le, hn::Le(x, y))              \
  X(gt, hn::Gt(x, y))              \
  X(ge, hn::Ge(x, y))

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// One vector of a row that may stand still.
template <bool kMoves>
HWY_INLINE V At(const float* row, size_t i, V fixed) {
  if constexpr (kMoves) return hn::LoadU(D(), row + i);
  return fixed;
}

// store(i, f(x, y), lanes) for every vector; the rest of the row goes through
// copies on the stack.
template <bool kAMoves, bool kBMoves, typename F, typename S>
HWY_INLINE void Walk(const float* a, const float* b, size_t n, const F& f, const S& store) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V fixed_a = hn::Set(d, a[0]), fixed_b = hn::Set(d, b[0]);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    store(i, f(At<kAMoves>(a, i, fixed_a), At<kBMoves>(b, i, fixed_b)), lanes);
  }
  if (i == n) return;
  if (i + 1 == n) {  // the whole of a scalar; cheaper than a copy
    store(i, f(hn::Set(d, a[kAMoves ? i : 0]), hn::Set(d, b[kBMoves ? i : 0])), 1);
    return;
  }
  HWY_ALIGN float x[kMaxLanes] = {}, y[kMaxLanes] = {};
  std::memcpy(x, a + (kAMoves ? i : 0), (kAMoves ? n - i : 1) * sizeof(float));
  std::memcpy(y, b + (kBMoves ? i : 0), (kBMoves ? n - i : 1) * sizeof(float));
  store(i, f(At<kAMoves>(x, 0, fixed_a), At<kBMoves>(y, 0, fixed_b)), n - i);
}

template <typename F, typename S>
HWY_INLINE void WalkRow(const float* a, bool a_moves, const float* b, bool b_moves, size_t n,
                        const F& f, const S& store) {
  if (a_moves && b_moves) {
    Walk<true, true>(a, b, n, f, store);
  } else if (a_moves) {
    Walk<true, false>(a, b, n, f, store);
  } else {
    Walk<false, true>(a, b, n, f, store);
  }
}

#define PETREL_DEFINE(name, expression)                                                         \
  void Row_##name(const void* a, bool a_moves, const void* b, bool b_moves, void* to, size_t n, \
                  float p) {                                                                    \
    const D d;                                                                                  \
    float* out = static_cast<float*>(to);                                                       \
    (void)p;                                                                                    \
    WalkRow(                                                                                    \
        static_cast<const float*>(a), a_moves, static_cast<const float*>(b), b_moves, n,        \
        [=](V x, V y) HWY_ATTR { return expression; },                                          \
        [=](size_t i, V v, size_t count) HWY_ATTR {                                             \
          if (HWY_LIKELY(count == hn::Lanes(d))) {                                              \
            hn::StoreU(v, d, out + i);                                                          \
          } else if (count == 1) {                                                              \
            out[i] = hn::GetLane(v);                                                            \
          } else {                                                                              \
            HWY_ALIGN float rest[kMaxLanes];                                                    \
            hn::Store(v, d, rest);                                                              \
            std::memcpy(out + i, rest, count * sizeof(float));                                  \
          }                                                                                     \
        });                                                                                     \
  }
PETREL_FLOAT_BINARY(PETREL_DEFINE)
#undef PETREL_DEFINE

#define PETREL_DEFINE(name, expression)                                                         \
  void Row_##name(const void* a, bool a_moves, const void* b, bool b_moves, void* to, size_t n, \
                  float) {                                                                      \
    const DI di;                                                                                \
    const hn::Rebind<uint8_t, DI> bytes;                                                        \
    uint8_t* out = static_cast<uint8_t*>(to);                                                   \
    WalkRow(                                                                                    \
        static_cast<const float*>(a), a_moves, static_cast<const float*>(b), b_moves, n,        \
        [](V x, V y) HWY_ATTR { return hn::VecFromMask(D(), expression); },                     \
        [=](size_t i, V v, size_t count) HWY_ATTR {                                             \
          const auto ones = hn::ShiftRight<31>(hn::BitCast(hn::RebindToUnsigned<DI>(), v));     \
          HWY_ALIGN uint8_t rest[4 * kMaxLanes];                                                \
          hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(di, ones)), bytes, rest);                  \
          std::memcpy(out + i, rest, count);                                                    \
        });                                                                                     \
  }
PETREL_FLOAT_COMPARISON(PETREL_DEFINE)
#undef PETREL_DEFINE

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

// Integers without a sign, so that overflow wraps, or doubles.
#define PETREL_ARITHMETIC(Name, op)  \
  struct Name {                      \
    template <typename T>            \
    T operator()(T x, T y) const {   \
      return static_cast<T>(x op y); \
    }                                \
  };
PETREL_ARITHMETIC(Plus, +)
PETREL_ARITHMETIC(Minus, -)
PETREL_ARITHMETIC(Quotient, /)
#undef PETREL_ARITHMETIC
struct Times {
  template <typename T>
  T operator()(T x, T y) const {
    // Of two uint16_t the product would be an int, and may overflow one.
    if constexpr (sizeof(T) < sizeof(int)) return static_cast<T>(1u * x * y);
    return static_cast<T>(x * y);
  }
};

#define PETREL_TRUTH(Name, expression)   \
  struct Name {                          \
    template <typename T>                \
    uint8_t operator()(T x, T y) const { \
      return (expression) ? 1 : 0;       \
    }                                    \
  };
PETREL_TRUTH(Equal, x == y)
PETREL_TRUTH(Unequal, x != y)
PETREL_TRUTH(Less, x < y)
PETREL_TRUTH(LessOrEqual, x <= y)
#undef PETREL_TRUTH

#define PETREL_DEFINE(name, expression) PETREL_EXPORT(Row_##name);
PETREL_FLOAT_BINARY(PETREL_DEFINE)
PETREL_FLOAT_COMPARISON(PETREL_DEFINE)
#undef PETREL_DEFINE

enum class Sum { kAdd, kSub, kRsub };

// add, sub and rsub: a + alpha b, a - alpha b, b - alpha a.
bool sum(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, Sum kind) {
  KernelArgs args(context, raw, 4);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Scalar alpha = args.scalar(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return true;
  const float p = static_cast<float>(alpha.to_double());
  const bool is_plain = alpha.to_double() == 1.0;
  const Row row = kind == Sum::kAdd && is_plain   ? PETREL_DISPATCH(Row_add)
                  : kind == Sum::kAdd             ? PETREL_DISPATCH(Row_add_scaled)
                  : kind == Sum::kSub && is_plain ? PETREL_DISPATCH(Row_sub)
                  : kind == Sum::kSub             ? PETREL_DISPATCH(Row_add_scaled)
                  : is_plain                      ? PETREL_DISPATCH(Row_rsub)
                                                  : PETREL_DISPATCH(Row_rsub_scaled);
  if (float_rows(a, b, out, row, false, Wider::kKept, kind == Sum::kSub ? -p : p)) return true;
  if (!is_plain) return false;
  const ScalarType type = a.scalar_type();
  if (kind == Sum::kAdd) {
    return plain_rows(a, b, out, or_double_row<Plus, false>(type, wrapping_row<Plus, false>(type)),
                      false);
  }
  return plain_rows(a, b, out, or_double_row<Minus, false>(type, wrapping_row<Minus, false>(type)),
                    false, /*swapped=*/kind == Sum::kRsub);
}

// `row` for floats, `plain` for what is of the same type otherwise.
bool binary(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, Row row,
            Row (*plain)(ScalarType), Wider wider, bool to_bool = false, bool swapped = false) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  return float_rows(a, b, out, row, to_bool, wider) ||
         plain_rows(a, b, out, plain(a.scalar_type()), to_bool, swapped);
}

Row times(ScalarType type) {
  return or_double_row<Times, false>(type, wrapping_row<Times, false>(type));
}
Row quotient(ScalarType type) { return or_double_row<Quotient, false>(type, nullptr); }

// NaN wins.
struct Larger {
  template <typename T>
  T operator()(T x, T y) const {
    return x != x || x > y ? x : y;
  }
};
struct Smaller {
  template <typename T>
  T operator()(T x, T y) const {
    return x != x || x < y ? x : y;
  }
};
template <typename F>
Row extreme(ScalarType type) {
  return or_double_row<F, false>(type, ordered_row<F, false>(type));
}

// Of bools, of which any byte but 0 is true.
template <typename F>
struct OfTruth {
  uint8_t operator()(uint8_t x, uint8_t y) const { return F()(x != 0, y != 0); }
};
template <typename F>
Row equality(ScalarType type) {
  if (type == ScalarType::Bool) return &plain_row<uint8_t, uint8_t, OfTruth<F>>;
  return or_double_row<F, true>(type, wrapping_row<F, true>(type));
}
template <typename F>
Row order(ScalarType type) {
  return or_double_row<F, true>(type, ordered_row<F, true>(type));
}

// clamp.Tensor_out(Tensor self, Tensor? min, Tensor? max, *, out), of which the
// bounds broadcast to self: the larger of self and min, then the smaller of that
// and max.
bool clamp_by_tensors(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<Tensor> min = args.optional_tensor(1);
  const std::optional<Tensor> max = args.optional_tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return true;
  if (!is_float(self) || !is_float(out) || (!min && !max)) return false;
  for (const std::optional<Tensor>& bound : {min, max}) {
    if (bound && (!is_float(*bound) || !portable::broadcasts_to(bound->sizes(), self.sizes()) ||
                  bound->const_data_ptr() == out.const_data_ptr())) {
      return false;
    }
  }
  if (min && !float_rows(self, {*min}, out, PETREL_DISPATCH(Row_maximum), false, Wider::kRounded))
    return false;
  return !max || float_rows(min ? out : self, {*max}, out, PETREL_DISPATCH(Row_minimum), false,
                            Wider::kRounded);
}

}  // namespace

#define PETREL_DEFINE(function, ...)                                \
  void function(KernelRuntimeContext& context, Span<EValue*> raw) { \
    if (!(__VA_ARGS__)) portable::function(context, raw);           \
  }
PETREL_DEFINE(add_out, sum(context, raw, false, Sum::kAdd))
PETREL_DEFINE(add_scalar_out, sum(context, raw, true, Sum::kAdd))
PETREL_DEFINE(sub_out, sum(context, raw, false, Sum::kSub))
PETREL_DEFINE(sub_scalar_out, sum(context, raw, true, Sum::kSub))
PETREL_DEFINE(rsub_scalar_out, sum(context, raw, true, Sum::kRsub))
PETREL_DEFINE(mul_out, binary(context, raw, false, PETREL_DISPATCH(Row_mul), &times, Wider::kKept))
PETREL_DEFINE(mul_scalar_out,
              binary(context, raw, true, PETREL_DISPATCH(Row_mul), &times, Wider::kKept))
PETREL_DEFINE(div_out,
              binary(context, raw, false, PETREL_DISPATCH(Row_div), &quotient, Wider::kKept))
PETREL_DEFINE(div_scalar_out,
              binary(context, raw, true, PETREL_DISPATCH(Row_div), &quotient, Wider::kKept))
PETREL_DEFINE(clamp_tensor_out, clamp_by_tensors(context, raw))
PETREL_DEFINE(maximum_out, binary(context, raw, false, PETREL_DISPATCH(Row_maximum),
                                  &extreme<Larger>, Wider::kRounded))
PETREL_DEFINE(minimum_out, binary(context, raw, false, PETREL_DISPATCH(Row_minimum),
                                  &extreme<Smaller>, Wider::kRounded))

// Of a > b, where a type has no vectors, b < a is computed.
#define PETREL_COMPARE(name, plain, swapped)                                                       \
  PETREL_DEFINE(name##_tensor_out, binary(context, raw, false, PETREL_DISPATCH(Row_##name), plain, \
                                          Wider::kRounded, true, swapped))                         \
  PETREL_DEFINE(name##_scalar_out, binary(context, raw, true, PETREL_DISPATCH(Row_##name), plain,  \
                                          Wider::kRounded, true, swapped))
PETREL_COMPARE(eq, &equality<Equal>, false)
PETREL_COMPARE(ne, &equality<Unequal>, false)
PETREL_COMPARE(lt, &order<Less>, false)
PETREL_COMPARE(le, &order<LessOrEqual>, false)
PETREL_COMPARE(gt, &order<Less>, true)
PETREL_COMPARE(ge, &order<LessOrEqual>, true)
#undef PETREL_COMPARE
#undef PETREL_DEFINE

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
