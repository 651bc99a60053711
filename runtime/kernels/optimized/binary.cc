// SPDX-License-Identifier: Apache-2.0
//
// out = f(a, b) with broadcasting, where b is a tensor or a number: arithmetic
// and comparisons of floats as vector code, of int64 and int32 as plain loops,
// and logic of bools.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/binary.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

// Vector functions of x and y, and of a parameter p.
#define PETREL_FLOAT_BINARY(X)                                                             \
  X(add, hn::Add(x, y))                                                                    \
  X(sub, hn::Sub(x, y))                                                                    \
  X(rsub, hn::Sub(y, x))                                                                   \
  X(add_scaled, hn::MulAdd(hn::Set(d, p), y, x))                                           \
  X(rsub_scaled, hn::NegMulAdd(hn::Set(d, p), x, y))                                       \
  X(mul, hn::Mul(x, y))                                                                    \
  X(div, hn::Div(x, y))                                                                    \
  X(maximum, hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y))                     \
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

#define PETREL_DEFINE(name, expression)                                                    \
  void Row_##name(const float* a, bool a_moves, const float* b, bool b_moves, float* out,  \
                  size_t n, float p) {                                                     \
    const D d;                                                                             \
    (void)p;                                                                               \
    WalkRow(                                                                               \
        a, a_moves, b, b_moves, n, [=](V x, V y) HWY_ATTR { return expression; },          \
        [=](size_t i, V v, size_t count) HWY_ATTR {                                        \
          if (HWY_LIKELY(count == hn::Lanes(d))) {                                         \
            hn::StoreU(v, d, out + i);                                                     \
          } else {                                                                         \
            HWY_ALIGN float rest[kMaxLanes];                                               \
            hn::Store(v, d, rest);                                                         \
            std::memcpy(out + i, rest, count * sizeof(float));                             \
          }                                                                                \
        });                                                                                \
  }
PETREL_FLOAT_BINARY(PETREL_DEFINE)
#undef PETREL_DEFINE

#define PETREL_DEFINE(name, expression)                                                    \
  void Row_##name(const float* a, bool a_moves, const float* b, bool b_moves,              \
                  uint8_t* out, size_t n) {                                                \
    const DI di;                                                                           \
    const hn::Rebind<uint8_t, DI> bytes;                                                   \
    WalkRow(                                                                               \
        a, a_moves, b, b_moves, n,                                                         \
        [](V x, V y) HWY_ATTR { return hn::VecFromMask(D(), expression); },                \
        [=](size_t i, V v, size_t count) HWY_ATTR {                                        \
          const auto ones = hn::ShiftRight<31>(                                            \
              hn::BitCast(hn::RebindToUnsigned<DI>(), v));                                 \
          HWY_ALIGN uint8_t rest[4 * kMaxLanes];                                           \
          hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(di, ones)), bytes, rest);             \
          std::memcpy(out + i, rest, count);                                               \
        });                                                                                \
  }
PETREL_FLOAT_COMPARISON(PETREL_DEFINE)
#undef PETREL_DEFINE

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

// The second operand, and how a number stands for it.
struct Operand {
  std::optional<Tensor> tensor;
  Scalar number = Scalar(int64_t{0});
};

// Gives out its sizes and finds the rows. False when the call is not for these
// kernels.
bool find_rows(const Tensor& a, const Operand& b, const Tensor& out,
               std::optional<Rows<3>>* rows) {
  portable::SizeArray sizes(a.sizes());
  if (b.tensor && !portable::broadcast_sizes(&sizes, b.tensor->sizes())) return false;
  if (resize_tensor(out, sizes.span()) != Error::Ok) return false;
  rows->emplace(out);
  return (*rows)->add(1, a) && (!b.tensor || (*rows)->add(2, *b.tensor)) && (*rows)->finish();
}

// row(pointer into a, a_moves, pointer into b, b_moves, pointer into out, n)
template <typename T, typename Out, typename Row>
bool run_rows(const Tensor& a, const Operand& b, T number, const Tensor& out, double nanoseconds,
              Row row) {
  std::optional<Rows<3>> rows;
  if (!find_rows(a, b, out, &rows)) return false;
  const T* x = a.const_data_ptr<T>();
  const T* y = b.tensor ? b.tensor->const_data_ptr<T>() : &number;
  Out* to = static_cast<Out*>(out.mutable_data_ptr());
  const bool x_moves = rows->moves(1);
  // A row in which nothing moves has one element: let one operand move.
  const bool y_moves = b.tensor ? rows->moves(2) : false;
  rows->run(nanoseconds, [&](const int64_t* at, size_t n) {
    row(x + at[1], x_moves || !y_moves, y + at[2], y_moves, to + at[0], n);
  });
  return true;
}

