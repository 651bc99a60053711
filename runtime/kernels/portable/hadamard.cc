// SPDX-License-Identifier: Apache-2.0
//
// The product of each row with a Hadamard matrix of 2^k or 28 * 2^k rows, by k passes of
// sums and differences:
//
//   2^k        H = H(2^k) / sqrt(2^k), of +1 and -1
//   28 * 2^k   H = H28 x H(2^k) / sqrt(2^k): the factor of 28 is not scaled, as in ExecuTorch
//
// Each pass rounds to the type of the tensor.
#include <cmath>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/functions.h"

namespace petrel::runtime::portable {
namespace {

constexpr size_t kOrder = 28;

// A Hadamard matrix of 28 rows: bit 27 - c of row r is set where [r, c] is +1.
constexpr uint32_t kSigns[kOrder] = {
    0x80796b3, 0x403eb59, 0x211d5ec, 0x118eab6, 0x09c751b, 0x05e1acd, 0x02f2d66,
    0xc30262d, 0xe081356, 0x70409ab, 0x38224d5, 0x1c1326a, 0x0e09935, 0x8604cda,
    0xa4ce061, 0x5365070, 0xa9b0838, 0x54d841c, 0x2a6c20e, 0x9534107, 0x4b980c3,
    0x9948f40, 0x4ca47a0, 0x2752390, 0x92ab188, 0xc857884, 0x652bc02, 0x3295e01};

struct Row {
  void* data;
  size_t first;
  Loader<double> load;
  Storer<double> store;

  double at(size_t i) const { return load(data, first + i); }
  void put(size_t i, double value) const { store(data, first + i, value); }
};

// `size` is a power of 2.
void transform(const Row& row, size_t begin, size_t size) {
  for (size_t half = 1; half < size; half *= 2) {
    for (size_t i = begin; i < begin + size; ++i) {
      if (((i - begin) & half) != 0) continue;
      const double a = row.at(i), b = row.at(i + half);
      row.put(i, a + b);
      row.put(i + half, a - b);
    }
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  for (size_t i = begin; i < begin + size; ++i) row.put(i, row.at(i) * scale);
}

// Across the 28 parts of a row.
void mix_parts(const Row& row, size_t part) {
  for (size_t i = 0; i < part; ++i) {
    double numbers[kOrder];
    for (size_t r = 0; r < kOrder; ++r) numbers[r] = row.at(r * part + i);
    for (size_t c = 0; c < kOrder; ++c) {
      double sum = 0;
      for (size_t r = 0; r < kOrder; ++r) {
        sum += (kSigns[r] >> (kOrder - 1 - c) & 1) != 0 ? numbers[r] : -numbers[r];
      }
      row.put(c * part + i, sum);
    }
  }
}

bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

// (Tensor mat, *, Tensor(a!) out)
void fast_hadamard_transform_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor mat = args.tensor(0);
  const Tensor out = args.out(1);
  if (!args.ok() || !check_floating(context, mat) || !check_same_type(context, mat, out) ||
      !check(context, mat.dim() > 0, "mat must have a dimension") ||
      !check_contiguous(context, mat) || !resize_out(context, out, mat.sizes()) ||
      !check_contiguous(context, out)) {
    return;
  }
  const auto size = static_cast<size_t>(mat.size(mat.dim() - 1));
  const bool has_parts = !is_power_of_two(size);
  const size_t part = has_parts ? size / kOrder : size;
  if (!check(context, is_power_of_two(part) && (!has_parts || part * kOrder == size),
             "the last size must be 2^k or 28 * 2^k") ||
      !charge_each(context, out, 64)) {
    return;
  }
  const auto load = loader<double>(mat.scalar_type());
  const auto store = storer<double>(mat.scalar_type());
  for (size_t first = 0; first < out.numel(); first += size) {
    const Row row = {out.mutable_data_ptr(), first, load, store};
    for (size_t i = 0; i < size; ++i) row.put(i, load(mat.const_data_ptr(), first + i));
    for (size_t begin = 0; begin < size; begin += part) transform(row, begin, part);
    if (has_parts) mix_parts(row, part);
  }
}

}  // namespace petrel::runtime::portable
