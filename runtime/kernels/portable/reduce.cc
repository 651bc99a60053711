// SPDX-License-Identifier: Apache-2.0
//
// Reductions over some dimensions, and scans and choices along one.
//
//   self [2, 3, 4], dims {1}, keepdim:  out [2, 1, 4]
//
// A reduction is a loop over the kept dimensions around a loop over the reduced
// ones; sums run in double, the last dimension fastest.
#include <cmath>

#include "runtime/kernels/portable/reduction_loops.h"

namespace petrel::runtime::portable {
namespace {

// Sums integers modulo 2^64, floats in double.
template <typename C, typename Step, typename Finish>
void fold(const Tensor& self, const Tensor& out, const Dims& dims, C start, Step step,
          Finish finish) {
  const Loops loops(self, dims);
  const auto load = loader<C>(self.scalar_type());
  const auto store = storer<C>(out.scalar_type());
  loops.outer([&](size_t k, int64_t base) {
    C value = start;
    loops.inner([&](int64_t offset) {
      value = step(value, load(self.const_data_ptr(), static_cast<size_t>(base + offset)));
    });
    store(out.mutable_data_ptr(), k, finish(value));
  });
}

// NaN wins both ways. Integers are compared as integers: not all of them are doubles.
struct Larger {
  static bool better(double a, double b) { return a != a ? b == b : a > b; }
  static bool better(int64_t a, int64_t b) { return a > b; }
};
struct Smaller {
  static bool better(double a, double b) { return a != a ? b == b : a < b; }
  static bool better(int64_t a, int64_t b) { return a < b; }
};

// Calls with(double()) or with(int64_t()), in which elements of the type are compared.
template <typename With>
void compare_as(ScalarType type, const With& with) {
  is_floating(type) ? with(double{}) : with(int64_t{});
}

// amax, amin: the value itself, over several dims.
template <typename Order>
void extreme(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> list = args.int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  Dims dims;
  if (!args.ok() || !check_arithmetic(context, self) || !check_same_type(context, self, out) ||
      !read_dims(context, list, self.dim(), &dims)) {
    return;
  }
  const Loops loops(self, dims);
  if (!check(context, loops.reduced_numel() > 0, "the reduced dims are empty") ||
      !resize_reduced(context, self, dims, keepdim, out)) {
    return;
  }
  compare_as(self.scalar_type(), [&](auto as) {
    using C = decltype(as);
    const auto load = loader<C>(self.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    loops.outer([&](size_t k, int64_t base) {
      C best = load(self.const_data_ptr(), static_cast<size_t>(base));
      loops.inner([&](int64_t offset) {
        const C v = load(self.const_data_ptr(), static_cast<size_t>(base + offset));
        if (Order::better(v, best)) best = v;
      });
      store(out.mutable_data_ptr(), k, best);
    });
  });
}

// Value and index of the best along one dim, or the index alone.
template <typename Order>
void choose(KernelRuntimeContext& context, const Tensor& self, const Dims& dims, bool keepdim,
            const Tensor* values, const Tensor& indices) {
  const Loops loops(self, dims);
  if (!check_arithmetic(context, self) ||
      !check(context, loops.reduced_numel() > 0, "the reduced dim is empty") ||
      !check(context, indices.scalar_type() == ScalarType::Long, "indices must be int64") ||
      !resize_reduced(context, self, dims, keepdim, indices)) {
    return;
  }
  if (values != nullptr && (!check_same_type(context, self, *values) ||
                            !resize_reduced(context, self, dims, keepdim, *values))) {
    return;
  }
  compare_as(self.scalar_type(), [&](auto as) {
    using C = decltype(as);
    const auto load = loader<C>(self.scalar_type());
    const auto store = values != nullptr ? storer<C>(values->scalar_type()) : nullptr;
    loops.outer([&](size_t k, int64_t base) {
      C best = load(self.const_data_ptr(), static_cast<size_t>(base));
      int64_t best_at = 0, i = 0;
      loops.inner([&](int64_t offset) {
        const C v = load(self.const_data_ptr(), static_cast<size_t>(base + offset));
        if (Order::better(v, best)) {
          best = v;
          best_at = i;
        }
        ++i;
      });
      if (values != nullptr) store(values->mutable_data_ptr(), k, best);
      indices.mutable_data_ptr<int64_t>()[k] = best_at;
    });
  });
}

// max.dim_max(Tensor self, int dim, bool keepdim, *, Tensor max, Tensor max_values)
template <typename Order>
void best_along(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor values = args.out(3);
  const Tensor indices = args.out(4);
  Dims dims;
  if (!args.ok() || !read_dim(context, dim, self.dim(), &dims)) return;
  choose<Order>(context, self, dims, keepdim, &values, indices);
}

// argmax.out(Tensor self, int? dim, bool keepdim, *, out)
template <typename Order>
void arg_best(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<int64_t> dim = args.optional_integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  Dims dims;
  if (!args.ok()) return;
  if (dim ? !read_dim(context, *dim, self.dim(), &dims)
          : !read_dims(context, std::nullopt, self.dim(), &dims)) {
    return;
  }
  choose<Order>(context, self, dims, keepdim, nullptr, out);
}

}  // namespace

// sum.IntList_out(Tensor self, int[1]? dim, bool keepdim, *, ScalarType? dtype, out)
void sum_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> list = args.optional_int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(4);
  Dims dims;
  if (!args.ok() || !check_arithmetic(context, self) || !check_arithmetic(context, out) ||
      !read_dims(context, list, self.dim(), &dims) ||
      !resize_reduced(context, self, dims, keepdim, out)) {
    return;
  }
  if (is_floating(out.scalar_type()) || is_floating(self.scalar_type())) {
    fold<double>(
        self, out, dims, 0.0, [](double s, double v) { return s + v; }, [](double s) { return s; });
  } else {
    fold<int64_t>(
        self, out, dims, 0,
        [](int64_t s, int64_t v) {
          return static_cast<int64_t>(static_cast<uint64_t>(s) + static_cast<uint64_t>(v));
        },
        [](int64_t s) { return s; });
  }
}

// mean.out(Tensor self, int[1]? dim, bool keepdim, *, ScalarType? dtype, out)
void mean_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> list = args.optional_int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(4);
  Dims dims;
  if (!args.ok() || !check_arithmetic(context, self) || !check_floating(context, out) ||
      !read_dims(context, list, self.dim(), &dims) ||
      !resize_reduced(context, self, dims, keepdim, out)) {
    return;
  }
  const double count = static_cast<double>(Loops(self, dims).reduced_numel());
  fold<double>(
      self, out, dims, 0.0, [](double s, double v) { return s + v; },
      [=](double s) { return s / count; });
}

