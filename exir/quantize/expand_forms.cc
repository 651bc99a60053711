// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/expand_forms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/fold/evaluate.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/quantize/sums_over_places.h"
#include "exir/quantize/transposed_phases.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// A matrix of more would cost more than it computes.
constexpr int64_t kMostColumns = 1024;

// Elements of a constant that is computed while a graph is expanded.
constexpr int64_t kMostFolded = 1 << 20;

// Whether there may be a matrix [out, in]; a graph has a few of them in all.
bool may_have_matrix(int64_t out, int64_t in) {
  return in > 0 && in <= kMostColumns && out <= kMostColumns && check_table({out, in}).ok();
}

bool is_of_floats(const Node& node) {
  const Value* const x = tensor_at(node, arg::self, arg::input);
  return x != nullptr && x->tensor().dtype == ScalarType::kFloat &&
         node.result()->type().is_tensor();
}

// What `dim` of `value` has, where that does not vary.
std::optional<int64_t> fixed_size(const Value* value, int64_t dim) {
  const TensorType& type = value->tensor();
  const auto at = static_cast<size_t>(dim);
  if (type.varies(at)) return std::nullopt;
  return type.sizes[at];
}

// Of `constant`, whose elements become others.
BuiltValue constant_like(Builder& b, const Constant& constant, const char* suffix,
                         const std::vector<double>& numbers, const Sizes& sizes) {
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(numbers, ScalarType::kFloat));
  return add_unique_constant(b.graph(), absl::StrCat(constant.fqn, suffix),
                             TensorType::contiguous(ScalarType::kFloat, sizes), std::move(data),
                             constant.kind, constant.sources());
}

// 1 / `constant`; null where an element is 0, or too near to it.
absl::StatusOr<Value*> inverse_of(Builder& b, const Constant& constant) {
  PETREL_ASSIGN_OR_RETURN(std::vector<double> numbers, decode_constant(constant));
  for (double& number : numbers) {
    number = 1 / number;
    if (!std::isfinite(static_cast<float>(number))) return nullptr;
  }
  return constant_like(b, constant, "@inverse", numbers, constant.type.sizes);
}

Rewritten divide(Builder& b, Node& node) {
  Value* const divisor = tensor_at(node, arg::other);
  if (!is_of_floats(node) || divisor == nullptr || divisor->tensor().dtype != ScalarType::kFloat) {
    return false;
  }
  Value* inverse = nullptr;
  if (divisor->is_constant() && !divisor->constant()->is_mutable()) {
    if (divisor->tensor().numel() == 1) return false;  // a table, and exact
    PETREL_ASSIGN_OR_RETURN(inverse, inverse_of(b, *divisor->constant()));
    if (inverse == nullptr) return false;
  } else {
    PETREL_ASSIGN_OR_RETURN(inverse, b.call(aten::reciprocal, {divisor}));
  }
  return done(b, node, b.binary(aten::mul_Tensor, tensor_at(node, arg::self), inverse));
}

// A node of one constant, as attention that is taken apart has of queries that are learned. A
// weight that is only moved stays: it may be found by its name.
Rewritten fold(Builder& b, Node& node) {
  const std::vector<Value*> operands = node.operands();
  if (operands.size() != 1 || !is_of_floats(node) || !operands[0]->is_constant() ||
      node.result()->tensor().is_dynamic()) {
    return false;
  }
  const ConstantPtr constant = operands[0]->constant();
  const bool is_computed = constant->kind == Constant::Kind::kLiteral ||
                           !constant->made_of.empty() || node.is(aten::mul_Scalar);
  const TensorType& type = node.result()->tensor();
  if (constant->is_mutable() || !is_computed || type.numel() > kMostFolded ||
      !check_table({type.numel()}).ok()) {
    return false;
  }
  auto graph = std::make_unique<Graph>("fold");
  std::vector<Argument> arguments = node.arguments();
  for (Argument& argument : arguments) {
    if (argument.is_value()) argument = Argument(graph->add_constant(constant));
  }
  Builder inner(*graph, nullptr);
  PETREL_ASSIGN_OR_RETURN(const Node* made, inner.node(node.op(), std::move(arguments)));
  graph->set_outputs({made->result()});
  PETREL_RETURN_IF_ERROR(lower_to_kernels(*graph, PassContext()).status());
  PETREL_ASSIGN_OR_RETURN(const std::vector<Blob> outputs, evaluate(std::move(graph)));
  Value* const folded = add_unique_constant(b.graph(), absl::StrCat(constant->fqn, "@fold"),
                                            TensorType::contiguous(ScalarType::kFloat, type.sizes),
                                            outputs[0], constant->kind, constant->sources());
  return done(b, node, folded);
}

