// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices: C[i, j] = sum over k of A[i, k] B[k, j], accumulated in
// double (floats) or modulo 2^64 (integers), k ascending.
#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {
namespace {

// A matrix inside a tensor: where it starts and how far its rows and columns
// are apart, in elements.
struct Matrix {
  int64_t offset = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;

  int64_t at(int64_t i, int64_t j) const { return offset + i * row_stride + j * column_stride; }
};

Matrix matrix_of(const Tensor& tensor, size_t first_dim) {
  return {0, tensor.strides()[first_dim], tensor.strides()[first_dim + 1]};
}

// out = beta * bias + alpha * a b; `bias` broadcasts to [rows, columns]. With `has_product`
// false a and b do not count, whatever they are.
template <typename C>
struct Product {
  int64_t rows, columns, depth;
  C alpha, beta;
  bool has_product = true;

  void run(const Tensor& a_tensor, Matrix a, const Tensor& b_tensor, Matrix b,
           const Tensor& out_tensor, Matrix out, const Tensor* bias_tensor, Matrix bias) const {
    const auto load_a = loader<C>(a_tensor.scalar_type());
    const auto load_b = loader<C>(b_tensor.scalar_type());
    const auto store = storer<C>(out_tensor.scalar_type());
    const auto load_bias = bias_tensor != nullptr ? loader<C>(bias_tensor->scalar_type()) : nullptr;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        C sum{0};
        for (int64_t k = 0; has_product && k < depth; ++k) {
          sum += load_a(a_tensor.const_data_ptr(), static_cast<size_t>(a.at(i, k))) *
                 load_b(b_tensor.const_data_ptr(), static_cast<size_t>(b.at(k, j)));
        }
        sum *= alpha;
        if (bias_tensor != nullptr && beta != C{0}) {
          sum +=
              beta * load_bias(bias_tensor->const_data_ptr(), static_cast<size_t>(bias.at(i, j)));
        }
        store(out_tensor.mutable_data_ptr(), static_cast<size_t>(out.at(i, j)), sum);
      }
    }
  }
};

// Integers multiply modulo 2^64.
using Modular = uint64_t;

bool check_operands(KernelRuntimeContext& context, const Tensor& a, const Tensor& b,
                    const Tensor& out, ssize_t rank) {
  return check_arithmetic(context, a) && check_same_type(context, a, b) &&
         check_same_type(context, a, out) && check_rank(context, a, rank) &&
         check_rank(context, b, rank);
}

void multiply(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor* bias,
              const Matrix& bias_matrix, const Scalar& alpha, const Scalar& beta, size_t first,
              int64_t batches) {
  const int64_t rows = a.size(static_cast<ssize_t>(first));
  const int64_t depth = a.size(static_cast<ssize_t>(first) + 1);
  const int64_t columns = b.size(static_cast<ssize_t>(first) + 1);
  for (int64_t n = 0; n < batches; ++n) {
    Matrix ma = matrix_of(a, first);
    Matrix mb = matrix_of(b, first);
    Matrix mc = matrix_of(out, first);
    if (first > 0) {
      ma.offset = n * a.strides()[0];
      mb.offset = n * b.strides()[0];
      mc.offset = n * out.strides()[0];
    }
    if (is_floating(a.scalar_type())) {
      // Eager multiplies halves by 0, but leaves out products of floats.
      const bool has_product = alpha.to_double() != 0.0 || element_size(a.scalar_type()) == 2;
      const Product<double> product{rows,       columns, depth, alpha.to_double(), beta.to_double(),
                                    has_product};
      product.run(a, ma, b, mb, out, mc, bias, bias_matrix);
    } else {
      const Product<Modular> product{rows, columns, depth, static_cast<Modular>(alpha.to_int()),
                                     static_cast<Modular>(beta.to_int())};
      product.run(a, ma, b, mb, out, mc, bias, bias_matrix);
    }
  }
}

}  // namespace

// mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out)
void mm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_operands(context, a, b, out, 2) ||
      !check(context, a.size(1) == b.size(0), "inner sizes of the matrices differ")) {
    return;
  }
  const SizesType sizes[] = {a.sizes()[0], b.sizes()[1]};
  if (!resize_out(context, out, sizes) || !charge_product(context, out, a)) return;
  multiply(a, b, out, nullptr, {}, Scalar(int64_t{1}), Scalar(int64_t{0}), 0, 1);
}

// bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out)
void bmm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_operands(context, a, b, out, 3) ||
      !check(context, a.size(0) == b.size(0), "batch sizes differ") ||
      !check(context, a.size(2) == b.size(1), "inner sizes of the matrices differ")) {
    return;
  }
  const SizesType sizes[] = {a.sizes()[0], a.sizes()[1], b.sizes()[2]};
  if (!resize_out(context, out, sizes) || !charge_product(context, out, a)) return;
  multiply(a, b, out, nullptr, {}, Scalar(int64_t{1}), Scalar(int64_t{0}), 1, a.size(0));
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
  if (!args.ok() || !check_operands(context, a, b, out, 2) || !check_same_type(context, a, bias) ||
      !check(context, a.size(1) == b.size(0), "inner sizes of the matrices differ")) {
    return;
  }
  const SizesType sizes[] = {a.sizes()[0], b.sizes()[1]};
  if (!check(context, broadcasts_to(bias.sizes(), sizes),
             "the added tensor does not broadcast to the product") ||
      !resize_out(context, out, sizes) || !charge_product(context, out, a)) {
    return;
  }
  Matrix bias_matrix;
  const ssize_t rank = bias.dim();
  if (rank >= 1 && bias.size(rank - 1) != 1) bias_matrix.column_stride = bias.strides()[rank - 1];
  if (rank == 2 && bias.size(0) != 1) bias_matrix.row_stride = bias.strides()[0];
  multiply(a, b, out, &bias, bias_matrix, alpha, beta, 0, 1);
}

// linear.out(Tensor input, Tensor weight, Tensor? bias, *, Tensor(a!) out):
// input times the transpose of weight, over the last dim of input.
void linear_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_floating(context, input) || !check_same_type(context, input, weight) ||
      !check_same_type(context, input, out) || !check_rank(context, weight, 2) ||
      !check_contiguous(context, input) ||
      !check(context, input.dim() >= 1 && input.size(input.dim() - 1) == weight.size(1),
             "inner sizes of input and weight differ") ||
      (bias && (!check_same_type(context, input, *bias) || !check_rank(context, *bias, 1) ||
                !check(context, bias->size(0) == weight.size(0),
                       "the bias does not match the rows of the weight")))) {
    return;
  }
  SizeArray sizes(input.sizes());
  sizes[sizes.rank - 1] = weight.sizes()[0];
  if (!resize_out(context, out, sizes.span()) || !check_contiguous(context, out) ||
      !charge_product(context, out, input)) {
    return;
  }
  const int64_t depth = weight.size(1), columns = weight.size(0);
  const int64_t rows = static_cast<int64_t>(product(input.sizes(), 0, sizes.rank - 1));
  const Product<double> product{rows, columns, depth, 1.0, 1.0};
  const Matrix transposed = {0, weight.strides()[1], weight.strides()[0]};
  Matrix bias_matrix;
  if (bias) bias_matrix.column_stride = bias->strides()[0];
  product.run(input, {0, depth, 1}, weight, transposed, out, {0, columns, 1},
              bias ? &*bias : nullptr, bias_matrix);
}

}  // namespace petrel::runtime::portable
