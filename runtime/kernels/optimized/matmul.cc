// SPDX-License-Identifier: Apache-2.0
//
// Products of contiguous matrices: of floats by gemm.h, of half and bfloat16 by
// narrow_matmul.h, of doubles by double_gemm.h.
#include "runtime/kernels/optimized/double_gemm.h"
#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/gemm.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/narrow_matmul.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::optimized {
namespace {

bool all_plain(std::initializer_list<Tensor> tensors, ssize_t rank,
               ScalarType type = ScalarType::Float) {
  for (const Tensor& t : tensors) {
    if (t.scalar_type() != type || t.dim() != rank || !is_contiguous(t)) return false;
  }
  return true;
}

size_t size(const Tensor& tensor, size_t d) { return static_cast<size_t>(tensor.sizes()[d]); }

// C = A B for matrices in the last two dims; null pointers where they differ
// from batch to batch.
GemmJob job_of(const Tensor& a, const Tensor& b, const Tensor& out, size_t first) {
  GemmJob job;
  job.rows = size(a, first);
  job.depth = size(a, first + 1);
  job.columns = size(b, first + 1);
  job.a = a.const_data_ptr<float>();
  job.a_stride = job.depth;
  job.b = b.const_data_ptr<float>();
  job.b_stride = job.columns;
  job.pack = &pack_rows;
  job.c = out.mutable_data_ptr<float>();
  job.c_stride = job.columns;
  return job;
}

void select_matrices(const void* context, size_t i, GemmJob* job) {
  const GemmJob& first = *static_cast<const GemmJob*>(context);
  job->a = first.a + i * first.rows * first.depth;
  job->b = first.b + i * first.depth * first.columns;
  job->c = first.c + i * first.rows * first.columns;
}

// The tensor that addmm and linear add: a row for all rows, a whole matrix, or
// nothing of the two.
bool add_tensor(const Tensor& bias, const Tensor& out, GemmJob* job) {
  if (!is_float(bias) || !is_contiguous(bias) || bias.dim() > 2) return false;
  const size_t rank = bias.sizes().size();
  const bool full_row = rank >= 1 && size(bias, rank - 1) == job->columns;
  if (full_row && (rank == 1 || size(bias, 0) == 1)) {
    job->row_bias = bias.const_data_ptr<float>();
    return true;
  }
  if (!full_row || size(bias, 0) != job->rows) return false;
  if (out.nbytes() > 0) {
    std::memmove(out.mutable_data_ptr(), bias.const_data_ptr(), out.nbytes());
  }
  job->accumulate = true;
  return true;
}

DoubleProduct double_product(const NarrowProduct& from) {
  DoubleProduct product;
  product.rows = from.rows, product.columns = from.columns, product.depth = from.depth;
  product.a = static_cast<const double*>(from.a);
  product.b = static_cast<const double*>(from.b);
  product.b_row = from.b_is_transposed ? 1 : from.columns;
  product.b_column = from.b_is_transposed ? from.depth : 1;
  product.row_bias = static_cast<const double*>(from.row_bias);
  product.c = static_cast<double*>(from.c);
  return product;
}

// Products with a column, C[m] = A[m, k] b[k]: a dot product per row, in sums
// side by side.
void multiply_column(const float* a, const float* b, float* c, size_t rows, size_t depth) {
  parallel_for(rows, 0.1 * static_cast<double>(depth), [&](size_t begin, size_t end) {
    constexpr size_t kSums = 16;
    for (size_t i = begin; i < end; ++i) {
      const float* row = a + i * depth;
      float sums[kSums] = {};
      size_t k = 0;
      for (; k + kSums <= depth; k += kSums) {
        for (size_t j = 0; j < kSums; ++j) sums[j] += row[k + j] * b[k + j];
      }
      float sum = 0.0f;
      for (; k < depth; ++k) sum += row[k] * b[k];
      for (const float part : sums) sum += part;
      c[i] = sum;
    }
  });
}

// c = alpha c + beta bias, where bias has the sizes of c or of a row.
void scale_and_add(const float* bias, bool is_row, float beta, float alpha, float* c, size_t rows,
                   size_t columns) {
  parallel_for(rows, 0.3 * static_cast<double>(columns), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* row = c + i * columns;
      const float* other = bias + (is_row ? 0 : i * columns);
      // What is multiplied by 0 does not count, whatever it is.
      if (alpha == 0.0f) std::fill(row, row + columns, 0.0f);
      if (beta == 0.0f) {
        for (size_t j = 0; j < columns; ++j) row[j] *= alpha;
      } else {
        for (size_t j = 0; j < columns; ++j) row[j] = alpha * row[j] + beta * other[j];
      }
    }
  });
}