using FloatRow = void (*)(const float*, bool, const float*, bool, float*, size_t, float);
using FloatComparison = void (*)(const float*, bool, const float*, bool, uint8_t*, size_t);

bool both_are(const Tensor& a, const Operand& b, ScalarType type) {
  return a.scalar_type() == type && (!b.tensor || b.tensor->scalar_type() == type);
}

// A number beside integers must be one, or the result is not an integer.
bool is_whole(const Operand& b) { return b.tensor || !b.number.isFloatingPoint(); }

constexpr double kNanoseconds = 0.1;

bool float_rows(const Tensor& a, const Operand& b, const Tensor& out, FloatRow row,
                float parameter = 0.0f) {
  if (!both_are(a, b, ScalarType::Float) || !is_float(out)) return false;
  return run_rows<float, float>(
      a, b, static_cast<float>(b.number.to_double()), out, kNanoseconds,
      [=](const float* x, bool x_moves, const float* y, bool y_moves, float* to, size_t n) {
        row(x, x_moves, y, y_moves, to, n, parameter);
      });
}

// A loop over a row of any element type.
template <typename T, typename Out, typename F>
void plain_row(const T* x, bool x_moves, const T* y, bool y_moves, Out* to, size_t n, F f) {
  if (x_moves && y_moves) {
    for (size_t i = 0; i < n; ++i) to[i] = f(x[i], y[i]);
  } else if (x_moves) {
    const T fixed = *y;
    for (size_t i = 0; i < n; ++i) to[i] = f(x[i], fixed);
  } else {
    const T fixed = *x;
    for (size_t i = 0; i < n; ++i) to[i] = f(fixed, y[i]);
  }
}

template <typename T, typename Out, typename F>
bool typed_rows(const Tensor& a, const Operand& b, T number, const Tensor& out, F f) {
  return run_rows<T, Out>(
      a, b, number, out, 3 * kNanoseconds,
      [=](const T* x, bool x_moves, const T* y, bool y_moves, Out* to, size_t n) {
        plain_row(x, x_moves, y, y_moves, to, n, f);
      });
}

// f on int64 or int32; integers of C++ must not overflow, so f gets the
// unsigned type of that width when kWraps.
template <bool kWraps, typename F>
bool integer_rows(const Tensor& a, const Operand& b, const Tensor& out, bool to_bool, F f) {
  if (!is_whole(b)) return false;
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<kWraps, std::make_unsigned_t<T>, T>;
    const auto g = [f](T x, T y) { return f(static_cast<Wide>(x), static_cast<Wide>(y)); };
    const int64_t number = b.number.to_int();
    if (static_cast<T>(number) != number) return false;
    if (to_bool) return typed_rows<T, uint8_t>(a, b, static_cast<T>(number), out, g);
    return typed_rows<T, T>(a, b, static_cast<T>(number), out, g);
  };
  const ScalarType type = a.scalar_type();
  if (!both_are(a, b, type) || out.scalar_type() != (to_bool ? ScalarType::Bool : type)) {
    return false;
  }
  if (type == ScalarType::Long) return run(int64_t{0});
  if (type == ScalarType::Int) return run(int32_t{0});
  return false;
}

Operand read_operand(KernelArgs& args, bool with_scalar) {
  Operand b;
  if (with_scalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  return b;
}

#define PETREL_DEFINE(name, expression) HWY_EXPORT(Row_##name);
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
  if (is_float(a)) {
    const float p = static_cast<float>(alpha.to_double());
    if (p == 1.0f) {
      const FloatRow row = kind == Sum::kAdd   ? HWY_DYNAMIC_DISPATCH(Row_add)
                           : kind == Sum::kSub ? HWY_DYNAMIC_DISPATCH(Row_sub)
                                               : HWY_DYNAMIC_DISPATCH(Row_rsub);
      return float_rows(a, b, out, row);
    }
    if (kind == Sum::kRsub) return float_rows(a, b, out, HWY_DYNAMIC_DISPATCH(Row_rsub_scaled), p);
    return float_rows(a, b, out, HWY_DYNAMIC_DISPATCH(Row_add_scaled),
                      kind == Sum::kAdd ? p : -p);
  }
  if (alpha.isFloatingPoint() || alpha.to_int() != 1) return false;
  if (kind == Sum::kAdd) {
    return integer_rows<true>(a, b, out, false, [](auto x, auto y) { return x + y; });
  }
  if (kind == Sum::kSub) {
    return integer_rows<true>(a, b, out, false, [](auto x, auto y) { return x - y; });
  }
  return integer_rows<true>(a, b, out, false, [](auto x, auto y) { return y - x; });
}