// mean.dtype_out(Tensor self, *, ScalarType? dtype, out): over all dims.
void mean_dtype_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(2);
  Dims dims;
  if (!args.ok() || !check_arithmetic(context, self) || !check_floating(context, out) ||
      !read_dims(context, std::nullopt, self.dim(), &dims) ||
      !resize_reduced(context, self, dims, false, out)) {
    return;
  }
  const double count = static_cast<double>(self.numel());
  fold<double>(
      self, out, dims, 0.0, [](double s, double v) { return s + v; },
      [=](double s) { return s / count; });
}

namespace {

void product_over(KernelRuntimeContext& context, const Tensor& self, const Dims& dims, bool keepdim,
                  const Tensor& out) {
  if (!check_arithmetic(context, self) || !check_arithmetic(context, out) ||
      !resize_reduced(context, self, dims, keepdim, out)) {
    return;
  }
  if (is_floating(out.scalar_type())) {
    fold<double>(
        self, out, dims, 1.0, [](double s, double v) { return s * v; }, [](double s) { return s; });
  } else {
    fold<uint64_t>(
        self, out, dims, 1, [](uint64_t s, uint64_t v) { return s * v; },
        [](uint64_t s) { return s; });
  }
}

}  // namespace

// prod.int_out(Tensor self, int dim, bool keepdim, *, ScalarType? dtype, out)
void prod_int_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(4);
  Dims dims;
  if (args.ok() && read_dim(context, dim, self.dim(), &dims)) {
    product_over(context, self, dims, keepdim, out);
  }
}