// out[i] = a[i] b[i] + bias for matrices of half, bfloat16 or double in the last
// two of `rank` dims; `b` may be given transposed. False when the call is not for
// narrow_gemm() and double_gemm().
bool other_products(KernelRuntimeContext& context, const Tensor& a, const Tensor& b,
                    bool b_is_transposed, const Tensor* bias, const Tensor& out, ssize_t rank) {
  const ScalarType type = a.scalar_type();
  const bool is_double = type == ScalarType::Double;
  if ((!is_double && !is_narrow(type)) || !all_plain({a, b}, rank, type) ||
      out.scalar_type() != type || out.dim() != rank) {
    return false;
  }
  const size_t last = static_cast<size_t>(rank) - 1;
  NarrowProduct product;
  product.type = type;
  product.rows = size(a, last - 1);
  product.depth = size(a, last);
  product.columns = size(b, b_is_transposed ? last - 1 : last);
  product.b_is_transposed = b_is_transposed;
  if (size(b, b_is_transposed ? last : last - 1) != product.depth ||
      (rank == 3 && size(a, 0) != size(b, 0))) {
    return false;
  }
  if (bias != nullptr) {
    if (!all_plain({*bias}, 1, type) || size(*bias, 0) != product.columns) return false;
    product.row_bias = bias->const_data_ptr();
  }
  portable::SizeArray sizes(a.sizes());
  sizes[last] = static_cast<portable::SizesType>(product.columns);
  if (resize_tensor(out, sizes.span()) != Error::Ok || !is_contiguous(out)) return false;
  if (!portable::charge_product(context, out, a) || out.numel() == 0) return true;
  const size_t bytes = a.element_size();
  for (size_t i = 0; i < (rank == 3 ? size(a, 0) : 1); ++i) {
    const auto part = [&](const void* data, size_t rows, size_t columns) {
      return static_cast<const char*>(data) + i * rows * columns * bytes;
    };
    product.a = part(a.const_data_ptr(), product.rows, product.depth);
    product.b = part(b.const_data_ptr(), product.depth, product.columns);
    product.c = const_cast<char*>(part(out.mutable_data_ptr(), product.rows, product.columns));
    if (is_double) {
      double_gemm(double_product(product));
    } else if (!narrow_gemm(product)) {
      return false;
    }
  }
  return true;
}

}  // namespace

// mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out)
void mm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || other_products(context, a, b, false, nullptr, out, 2)) return;
  if (!all_plain({a, b}, 2) || !is_float(out) || out.dim() != 2 || a.size(1) != b.size(0)) {
    return portable::mm_out(context, raw);
  }
  const portable::SizesType sizes[] = {a.sizes()[0], b.sizes()[1]};
  if (resize_tensor(out, sizes) != Error::Ok || !is_contiguous(out)) {
    return portable::mm_out(context, raw);
  }
  if (!portable::charge_product(context, out, a)) return;
  const GemmJob job = job_of(a, b, out, 0);
  if (job.columns == 1 && job.rows > 1) {
    return multiply_column(job.a, job.b, job.c, job.rows, job.depth);
  }
  gemm(job);
}

// bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out)
void bmm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || other_products(context, a, b, false, nullptr, out, 3)) return;
  if (!all_plain({a, b}, 3) || !is_float(out) || out.dim() != 3 || a.size(0) != b.size(0) ||
      a.size(2) != b.size(1)) {
    return portable::bmm_out(context, raw);
  }
  const portable::SizesType sizes[] = {a.sizes()[0], a.sizes()[1], b.sizes()[2]};
  if (resize_tensor(out, sizes) != Error::Ok || !is_contiguous(out)) {
    return portable::bmm_out(context, raw);
  }
  if (!portable::charge_product(context, out, a)) return;
  const GemmJob job = job_of(a, b, out, 1);
  gemm_batch(job, size(a, 0), &select_matrices, &job);
}

// addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta, Scalar alpha, out)
void addmm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor bias = args.tensor(0);
  const Tensor a = args.tensor(1);
  const Tensor b = args.tensor(2);
  const Scalar beta = args.scalar(3);
  const Scalar alpha = args.scalar(4);
  const Tensor out = args.out(5);
  if (!args.ok()) return;
  const bool is_plain_sum = alpha.to_double() == 1.0 && beta.to_double() == 1.0;
  if (is_plain_sum && other_products(context, a, b, false, &bias, out, 2)) return;
  if (!all_plain({a, b}, 2) || !is_float(out) || out.dim() != 2 || a.size(1) != b.size(0)) {
    return portable::addmm_out(context, raw);
  }
  const portable::SizesType sizes[] = {a.sizes()[0], b.sizes()[1]};
  if (resize_tensor(out, sizes) != Error::Ok || !is_contiguous(out) || out.numel() == 0) {
    return portable::addmm_out(context, raw);
  }
  if (!portable::charge_product(context, out, a)) return;
  GemmJob job = job_of(a, b, out, 0);
  if (!is_plain_sum) {
    const size_t bias_rank = bias.sizes().size();
    const bool is_row = bias_rank == 1 || (bias_rank == 2 && bias.size(0) == 1);
    if (!is_float(bias) || !is_contiguous(bias) || bias_rank < 1 || bias_rank > 2 ||
        size(bias, bias_rank - 1) != job.columns || (!is_row && size(bias, 0) != job.rows)) {
      return portable::addmm_out(context, raw);
    }
    gemm(job);
    return scale_and_add(bias.const_data_ptr<float>(), is_row, static_cast<float>(beta.to_double()),
                         static_cast<float>(alpha.to_double()), job.c, job.rows, job.columns);
  }
  if (!add_tensor(bias, out, &job)) return portable::addmm_out(context, raw);
  gemm(job);
}

// linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor(a!) out)
void linear_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  const size_t rank = input.sizes().size();
  if (rank == 2 && other_products(context, input, weight, true, bias ? &*bias : nullptr, out, 2))
    return;
  if (!all_plain({weight}, 2) || !is_float(input) || !is_contiguous(input) || !is_float(out) ||
      rank == 0 || input.sizes()[rank - 1] != weight.sizes()[1] ||
      (bias && (!all_plain({*bias}, 1) || bias->sizes()[0] != weight.sizes()[0]))) {
    return portable::linear_out(context, raw);
  }
  portable::SizeArray sizes(input.sizes());
  sizes[rank - 1] = weight.sizes()[0];
  if (resize_tensor(out, sizes.span()) != Error::Ok || !is_contiguous(out)) {
    return portable::linear_out(context, raw);
  }
  if (!portable::charge_product(context, out, input)) return;
  GemmJob job;
  job.rows = portable::product(input.sizes(), 0, rank - 1);
  job.depth = size(weight, 1);
  job.columns = size(weight, 0);
  job.a = input.const_data_ptr<float>();
  job.a_stride = job.depth;
  job.b = weight.const_data_ptr<float>();
  job.b_stride = job.depth;
  job.pack = &pack_transposed;
  job.c = out.mutable_data_ptr<float>();
  job.c_stride = job.columns;
  if (bias) job.row_bias = bias->const_data_ptr<float>();
  gemm(job);
}

}  // namespace petrel::runtime::optimized
