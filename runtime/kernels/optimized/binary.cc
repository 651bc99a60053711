// SPDX-License-Identifier: Apache-2.0
//
// out = f(a, b) with broadcasting, where b is a tensor or a number: arithmetic
// and comparisons of floats as vector code, of half and bfloat16 by way of
// floats, of int64 and int32 as plain loops, and logic of bools.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/narrow_floats.h"
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

#define PETREL_DEFINE(name, expression)                                                    \
  void Row_##name(const void* a, bool a_moves, const void* b, bool b_moves, void* to,      \
                  size_t n, float p) {                                                     \
    const D d;                                                                             \
    float* out = static_cast<float*>(to);                                                  \
    (void)p;                                                                               \
    WalkRow(                                                                               \
        static_cast<const float*>(a), a_moves, static_cast<const float*>(b), b_moves, n,   \
        [=](V x, V y) HWY_ATTR { return expression; },                                     \
        [=](size_t i, V v, size_t count) HWY_ATTR {                                        \
          if (HWY_LIKELY(count == hn::Lanes(d))) {                                         \
            hn::StoreU(v, d, out + i);                                                     \
          } else if (count == 1) {                                                         \
            out[i] = hn::GetLane(v);                                                       \
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
  void Row_##name(const void* a, bool a_moves, const void* b, bool b_moves, void* to,      \
                  size_t n, float) {                                                       \
    const DI di;                                                                           \
    const hn::Rebind<uint8_t, DI> bytes;                                                   \
    uint8_t* out = static_cast<uint8_t*>(to);                                              \
    WalkRow(                                                                               \
        static_cast<const float*>(a), a_moves, static_cast<const float*>(b), b_moves, n,   \
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

// Whether element i of all operands belongs together, in memory, as it mostly
// does: then there is one row and nothing to find out. Gives out its sizes.
bool is_one_row(const Tensor& a, const Operand& b, const Tensor& out) {
  return (!b.tensor || same_layout(a, *b.tensor)) &&
         resize_tensor(out, a.sizes()) == Error::Ok && same_layout(a, out);
}

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

// One row; types are those of the function. `p` is a parameter of some.
using Row = void (*)(const void* a, bool a_moves, const void* b, bool b_moves, void* out,
                     size_t n, float p);

// `number` stands for b when that is no tensor, in the element type of a.
template <typename RowFunction>
bool run_rows(const Tensor& a, const Operand& b, const void* number, const Tensor& out,
              double nanoseconds, RowFunction row, float p = 0.0f) {
  const char* x = static_cast<const char*>(a.const_data_ptr());
  const char* y = static_cast<const char*>(b.tensor ? b.tensor->const_data_ptr() : number);
  char* to = static_cast<char*>(out.mutable_data_ptr());
  constexpr size_t kShort = 1024;  // not worth cutting for threads
  if (a.numel() <= kShort && is_one_row(a, b, out)) {
    if (a.numel() != 0) row(x, true, y, b.tensor.has_value(), to, a.numel(), p);
    return true;
  }
  std::optional<Rows<3>> rows;
  if (!find_rows(a, b, out, &rows)) return false;
  const int64_t size = static_cast<int64_t>(a.element_size());
  const int64_t out_size = static_cast<int64_t>(out.element_size());
  const bool y_moves = b.tensor && rows->moves(2);
  // A row in which nothing moves has one element: let one operand move.
  const bool x_moves = rows->moves(1) || !y_moves;
  rows->run(nanoseconds, [&](const int64_t* at, size_t n) {
    row(x + at[1] * size, x_moves, y + at[2] * size, y_moves, to + at[0] * out_size, n, p);
  });
  return true;
}

bool both_are(const Tensor& a, const Operand& b, ScalarType type) {
  return a.scalar_type() == type && (!b.tensor || b.tensor->scalar_type() == type);
}

constexpr double kNanoseconds = 0.1;

bool is_float_or_narrow(const Tensor& tensor) {
  return is_float(tensor) || is_narrow(tensor.scalar_type());
}

// A row of half or bfloat16, of which `row` computes floats or bools.
struct NarrowRow {
  Row row;
  ScalarType type;
  bool b_is_number;  // a float then
  bool to_bool;

  void operator()(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n,
                  float p) const {
    constexpr size_t kPiece = 512;
    float x[kPiece], y[kPiece], result[kPiece];
    for (size_t i = 0; i < n; i += kPiece) {
      const size_t count = n - i < kPiece ? n - i : kPiece;
      widen(type, a, a_moves ? i : 0, x, a_moves ? count : 1);
      if (!b_is_number) widen(type, b, b_moves ? i : 0, y, b_moves ? count : 1);
      const void* other = b_is_number ? b : y;
      if (to_bool) {
        row(x, a_moves, other, b_moves, static_cast<uint8_t*>(out) + i, count, p);
      } else {
        row(x, a_moves, other, b_moves, result, count, p);
        narrow(result, type, out, i, count);
      }
    }
  }
};

// `row` computes floats into the elements of `out`, which are of the type of a,
// or bools.
bool float_rows(const Tensor& a, const Operand& b, const Tensor& out, Row row, float p = 0.0f) {
  const ScalarType type = a.scalar_type();
  const bool to_bool = out.scalar_type() == ScalarType::Bool;
  if (!is_float_or_narrow(a) || !both_are(a, b, type) || (!to_bool && out.scalar_type() != type)) {
    return false;
  }
  const float number = static_cast<float>(b.number.to_double());
  if (type == ScalarType::Float) return run_rows(a, b, &number, out, kNanoseconds, row, p);
  return run_rows(a, b, &number, out, 5 * kNanoseconds,
                  NarrowRow{row, type, !b.tensor.has_value(), to_bool}, p);
}

// A row of any element type, by a plain loop.
template <typename T, typename Out, typename F>
void plain_row(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n,
               float) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  Out* to = static_cast<Out*>(out);
  const F f;
  if (a_moves && b_moves) {
    for (size_t i = 0; i < n; ++i) to[i] = f(x[i], y[i]);
  } else if (a_moves) {
    const T fixed = *y;
    for (size_t i = 0; i < n; ++i) to[i] = f(x[i], fixed);
  } else {
    const T fixed = *x;
    for (size_t i = 0; i < n; ++i) to[i] = f(fixed, y[i]);
  }
}

// What F computes, on int64 or int32. The result has the type of the operands,
// or is bool.
template <typename F, bool kToBool>
bool integer_rows(const Tensor& a, const Operand& b, const Tensor& out) {
  const ScalarType type = a.scalar_type();
  // A number beside integers must be one, or the result is not an integer.
  if ((!b.tensor && b.number.isFloatingPoint()) || !both_are(a, b, type) ||
      out.scalar_type() != (kToBool ? ScalarType::Bool : type)) {
    return false;
  }
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const T number = static_cast<T>(b.number.to_int());
    if (number != b.number.to_int()) return false;
    return run_rows(a, b, &number, out, 3 * kNanoseconds,
                    &plain_row<T, std::conditional_t<kToBool, uint8_t, T>, F>);
  };
  if (type == ScalarType::Long) return run(int64_t{0});
  if (type == ScalarType::Int) return run(int32_t{0});
  return false;
}

// Overflow wraps: computed on the unsigned type of the same width.
#define PETREL_WRAPPING(Name, op)                                  \
  struct Name {                                                    \
    template <typename T>                                          \
    T operator()(T x, T y) const {                                 \
      using U = std::make_unsigned_t<T>;                           \
      return static_cast<T>(static_cast<U>(x) op static_cast<U>(y)); \
    }                                                              \
  };
PETREL_WRAPPING(Plus, +)
PETREL_WRAPPING(Minus, -)
PETREL_WRAPPING(Times, *)
#undef PETREL_WRAPPING
struct ReversedMinus {
  template <typename T>
  T operator()(T x, T y) const {
    return Minus()(y, x);
  }
};

#define PETREL_TRUTH(Name, expression)     \
  struct Name {                            \
    template <typename T>                  \
    uint8_t operator()(T x, T y) const {   \
      return (expression) ? 1 : 0;         \
    }                                      \
  };
PETREL_TRUTH(Equal, x == y)
PETREL_TRUTH(Unequal, x != y)
PETREL_TRUTH(Less, x < y)
PETREL_TRUTH(LessOrEqual, x <= y)
PETREL_TRUTH(Greater, x > y)
PETREL_TRUTH(GreaterOrEqual, x >= y)
// Of bools, where a byte other than 0 counts as true.
PETREL_TRUTH(Both, x != 0 && y != 0)
PETREL_TRUTH(Either, x != 0 || y != 0)
PETREL_TRUTH(OneOnly, (x != 0) != (y != 0))
#undef PETREL_TRUTH

Operand read_operand(KernelArgs& args, bool with_scalar) {
  Operand b;
  if (with_scalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  return b;
}

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
  if (is_float_or_narrow(a)) {
    if (out.scalar_type() != a.scalar_type()) return false;
    const float p = static_cast<float>(alpha.to_double());
    if (p == 1.0f) {
      const Row row = kind == Sum::kAdd   ? PETREL_DISPATCH(Row_add)
                           : kind == Sum::kSub ? PETREL_DISPATCH(Row_sub)
                                               : PETREL_DISPATCH(Row_rsub);
      return float_rows(a, b, out, row);
    }
    if (kind == Sum::kRsub) return float_rows(a, b, out, PETREL_DISPATCH(Row_rsub_scaled), p);
    return float_rows(a, b, out, PETREL_DISPATCH(Row_add_scaled),
                      kind == Sum::kAdd ? p : -p);
  }
  if (alpha.isFloatingPoint() || alpha.to_int() != 1) return false;
  if (kind == Sum::kAdd) return integer_rows<Plus, false>(a, b, out);
  if (kind == Sum::kSub) return integer_rows<Minus, false>(a, b, out);
  return integer_rows<ReversedMinus, false>(a, b, out);
}

bool mul(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (is_float_or_narrow(a)) {
    return out.scalar_type() == a.scalar_type() &&
           float_rows(a, b, out, PETREL_DISPATCH(Row_mul));
  }
  return integer_rows<Times, false>(a, b, out);
}

bool float_only(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, Row row) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  return !args.ok() ||
         (out.scalar_type() == a.scalar_type() && float_rows(a, b, out, row));
}

struct Larger {
  template <typename T>
  T operator()(T x, T y) const {
    return x > y ? x : y;
  }
};
struct Smaller {
  template <typename T>
  T operator()(T x, T y) const {
    return x < y ? x : y;
  }
};

// maximum.out, minimum.out(Tensor self, Tensor other, *, out)
template <typename F>
bool extreme(KernelRuntimeContext& context, Span<EValue*> raw, Row row) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, false);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (is_float_or_narrow(a)) {
    return out.scalar_type() == a.scalar_type() && float_rows(a, b, out, row);
  }
  return integer_rows<F, false>(a, b, out);
}