Rewritten log_softmax(Builder& b, Node& node) {
  if (!is_of_floats(node)) return false;
  Value* x = tensor_at(node, arg::self);
  const Ints dim = {fixed_int(node.argument(arg::dim))};
  PETREL_ASSIGN_OR_RETURN(Value * largest, b.call(aten::amax, {x, dim, true}));
  PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::sub_Tensor, x, largest));
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.call(aten::exp, {x}));
  PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::sum_dim_IntList, {sum, dim, true, none()}));
  PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::log, {sum}));
  return done(b, node, b.binary(aten::sub_Tensor, x, sum));
}

// 1 for the unbiased one.
absl::StatusOr<double> correction_of(const Node& node) {
  if (node.is(aten::var_dim)) return node.argument(arg::unbiased) == Argument(true) ? 1 : 0;
  const Argument& correction = node.argument(arg::correction);
  return correction.is_number() ? correction.as_number() : 1;
}

Rewritten variance(Builder& b, Node& node) {
  const Argument& given = node.argument(arg::dim);
  const Argument& keepdim = node.argument(arg::keepdim);
  if (!is_of_floats(node) || !keepdim.is_bool()) return false;
  Value* x = tensor_at(node, arg::self);
  const size_t rank = x->tensor().rank();
  Ints dims = given.is_none() ? Ints() : ints_at(node, arg::dim, 1);
  if (dims.empty()) dims = all_dims(rank);
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (rank == 0) continue;  // The one dim of a number has one element.
    const auto size = fixed_size(x, wrap_dim(dim, rank));
    if (!size) return false;
    count *= *size;
  }
  PETREL_ASSIGN_OR_RETURN(const double correction, correction_of(node));
  const double left = static_cast<double>(count) - correction;
  if (!(left > 0)) return false;
  PETREL_ASSIGN_OR_RETURN(Value * mean, b.call(aten::mean_dim, {x, dims, true, none()}));
  PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::sub_Tensor, x, mean));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::pow_Tensor_Scalar, {x, 2}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::mean_dim, {x, dims, keepdim.as_bool(), none()}));
  return done(b, node, b.call(aten::mul_Scalar, {x, static_cast<double>(count) / left}));
}

// Along `dim`, which does not vary, x times the transposed matrix [out, in].
BuiltValue times(Builder& b, Value* x, int64_t dim, const std::string& name,
                 const std::vector<double>& matrix) {
  const size_t rank = x->tensor().rank();
  const int64_t in = *fixed_size(x, dim);
  Ints order = all_dims(rank);
  std::swap(order[static_cast<size_t>(dim)], order[rank - 1]);
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(matrix, ScalarType::kFloat));
  const auto out = static_cast<int64_t>(matrix.size()) / in;
  Value* const weight = add_unique_constant(
      b.graph(), name, TensorType::contiguous(ScalarType::kFloat, {out, in}), std::move(data));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, order));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::linear, {x, weight, none()}));
  return b.permute(x, order);
}