bool mul(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  return float_rows(a, b, out, HWY_DYNAMIC_DISPATCH(Row_mul)) ||
         integer_rows<true>(a, b, out, false, [](auto x, auto y) { return x * y; });
}

bool float_only(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar,
                FloatRow row) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  return !args.ok() || float_rows(a, b, out, row);
}

template <typename F>
bool compare(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar,
             FloatComparison row, F f) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (out.scalar_type() != ScalarType::Bool) return false;
  if (!both_are(a, b, ScalarType::Float)) return integer_rows<false>(a, b, out, true, f);
  return run_rows<float, uint8_t>(a, b, static_cast<float>(b.number.to_double()), out,
                                  kNanoseconds, row);
}

// Logic of bools; a byte other than 0 counts as true.
template <typename F>
bool logic(KernelRuntimeContext& context, Span<EValue*> raw, F f) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, false);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (!both_are(a, b, ScalarType::Bool) || out.scalar_type() != ScalarType::Bool) return false;
  return typed_rows<uint8_t, uint8_t>(a, b, 0, out,
                                      [f](uint8_t x, uint8_t y) { return f(x != 0, y != 0); });
}

// pow by a small exponent that needs no logarithm.
bool power(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const double exponent = args.scalar(1).to_double();
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (exponent != 2.0) return false;
  return float_rows(a, {a}, out, HWY_DYNAMIC_DISPATCH(Row_mul));
}

}  // namespace

#define PETREL_DEFINE(function, ...)                                       \
  void function(KernelRuntimeContext& context, Span<EValue*> raw) {        \
    if (!(__VA_ARGS__)) portable::function(context, raw);                  \
  }
PETREL_DEFINE(add_out, sum(context, raw, false, Sum::kAdd))
PETREL_DEFINE(add_scalar_out, sum(context, raw, true, Sum::kAdd))
PETREL_DEFINE(sub_out, sum(context, raw, false, Sum::kSub))
PETREL_DEFINE(sub_scalar_out, sum(context, raw, true, Sum::kSub))
PETREL_DEFINE(rsub_scalar_out, sum(context, raw, true, Sum::kRsub))
PETREL_DEFINE(mul_out, mul(context, raw, false))
PETREL_DEFINE(mul_scalar_out, mul(context, raw, true))
PETREL_DEFINE(div_out, float_only(context, raw, false, HWY_DYNAMIC_DISPATCH(Row_div)))
PETREL_DEFINE(div_scalar_out, float_only(context, raw, true, HWY_DYNAMIC_DISPATCH(Row_div)))
PETREL_DEFINE(maximum_out, float_only(context, raw, false, HWY_DYNAMIC_DISPATCH(Row_maximum)))
PETREL_DEFINE(minimum_out, float_only(context, raw, false, HWY_DYNAMIC_DISPATCH(Row_minimum)))
PETREL_DEFINE(pow_tensor_scalar_out, power(context, raw))

#define PETREL_COMPARE(name, op)                                                            \
  PETREL_DEFINE(name##_tensor_out, compare(context, raw, false,                             \
                                           HWY_DYNAMIC_DISPATCH(Row_##name),                \
                                           [](auto x, auto y) { return x op y; }))          \
  PETREL_DEFINE(name##_scalar_out, compare(context, raw, true,                              \
                                           HWY_DYNAMIC_DISPATCH(Row_##name),                \
                                           [](auto x, auto y) { return x op y; }))
PETREL_COMPARE(eq, ==)
PETREL_COMPARE(ne, !=)
PETREL_COMPARE(lt, <)
PETREL_COMPARE(le, <=)
PETREL_COMPARE(gt, >)
PETREL_COMPARE(ge, >=)
#undef PETREL_COMPARE

PETREL_DEFINE(logical_and_out, logic(context, raw, [](bool x, bool y) { return x && y; }))
PETREL_DEFINE(logical_or_out, logic(context, raw, [](bool x, bool y) { return x || y; }))
PETREL_DEFINE(logical_xor_out, logic(context, raw, [](bool x, bool y) { return x != y; }))
PETREL_DEFINE(bitwise_and_tensor_out, logic(context, raw, [](bool x, bool y) { return x && y; }))
PETREL_DEFINE(bitwise_or_tensor_out, logic(context, raw, [](bool x, bool y) { return x || y; }))
#undef PETREL_DEFINE

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