template <typename F>
bool compare(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, Row row) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (out.scalar_type() != ScalarType::Bool) return false;
  if (is_float_or_narrow(a)) return float_rows(a, b, out, row);
  return integer_rows<F, true>(a, b, out);
}

template <typename F>
bool logic(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, false);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (!both_are(a, b, ScalarType::Bool) || out.scalar_type() != ScalarType::Bool) return false;
  return run_rows(a, b, nullptr, out, 3 * kNanoseconds, &plain_row<uint8_t, uint8_t, F>);
}

// pow by a small exponent that needs no logarithm.
bool power(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const double exponent = args.scalar(1).to_double();
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (exponent != 2.0 || out.scalar_type() != a.scalar_type()) return false;
  return float_rows(a, {a}, out, PETREL_DISPATCH(Row_mul));
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
PETREL_DEFINE(div_out, float_only(context, raw, false, PETREL_DISPATCH(Row_div)))
PETREL_DEFINE(div_scalar_out, float_only(context, raw, true, PETREL_DISPATCH(Row_div)))
PETREL_DEFINE(maximum_out, extreme<Larger>(context, raw, PETREL_DISPATCH(Row_maximum)))
PETREL_DEFINE(minimum_out, extreme<Smaller>(context, raw, PETREL_DISPATCH(Row_minimum)))
PETREL_DEFINE(pow_tensor_scalar_out, power(context, raw))

#define PETREL_COMPARE(name, F)                                                        \
  PETREL_DEFINE(name##_tensor_out,                                                     \
                compare<F>(context, raw, false, PETREL_DISPATCH(Row_##name)))     \
  PETREL_DEFINE(name##_scalar_out,                                                     \
                compare<F>(context, raw, true, PETREL_DISPATCH(Row_##name)))
PETREL_COMPARE(eq, Equal)
PETREL_COMPARE(ne, Unequal)
PETREL_COMPARE(lt, Less)
PETREL_COMPARE(le, LessOrEqual)
PETREL_COMPARE(gt, Greater)
PETREL_COMPARE(ge, GreaterOrEqual)
#undef PETREL_COMPARE

PETREL_DEFINE(logical_and_out, logic<Both>(context, raw))
PETREL_DEFINE(logical_or_out, logic<Either>(context, raw))
PETREL_DEFINE(logical_xor_out, logic<OneOnly>(context, raw))
PETREL_DEFINE(bitwise_and_tensor_out, logic<Both>(context, raw))
PETREL_DEFINE(bitwise_or_tensor_out, logic<Either>(context, raw))
#undef PETREL_DEFINE

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