Rewritten cumulate(Builder& b, Node& node) {
  if (!is_of_floats(node) || node.result()->tensor().dtype != ScalarType::kFloat) return false;
  Value* const x = tensor_at(node, arg::self);
  if (x->tensor().rank() == 0) return false;
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  const auto size = fixed_size(x, dim);
  if (!size || !may_have_matrix(*size, *size)) return false;
  std::vector<double> matrix;
  for (int64_t i = 0; i < *size * *size; ++i) matrix.push_back(i % *size <= i / *size ? 1 : 0);
  return done(b, node, times(b, x, dim, absl::StrCat("cumsum_", *size), matrix));
}

// What the kernel makes of each place alone, along one dim: [out, in].
absl::StatusOr<std::vector<double>> weights_of(const Node& node, size_t spatial) {
  const int64_t in = node.input(arg::input)->tensor().sizes[2 + spatial];
  const int64_t out = node.result()->tensor().sizes[2 + spatial];
  std::vector<double> places;
  for (int64_t i = 0; i < in * in; ++i) places.push_back(i % in == i / in ? 1 : 0);
  auto graph = std::make_unique<Graph>("weights");
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(places, ScalarType::kFloat));
  Value* const x = add_unique_constant(*graph, "places",
                                       TensorType::contiguous(ScalarType::kFloat, {1, in, 1, in}),
                                       std::move(data));
  std::vector<Argument> arguments = node.arguments();
  arguments[0] = Argument(x);
  for (Argument& argument : arguments) {
    if (argument.is_ints()) argument = Argument(Ints{1, out});
    if (argument.is_floats()) {
      argument = Argument(std::vector<double>{1.0, argument.as_floats()[spatial]});
    }
  }
  Builder b(*graph, nullptr);
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(node.op(), std::move(arguments)));
  graph->set_outputs({made->result()});
  PETREL_ASSIGN_OR_RETURN(const std::vector<Blob> outputs, evaluate(std::move(graph)));
  Constant found;
  found.type = TensorType::contiguous(ScalarType::kFloat, {in, out});
  found.data = outputs[0];
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> columns, decode_constant(found));
  std::vector<double> matrix;
  for (int64_t i = 0; i < in * out; ++i) {
    matrix.push_back(columns[static_cast<size_t>(i % in * out + i / in)]);
  }
  return matrix;
}

// The whole number of times that `dim` becomes longer; nullopt where it is none, or of many taps.
std::optional<int64_t> times_longer(const Node& node, int64_t dim) {
  constexpr int64_t kMostTimes = 8;
  const rules::Size in = sizes_of(node.input(arg::input))[static_cast<size_t>(dim)];
  const rules::Size out = sizes_of(node.result())[static_cast<size_t>(dim)];
  const Argument& factors = node.argument(arg::scale_factors);
  for (int64_t times = 1; times <= kMostTimes; ++times) {
    if (!is_always(out, in * times)) continue;
    const bool is_given = factors.is_floats();
    if (is_given &&
        factors.as_floats()[static_cast<size_t>(dim - 2)] != static_cast<double>(times)) {
      return std::nullopt;
    }
    return times;
  }
  return std::nullopt;
}

// Of the place before, the place itself and the one behind, where each becomes `times`.
std::array<double, 3> taps_of_phase(int64_t phase, int64_t times) {
  const double from = (static_cast<double>(phase) + 0.5) / static_cast<double>(times) - 0.5;
  return {std::max(-from, 0.0), 1 - std::fabs(from), std::max(from, 0.0)};
}

// [C * s * t, 1, 3, 3] for planes that become s times as high and t times as wide.
std::vector<double> filters_of_phases(int64_t channels, int64_t high, int64_t wide) {
  std::vector<double> filters;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t phase = 0; phase < high * wide; ++phase) {
      for (const double row : taps_of_phase(phase / wide, high)) {
        for (const double column : taps_of_phase(phase % wide, wide)) {
          filters.push_back(row * column);
        }
      }
    }
  }
  return filters;
}

