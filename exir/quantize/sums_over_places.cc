// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/sums_over_places.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/constant_facts.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A matrix of more would cost more than the sums.
constexpr int64_t kMostPlaces = 1024;

bool is_fixed(const Value& value) { return value.is_constant() && !value.constant()->is_mutable(); }

// What is added where: the rows of `values` along `dim`, at `index`.
struct Sums {
  Value* index = nullptr;  // [n]; null of others
  Value* values = nullptr;
  int64_t dim = 0;
};

Sums sums_of_put(const Node& node) {
  const Argument& indices = node.argument(arg::indices);
  if (node.argument(arg::accumulate) != Argument(true) || !indices.is_list()) return {};
  Sums sums;
  for (size_t i = 0; i < indices.as_list().size(); ++i) {
    const Argument& one = indices.as_list()[i];
    if (one.is_none()) continue;
    if (sums.index != nullptr || tensor_in(one) == nullptr) return {};
    sums = {tensor_in(one), tensor_at(node, arg::values), static_cast<int64_t>(i)};
  }
  return sums;
}

// [n, 1] for [n, 8] of equal rows; null where they are not known to be.
BuiltValue along_one_dim(Builder& b, Value* index, size_t dim) {
  const auto sizes = sizes_of(index);
  const Node* const maker = index->producer();
  if (maker != nullptr && maker->is(aten::expand)) {
    Value* const before = maker->input(arg::self);
    const auto narrow = sizes_of(before);
    if (narrow.size() != sizes.size() || !is_always(narrow[dim], sizes[dim])) return nullptr;
    for (size_t d = 0; d < narrow.size(); ++d) {
      if (d != dim && !narrow[d].is(1)) return nullptr;
    }
    return b.view(before, {sizes[dim]});
  }
  if (!is_fixed(*index) || index->tensor().rank() != 2 || index->tensor().numel() == 0) {
    return nullptr;
  }
  const Constant& constant = *index->constant();
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, decode_constant(constant));
  const auto rows = static_cast<size_t>(constant.type.sizes[0]);
  const size_t columns = numbers.size() / rows;
  std::vector<double> line;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t at = dim == 0 ? i / columns : i % columns;
    if (at == line.size()) line.push_back(numbers[i]);
    if (numbers[i] != line[at]) return nullptr;
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(line, constant.type.dtype));
  const Sizes size = {static_cast<int64_t>(line.size())};
  return add_unique_constant(b.graph(), absl::StrCat(constant.fqn, "@line"),
                             TensorType::contiguous(constant.type.dtype, size), std::move(data),
                             constant.kind, constant.sources());
}

absl::StatusOr<Sums> sums_of_scatter(Builder& b, const Node& node) {
  Value* const x = tensor_at(node, arg::self);
  Value* const index = tensor_at(node, arg::index);
  Value* const src = tensor_at(node, arg::src);
  if (x->tensor().rank() == 0) return Sums();
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  auto wanted = sizes_of(x);
  wanted[static_cast<size_t>(dim)] = sizes_of(index)[static_cast<size_t>(dim)];
  if (!is_always(sizes_of(src), sizes_of(index)) || !is_always(sizes_of(src), wanted)) {
    return Sums();
  }
  PETREL_ASSIGN_OR_RETURN(Value * line, along_one_dim(b, index, static_cast<size_t>(dim)));
  return Sums{line, src, dim};
}

// The rows [n, c] added at places of `index`, which is a constant; null where one has no row.
BuiltValue added_at(Builder& b, const Constant& index, Value* rows, int64_t places) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, decode_constant(index));
  std::vector<double> matrix(static_cast<size_t>(places) * numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto place = static_cast<int64_t>(numbers[i]);
    if (place < -places || place >= places) return nullptr;
    const auto row = static_cast<size_t>(place < 0 ? place + places : place);
    matrix[row * numbers.size() + i] = 1;
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(matrix, ScalarType::kFloat));
  const Sizes sizes = {places, static_cast<int64_t>(numbers.size())};
  Value* const weight = add_unique_constant(b.graph(), absl::StrCat(index.fqn, "@places"),
                                            TensorType::contiguous(ScalarType::kFloat, sizes),
                                            std::move(data), index.kind, index.sources());
  PETREL_ASSIGN_OR_RETURN(Value * y, b.permute(rows, {1, 0}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::linear, {y, weight, none()}));
  return b.permute(y, {1, 0});
}

