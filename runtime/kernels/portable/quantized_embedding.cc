// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table that is stored in 8, 4 or 2 bits, with a scale for each row or for each
// group of a row's elements:
//
//   out[i, k] = (table[indices[i], k] - zero_point) * scale
//
// A byte holds 4-bit elements from the high bits on, 2-bit elements from the low bits on;
// the smallest is stored as 0. Each step is rounded to the type of the scales.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/index_walk.h"
#include "runtime/kernels/portable/rounding.h"

namespace petrel::runtime::portable {
namespace {

// How elements lie in a byte.
struct Packing {
  int64_t per_byte;
  bool from_high_bits;

  int bits() const { return 8 / static_cast<int>(per_byte); }
  int64_t low() const { return -(int64_t{1} << (bits() - 1)); }
};
constexpr Packing kWhole = {1, false};
constexpr Packing kHalves = {2, true};
constexpr Packing kQuarters = {4, false};

struct Table {
  Tensor weight;
  Tensor scales;
  std::optional<Tensor> zero_points;
  Packing packing;

  size_t columns() const { return static_cast<size_t>(weight.size(1) * packing.per_byte); }
  size_t groups() const { return scales.dim() == 2 ? static_cast<size_t>(scales.size(1)) : 1; }

  int64_t element(size_t row, size_t column) const {
    const auto per_byte = static_cast<size_t>(packing.per_byte);
    const size_t at = row * static_cast<size_t>(weight.size(1)) + column / per_byte;
    if (weight.scalar_type() == ScalarType::Char) return weight.const_data_ptr<int8_t>()[at];
    const int byte = weight.const_data_ptr<uint8_t>()[at];
    if (per_byte == 1) return byte;
    const size_t place =
        packing.from_high_bits ? per_byte - 1 - column % per_byte : column % per_byte;
    const int mask = (1 << packing.bits()) - 1;
    return (byte >> (static_cast<int>(place) * packing.bits()) & mask) + packing.low();
  }
};

bool check_numbers(KernelRuntimeContext& context, const Table& table, const Tensor& numbers) {
  const Tensor& scales = table.scales;
  return check_contiguous(context, numbers) &&
         check(context,
               numbers.dim() == scales.dim() && numbers.numel() == scales.numel() &&
                   numbers.size(0) == table.weight.size(0),
               "scales and zero points must have a row for each row of the weight");
}

bool check_table(KernelRuntimeContext& context, const Table& table) {
  const ScalarType type = table.weight.scalar_type();
  const bool is_packed = table.packing.per_byte > 1;
  return check_rank(context, table.weight, 2) && check_contiguous(context, table.weight) &&
         check(context, type == ScalarType::Byte || (type == ScalarType::Char && !is_packed),
               "the weight must hold bytes") &&
         check_floating(context, table.scales) &&
         check(context, table.scales.dim() == 1 || table.scales.dim() == 2,
               "scales must have 1 or 2 dims") &&
         check_numbers(context, table, table.scales) &&
         (!table.zero_points || (check_arithmetic(context, *table.zero_points) &&
                                 check_numbers(context, table, *table.zero_points))) &&
         check(context, table.groups() > 0 && table.columns() % table.groups() == 0,
               "groups must divide the rows of the weight");
}

void look_up(const Table& table, size_t row, const Tensor& out, size_t at) {
  const Rounding rounded = rounding_of(table.scales.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const auto load_scale = loader<double>(table.scales.scalar_type());
  const size_t groups = table.groups();
  const size_t size = table.columns() / groups;
  if (size == 0) return;  // a file may have any number of groups of nothing
  for (size_t g = 0; g < groups; ++g) {
    const double scale = load_scale(table.scales.const_data_ptr(), row * groups + g);
    double zero_point = 0;
    if (table.zero_points) {
      const auto load = loader<double>(table.zero_points->scalar_type());
      zero_point = load(table.zero_points->const_data_ptr(), row * groups + g);
    }
    for (size_t k = g * size; k < (g + 1) * size; ++k) {
      const double steps = rounded(static_cast<double>(table.element(row, k)) - zero_point);
      store(out.mutable_data_ptr(), at + k, rounded(steps * scale));
    }
  }
}

// (Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, int weight_quant_min,
//  int weight_quant_max, Tensor indices, *, [ScalarType? dtype,] Tensor(a!) out)
void embed(KernelRuntimeContext& context, Span<EValue*> raw, const Packing& packing,
           bool has_dtype) {
  KernelArgs args(context, raw, has_dtype ? 8 : 7);
  const Table table = {args.tensor(0), args.tensor(1), args.optional_tensor(2), packing};
  const int64_t quant_min = args.integer(3);
  const int64_t quant_max = args.integer(4);
  const Tensor indices = args.tensor(5);
  const auto dtype = has_dtype ? args.optional_scalar_type(6) : std::nullopt;
  const Tensor out = args.out(has_dtype ? 7 : 6);
  if (!args.ok() || !check_table(context, table) ||
      !check(context, quant_min <= quant_max, "quant_min is above quant_max") ||
      !check(
          context,
          packing.per_byte == 1 || (quant_min == packing.low() && quant_max == -packing.low() - 1),
          "quant_min and quant_max must be those of the bits") ||
      !check_contiguous(context, indices) || !check_index_type(context, indices) ||
      !check(context, indices.sizes().size() < kTensorDimensionLimit, "rank is above 16") ||
      !check_floating(context, out) ||
      !check(context, dtype.value_or(table.scales.scalar_type()) == out.scalar_type(),
             "the type of the output is not that of the call")) {
    return;
  }
  SizeArray sizes(indices.sizes());
  if (!check(context, table.columns() <= INT32_MAX, "the rows are too long")) return;
  sizes[sizes.rank++] = static_cast<SizesType>(table.columns());
  if (!resize_out(context, out, sizes.span()) || !check_contiguous(context, out)) return;
  const auto load = loader<int64_t>(indices.scalar_type());
  for (size_t i = 0; i < indices.numel(); ++i) {
    const int64_t index = load(indices.const_data_ptr(), i);
    if (!check_index(context, index, table.weight.size(0))) return;
    look_up(table, static_cast<size_t>(index), out, i * table.columns());
  }
}

}  // namespace

void embedding_byte_out(KernelRuntimeContext& context, Span<EValue*> args) {
  embed(context, args, kWhole, false);
}
void embedding_byte_dtype_out(KernelRuntimeContext& context, Span<EValue*> args) {
  embed(context, args, kWhole, true);
}
void embedding_4bit_out(KernelRuntimeContext& context, Span<EValue*> args) {
  embed(context, args, kHalves, false);
}
void embedding_4bit_dtype_out(KernelRuntimeContext& context, Span<EValue*> args) {
  embed(context, args, kHalves, true);
}
void embedding_2bit_out(KernelRuntimeContext& context, Span<EValue*> args) {
  embed(context, args, kQuarters, false);
}
void embedding_2bit_dtype_out(KernelRuntimeContext& context, Span<EValue*> args) {
  embed(context, args, kQuarters, true);
}

}  // namespace petrel::runtime::portable