// With its first and its last once more, at its ends.
BuiltValue with_ends_twice(Builder& b, Value* x, int64_t dim) {
  const rules::Size size = sizes_of(x)[static_cast<size_t>(dim)];
  PETREL_ASSIGN_OR_RETURN(Value * first, b.slice(x, dim, 0, 1));
  PETREL_ASSIGN_OR_RETURN(Value * last, b.slice(x, dim, size - 1, size));
  return b.call(aten::cat, {std::vector<Value*>{first, x, last}, dim});
}

// Planes that vary, and become a whole number of times as large: a place of the result takes
// three by three of the input, with weights of its phase.
Rewritten bilinear_of_phases(Builder& b, Node& node) {
  Value* x = node.input(arg::input);
  const auto channels = fixed_size(x, 1), high = times_longer(node, 2),
             wide = times_longer(node, 3);
  if (!channels || !high || !wide || node.argument(arg::align_corners) != Argument(false) ||
      !check_table({*channels, *high, *wide, 9}).ok()) {
    return false;
  }
  const rules::Sizes in = sizes_of(x);
  for (const int64_t dim : {2, 3}) {
    PETREL_ASSIGN_OR_RETURN(x, with_ends_twice(b, x, dim));
  }
  PETREL_ASSIGN_OR_RETURN(
      Blob data, encode_constant(filters_of_phases(*channels, *high, *wide), ScalarType::kFloat));
  const Sizes sizes = {*channels * *high * *wide, 1, 3, 3};
  Value* const filter = add_unique_constant(
      b.graph(), absl::StrCat("bilinear_", *channels, "_times_", *high, "_", *wide),
      TensorType::contiguous(ScalarType::kFloat, sizes), std::move(data));
  const Ints ones = {1, 1}, zeros = {0, 0};
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::convolution, {x, filter, none(), ones, zeros, ones, false,
                                                        zeros, *channels}));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {in[0], in[1], *high, *wide, in[2], in[3]}));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, {0, 1, 4, 2, 5, 3}));
  return done(b, node, b.view(x, {in[0], in[1], in[2] * *high, in[3] * *wide}));
}

Rewritten bilinear(Builder& b, Node& node) {
  if (!is_of_floats(node)) return false;
  Value* x = node.input(arg::input);
  for (const int64_t dim : {3, 2}) {
    const auto in = fixed_size(x, dim), out = fixed_size(node.result(), dim);
    if (!in || !out) return bilinear_of_phases(b, node);
    // What each place makes is asked of all places.
    if (!may_have_matrix(*out, *in) || !may_have_matrix(*in, *in)) return false;
  }
  for (const size_t spatial : {size_t{1}, size_t{0}}) {
    PETREL_ASSIGN_OR_RETURN(const std::vector<double> matrix, weights_of(node, spatial));
    const std::string name = absl::StrCat("bilinear_", x->tensor().sizes[2 + spatial], "_",
                                          node.result()->tensor().sizes[2 + spatial]);
    PETREL_ASSIGN_OR_RETURN(x, times(b, x, static_cast<int64_t>(2 + spatial), name, matrix));
  }
  return done(b, node, x);
}