// The same at places that are found at run time; those below 0 count from the end.
BuiltValue added_at(Builder& b, Value* index, Value* rows, int64_t places) {
  PETREL_ASSIGN_OR_RETURN(Value * at, b.cast(index, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(at, b.view(at, {1, sizes_of(index)[0]}));
  Value* flags = nullptr;
  for (const int64_t first : {int64_t{0}, -places}) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < places; ++i) numbers.push_back(static_cast<double>(first + i));
    PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(numbers, ScalarType::kLong));
    Value* const all = add_unique_constant(
        b.graph(), absl::StrCat("places_", places, "_from_", first),
        TensorType::contiguous(ScalarType::kLong, {places, 1}), std::move(data));
    PETREL_ASSIGN_OR_RETURN(Value * same, b.binary(aten::eq_Tensor, all, at));
    if (flags != nullptr) {
      PETREL_ASSIGN_OR_RETURN(same, b.binary(aten::logical_or, flags, same));
    }
    flags = same;
  }
  PETREL_ASSIGN_OR_RETURN(Value * matrix, b.cast(flags, ScalarType::kFloat));
  return b.binary(aten::mm, matrix, rows);
}

}  // namespace

absl::StatusOr<bool> sum_over_places(Builder& b, Node& node) {
  Value* const x = tensor_at(node, arg::self);
  if (x == nullptr || x->tensor().dtype != ScalarType::kFloat) return false;
  Sums sums;
  if (node.is(aten::index_put)) {
    sums = sums_of_put(node);
  } else {
    PETREL_ASSIGN_OR_RETURN(sums, sums_of_scatter(b, node));
  }
  if (sums.index == nullptr || sums.index->tensor().rank() != 1 ||
      !is_integral(sums.index->tensor().dtype) || sums.index->tensor().dtype == ScalarType::kBool) {
    return false;
  }
  const auto dim = static_cast<size_t>(sums.dim);
  auto sizes = sizes_of(x);
  const rules::Size count = sizes_of(sums.index)[0];
  auto wanted = sizes;
  wanted[dim] = count;
  const int64_t most = sums.index->tensor().sizes[0];
  const int64_t places = x->tensor().sizes[dim];
  if (x->tensor().varies(dim) || places < 1 || places > kMostPlaces || most > kMostPlaces ||
      !is_always(sizes_of(sums.values), wanted) || !check_table({places, most}).ok()) {
    return false;
  }
  Ints order = all_dims(sizes.size());
  std::swap(order[0], order[dim]);
  std::swap(sizes[0], sizes[dim]);
  PETREL_ASSIGN_OR_RETURN(Value * rows, b.permute(sums.values, order));
  const rules::Size each = product(rules::Sizes(sizes.begin() + 1, sizes.end()));
  PETREL_ASSIGN_OR_RETURN(rows, b.view(rows, {count, each}));
  PETREL_ASSIGN_OR_RETURN(Value * y, is_fixed(*sums.index)
                                         ? added_at(b, *sums.index->constant(), rows, places)
                                         : added_at(b, sums.index, rows, places));
  if (y == nullptr) return false;
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, sizes));
  PETREL_ASSIGN_OR_RETURN(y, b.permute(y, order));
  if (is_fixed(*x) && is_zero(x->constant())) return done(b, node, y);
  return done(b, node, b.binary(aten::add_Tensor, x, y));
}

}  // namespace petrel::exir