// prod.out(Tensor self, *, ScalarType? dtype, out)
void prod_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(2);
  Dims dims;
  if (args.ok() && read_dims(context, std::nullopt, self.dim(), &dims)) {
    product_over(context, self, dims, false, out);
  }
}

namespace {

void any_over(KernelRuntimeContext& context, const Tensor& self, const Dims& dims, bool keepdim,
              const Tensor& out) {
  if (!check_arithmetic(context, self) || !check_arithmetic(context, out) ||
      !resize_reduced(context, self, dims, keepdim, out)) {
    return;
  }
  fold<double>(
      self, out, dims, 0.0, [](double s, double v) { return s != 0.0 || v != 0.0; },
      [](double s) { return s; });
}

// The largest or smallest of all elements.
template <typename Order>
void extreme_of_all(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  Dims dims;
  if (!args.ok() || !check_arithmetic(context, self) || !check_same_type(context, self, out) ||
      !check(context, self.numel() > 0, "there is no element") ||
      !read_dims(context, std::nullopt, self.dim(), &dims) ||
      !resize_reduced(context, self, dims, false, out)) {
    return;
  }
  compare_as(self.scalar_type(), [&](auto as) {
    using C = decltype(as);
    const C first = loader<C>(self.scalar_type())(self.const_data_ptr(), 0);
    fold<C>(
        self, out, dims, first, [](C s, C v) { return Order::better(v, s) ? v : s; },
        [](C s) { return s; });
  });
}

}  // namespace

void max_unary_out(KernelRuntimeContext& context, Span<EValue*> args) {
  extreme_of_all<Larger>(context, args);
}
void min_unary_out(KernelRuntimeContext& context, Span<EValue*> args) {
  extreme_of_all<Smaller>(context, args);
}

// any.all_out(Tensor self, *, out)
void any_all_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  Dims dims;
  if (args.ok() && read_dims(context, std::nullopt, self.dim(), &dims)) {
    any_over(context, self, dims, false, out);
  }
}

// any.out(Tensor self, int dim, bool keepdim, *, out)
void any_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  Dims dims;
  if (args.ok() && read_dim(context, dim, self.dim(), &dims)) {
    any_over(context, self, dims, keepdim, out);
  }
}

// any.dims_out(Tensor self, int[]? dim, bool keepdim, *, out)
void any_dims_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> list = args.optional_int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  Dims dims;
  if (args.ok() && read_dims(context, list, self.dim(), &dims)) {
    any_over(context, self, dims, keepdim, out);
  }
}

void amax_out(KernelRuntimeContext& context, Span<EValue*> args) { extreme<Larger>(context, args); }
void amin_out(KernelRuntimeContext& context, Span<EValue*> args) {
  extreme<Smaller>(context, args);
}
void max_dim_max(KernelRuntimeContext& context, Span<EValue*> args) {
  best_along<Larger>(context, args);
}
void min_dim_min(KernelRuntimeContext& context, Span<EValue*> args) {
  best_along<Smaller>(context, args);
}
void argmax_out(KernelRuntimeContext& context, Span<EValue*> args) {
  arg_best<Larger>(context, args);
}
void argmin_out(KernelRuntimeContext& context, Span<EValue*> args) {
  arg_best<Smaller>(context, args);
}

// cumsum.out(Tensor self, int dim, *, ScalarType? dtype, out)
void cumsum_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(3);
  Dims dims;
  if (!args.ok() || !check_arithmetic(context, self) || !check_arithmetic(context, out) ||
      !read_dim(context, dim, self.dim(), &dims) || !check_contiguous(context, self) ||
      !resize_out(context, out, self.sizes()) || !check_contiguous(context, out)) {
    return;
  }
  const Loops loops(self, dims);
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    const auto load = loader<C>(self.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    loops.outer([&](size_t, int64_t base) {
      C sum{0};
      loops.inner([&](int64_t offset) {
        const size_t at = static_cast<size_t>(base + offset);
        sum += load(self.const_data_ptr(), at);
        store(out.mutable_data_ptr(), at, sum);
      });
    });
  };
  if (is_floating(out.scalar_type())) {
    run(double{0});
  } else {
    run(uint64_t{0});
  }
}

}  // namespace petrel::runtime::portable