// Of transposed groups the channels of a weight lie in two dims; of their phases in one.
Rewritten transposed_groups(Builder& b, Node& node) {
  const Argument& groups = node.argument(arg::groups);
  const bool is_it = node.argument(arg::transposed) == Argument(true) && groups.is_int() &&
                     groups.as_int() > 1 && is_of_floats(node);
  if (!is_it) return false;
  Value* const weight = node.input(arg::weight);
  Value* const bias = tensor_at(node, arg::bias);
  for (const Value* constant : {weight, bias}) {
    if (constant == nullptr) continue;
    const bool is_fixed = constant->is_constant() && !constant->constant()->is_mutable() &&
                          constant->tensor().dtype == ScalarType::kFloat;
    if (!is_fixed) return false;
  }
  Value* x = node.input(arg::input);
  const size_t rank = weight->tensor().rank();
  if (rank > 4 || x->tensor().rank() != rank || weight->tensor().numel() == 0) return false;
  for (size_t dim = 1; dim < rank; ++dim) {
    if (x->tensor().varies(dim) || node.result()->tensor().varies(dim)) return false;
  }
  const TransposedPhases phases(node);
  PETREL_ASSIGN_OR_RETURN(std::vector<double> numbers, decode_constant(*weight->constant()));
  const auto of_phases = phases.weight(numbers);
  if (!of_phases.ok()) return false;
  PETREL_ASSIGN_OR_RETURN(Value * filter, constant_like(b, *weight->constant(), "@phases",
                                                        *of_phases, phases.weight_sizes()));
  Value* added = nullptr;
  if (bias != nullptr) {
    PETREL_ASSIGN_OR_RETURN(numbers, decode_constant(*bias->constant()));
    numbers = phases.for_phases(numbers);
    PETREL_ASSIGN_OR_RETURN(added, constant_like(b, *bias->constant(), "@phases", numbers,
                                                 {static_cast<int64_t>(numbers.size())}));
  }
  if (const Ints pads = phases.pads(); !pads.empty()) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::constant_pad_nd, {x, pads, 0.0}));
  }
  const Ints ones = phases.ones(), zeros(ones.size(), 0);
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::convolution, {x, filter, added == nullptr ? Arg(none()) : Arg(added),
                                            ones, phases.padding(), ones, false, zeros, groups}));
  return done(b, node, phases.interleaved(b, y));
}

// The largest of a dim and its place, each by an operator of its own.
Rewritten extreme(Builder& b, Node& node) {
  if (!is_of_floats(node)) return false;
  Value* const x = node.input(arg::self);
  const Argument& dim = node.argument(arg::dim);
  const Argument& keepdim = node.argument(arg::keepdim);
  const bool is_largest = node.is(aten::max_dim);
  PETREL_ASSIGN_OR_RETURN(Value * extreme, b.call(is_largest ? aten::amax : aten::amin,
                                                  {x, Ints{dim.as_int()}, keepdim}));
  PETREL_ASSIGN_OR_RETURN(Value * place,
                          b.call(is_largest ? aten::argmax : aten::argmin, {x, dim, keepdim}));
  PETREL_RETURN_IF_ERROR(b.replace(node, std::vector<Value*>{extreme, place}));
  return true;
}

// The largest are where they are: levels tell their places as well as numbers do.
Rewritten gather_largest(Builder& b, Node& node) {
  if (!is_of_floats(node) || !node.result(0)->is_used()) return false;
  Value* const x = node.input(arg::self);
  if (x->tensor().rank() == 0) return false;
  PETREL_ASSIGN_OR_RETURN(Node * top, b.node(node.op(), node.arguments()));
  PETREL_ASSIGN_OR_RETURN(
      Value * largest, b.call(aten::gather, {x, node.argument(arg::dim), top->result(1), false}));
  PETREL_RETURN_IF_ERROR(b.replace(node, std::vector<Value*>{largest, top->result(1)}));
  return true;
}

constexpr Rewrite kRows[] = {
    {aten::div_Tensor, divide},
    {aten::_log_softmax, log_softmax},
    {aten::var_dim, variance},
    {aten::var_correction, variance},
    {aten::cumsum, cumulate},
    {aten::upsample_bilinear2d_vec, bilinear},
    {aten::max_dim, extreme},
    {aten::min_dim, extreme},
    {aten::topk, gather_largest},
    {aten::convolution, transposed_groups},
    {aten::mul_Scalar, fold},
    {aten::view, fold},
    {aten::expand, fold},
    {aten::permute, fold},
    {aten::transpose_int, fold},
    {aten::index_put, sum_over_places},
    {aten::scatter_add, sum_over_places},
};

}  // namespace

Rewrites expansions_for_integers() { return kRows; }

}  // namespace petrel::exir
