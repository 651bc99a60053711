// SPDX-License-Identifier: Apache-2.0
//
// Reductions over some dims, and what runs along one.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/kernel_library.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// Folds start with the first element where there is no other beginning.
constexpr char kFirst[] = "LOAD_IN(from[0])";
constexpr char kOfRows[] = "kernels/reduce_rows.h";

// Which dims of `x` the node reduces; none or an empty list means all.
std::vector<bool> reduced_dims(const Node& node, const Value* x) {
  const size_t rank = x->tensor().rank();
  std::vector<int64_t> dims;
  if (node.op().find_arg(arg::dim) >= 0) dims = ints_of(node.argument(arg::dim));
  std::vector<bool> reduced(rank, dims.empty());
  for (const int64_t dim : dims) {
    if (rank > 0)
      reduced[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim)] = true;
  }
  return reduced;
}

// Whether the last dims are reduced and no others, of sizes that are numbers and in order.
bool reduces_rows(const TensorType& type, const std::vector<bool>& reduced) {
  for (size_t d = 0; d < reduced.size(); ++d) {
    const bool is_in_order = type.dim_order.empty() || type.dim_order[d] == d;
    if (type.varies(d) || !is_in_order || (d > 0 && reduced[d - 1] && !reduced[d])) return false;
  }
  return !reduced.empty() && reduced.back() && !reduced.front();
}

// A call of a kernel that loops over reduced dims inside of kept ones.
KernelCall& reduce(const OperatorRow& row, NodeCalls& calls, const char* source,
                   Arithmetic arithmetic, Extent* reduced_count) {
  const Value* x = calls.node().input(arg::self);
  const std::vector<bool> reduced = reduced_dims(calls.node(), x);
  const Extents sizes = extents_of(x->tensor());
  const Extents strides = strides_of(x->tensor());
  LoopNest outer(1), inner(1);
  for (size_t d = 0; d < reduced.size(); ++d) {
    (reduced[d] ? inner : outer).add(sizes[d], {strides[d]});
  }
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, arithmetic);
  outer.bind_sizes(call, "KEPT_", "KEPT");
  inner.bind_sizes(call, "", "REDUCED");
  NodeCalls::bind_list(call, "KEPT_STRIDES", outer.strides(0));
  NodeCalls::bind_list(call, "STRIDES", inner.strides(0));
  call.arguments = {calls.read(x), calls.write(calls.out())};
  *reduced_count = inner.count();
  return call;
}

KernelCall& fold(const OperatorRow& row, NodeCalls& calls, Arithmetic arithmetic, const char* start,
                 Extent* reduced_count) {
  KernelCall& call = reduce(row, calls, "kernels/reduce.h", arithmetic, reduced_count);
  if (start != kFirst && reduces_rows(calls.node().input(arg::self)->tensor(),
                                      reduced_dims(calls.node(), calls.node().input(arg::self)))) {
    call.source = kOfRows;
  }
  call.tokens["START"] = start;
  call.tokens["STEP"] = row.expression;
  call.tokens["FINISH"] = "value";
  return call;
}

// How many elements are reduced.
std::string as_double(const KernelCall& call, const Extent& count) {
  if (count.is_number()) return number(static_cast<double>(count.number()));
  return absl::StrCat("(double)", call.tokens.at("REDUCED"));
}

absl::Status mean(const OperatorRow& row, NodeCalls& calls) {
  constexpr int64_t kMostInFloats = 4096;
  Extent count;
  KernelCall& call = fold(row, calls, Arithmetic::kDouble, "0.0", &count);
  call.tokens["FINISH"] = absl::StrCat("value / ", as_double(call, count));
  const bool has_floats = calls.node().input(arg::self)->tensor().dtype == ScalarType::kFloat &&
                          calls.out()->tensor().dtype == ScalarType::kFloat;
  const bool is_short = count.is_number() && count.number() <= kMostInFloats;
  if (calls.is_fast() && has_floats && is_short && call.source == kOfRows) {
    call.source = "kernels/fast_mean_rows.h";
  }
  return absl::OkStatus();
}

// Integers are summed and multiplied modulo 2^64.
absl::Status sum(const OperatorRow& row, NodeCalls& calls) {
  Extent count;
  const bool floating = is_floating(calls.out()) || is_floating(calls.node().input(arg::self));
  fold(row, calls, floating ? Arithmetic::kDouble : Arithmetic::kModular, floating ? "0.0" : "0",
       &count);
  return absl::OkStatus();
}

absl::Status product(const OperatorRow& row, NodeCalls& calls) {
  Extent count;
  const bool floating = is_floating(calls.out());
  fold(row, calls, floating ? Arithmetic::kDouble : Arithmetic::kModular, floating ? "1.0" : "1",
       &count);
  return absl::OkStatus();
}

absl::Status any(const OperatorRow& row, NodeCalls& calls) {
  Extent count;
  fold(row, calls, Arithmetic::kDouble, "0.0", &count);
  return absl::OkStatus();
}

// A comparison of elements, of `expression`, for integers: not all of them are doubles.
std::string in_integers(absl::string_view expression) {
  return absl::StrReplaceAll(expression, {{"petrel_is_larger(x, value)", "x > value"},
                                          {"petrel_is_larger(value, x)", "value > x"},
                                          {"petrel_is_smaller(x, value)", "x < value"}});
}

// The comparison of the elements of x in `expression`.
std::string compared(absl::string_view expression, const Value* x) {
  return is_floating(x) ? std::string(expression) : in_integers(expression);
}

// The value of the best element, by `expression`.
void best_value(const OperatorRow& row, NodeCalls& calls, const char* expression) {
  const Value* x = calls.node().input(arg::self);
  Extent count;
  KernelCall& call = fold(row, calls, arithmetic_of({x}), kFirst, &count);
  call.tokens["START"] = with_words_replaced(kFirst, call.tokens);
  call.tokens["STEP"] = compared(expression, x);
}

absl::Status extreme(const OperatorRow& row, NodeCalls& calls) {
  best_value(row, calls, row.expression);
  return absl::OkStatus();
}

// The place of the best element, and its value where there is a result for it.
absl::Status extreme_place(const OperatorRow& row, NodeCalls& calls) {
  Extent count;
  const Value* x = calls.node().input(arg::self);
  const bool has_value = calls.node().num_results() == 2;
  if (has_value) best_value(row, calls, row.integer_expression);
  KernelCall& call = reduce(row, calls, "kernels/extreme_place.h", arithmetic_of({x}), &count);
  call.name = absl::StrCat(row.name(), "_place");
  call.tokens["EXPRESSION"] = compared(row.expression, x);
  call.arguments[1] = calls.write(calls.out(has_value ? 1 : 0));
  return absl::OkStatus();
}

double correction_of(const Node& node) {
  if (node.op().find_arg(arg::correction) >= 0) {
    const Argument& correction = node.argument(arg::correction);
    return correction.is_none() ? 1.0 : correction.as_number();
  }
  return node.argument(arg::unbiased).as_bool() ? 1.0 : 0.0;
}

absl::Status variance(const OperatorRow& row, NodeCalls& calls) {
  Extent count;
  KernelCall& call = reduce(row, calls, "kernels/variance.h", Arithmetic::kDouble, &count);
  const double correction = correction_of(calls.node());
  if (count.is_number()) {
    call.tokens["FREEDOM"] =
        number(std::max(0.0, static_cast<double>(count.number()) - correction));
  } else {
    const std::string elements = as_double(call, count);
    call.tokens["FREEDOM"] = absl::StrCat("(", elements, " > ", number(correction), " ? ", elements,
                                          " - ", number(correction), " : 0.0)");
  }
  const bool has_mean = calls.node().num_results() == 2;
  call.arguments.push_back(has_mean ? calls.write(calls.out(1)) : "NULL");
  return absl::OkStatus();
}

void bind_split(KernelCall& call, const Split& split) {
  NodeCalls::bind(call, "OUTER", split.outer);
  NodeCalls::bind(call, "SIZE", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
}

absl::Status running_sum(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Arithmetic arithmetic =
      is_floating(calls.out()) ? Arithmetic::kDouble : Arithmetic::kModular;
  KernelCall& call = calls.add("kernels/running_sum.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, arithmetic);
  bind_split(call, split_at(x->tensor(), dim_of(calls.node().argument(arg::dim), x->tensor())));
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return absl::OkStatus();
}

absl::Status top(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::self);
  const Split split = split_at(x->tensor(), dim_of(node.argument(arg::dim), x->tensor()));
  const Extent kept = extent_of(node.argument(arg::k));
  if (kept != split.size && (kept - split.size).range().high > 0) {
    KernelCall& check = calls.add("kernels/no_more.h", "no_more");
    check.arguments = {calls.count(kept), calls.count(split.size)};
    check.can_fail = true;
  }
  KernelCall& call = calls.add("kernels/top_elements.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic_of({x}));
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, arithmetic_of({x}));
  bind_split(call, split);
  NodeCalls::bind(call, "KEPT", kept);
  const bool is_largest = node.argument(arg::largest).as_bool();
  call.tokens["EXPRESSION"] =
      compared(is_largest ? "petrel_is_larger(x, value)" : "petrel_is_larger(value, x)", x);
  call.arguments = {calls.read(x), calls.write(calls.out(0)), calls.write(calls.out(1))};
  return absl::OkStatus();
}

absl::Status softmax(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const bool logarithm = row.expression[0] == 'x';
  const bool in_floats = calls.is_fast() && !logarithm && x->tensor().dtype == ScalarType::kFloat &&
                         calls.out()->tensor().dtype == ScalarType::kFloat;
  const Split split = split_at(x->tensor(), dim_of(calls.node().argument(arg::dim), x->tensor()));
  constexpr int64_t kPart = 64;
  const bool in_rows = !logarithm && split.inner == 1 && split.size.is_number() &&
                       split.size.number() >= 1 && split.size.number() <= kPart;
  KernelCall& call = calls.add(in_floats && in_rows ? "kernels/fast_softmax_rows.h"
                               : in_floats          ? "kernels/fast_softmax.h"
                               : in_rows            ? "kernels/softmax_rows.h"
                                                    : "kernels/softmax.h",
                               row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  bind_split(call, split);
  call.tokens["TOTAL"] = logarithm ? "petrel_log(sum)" : "sum";
  // Powers that were all computed at once are still there.
  NodeCalls::bind(call, "PART", std::clamp<int64_t>(split.size.range().high, 1, kPart));
  const bool has_powers = !logarithm && split.size.range().high <= kPart;
  call.tokens["EXPRESSION"] = has_powers ? "powers[i] / total" : row.expression;
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr char kAny[] = "value != 0.0 || x != 0.0 ? 1.0 : 0.0";
constexpr char kLarger[] = "petrel_is_larger(x, value)";
constexpr char kSmaller[] = "petrel_is_smaller(x, value)";
constexpr char kLargest[] = "petrel_is_larger(x, value) ? x : value";
constexpr char kSmallest[] = "petrel_is_smaller(x, value) ? x : value";

constexpr OperatorRow kRows[] = {
    {"aten::mean.out", mean, "value + x"},
    {"aten::mean.dtype_out", mean, "value + x"},
    {"aten::sum.IntList_out", sum, "value + x"},
    {"aten::prod.int_out", product, "value * x"},
    {"aten::prod.out", product, "value * x"},
    {"aten::any.all_out", any, kAny},
    {"aten::any.out", any, kAny},
    {"aten::any.dims_out", any, kAny},
    {"aten::amax.out", extreme, kLargest},
    {"aten::amin.out", extreme, kSmallest},
    {"aten::max.unary_out", extreme, kLargest},
    {"aten::min.unary_out", extreme, kSmallest},
    {"aten::argmax.out", extreme_place, kLarger},
    {"aten::argmin.out", extreme_place, kSmaller},
    {"aten::max.dim_max", extreme_place, kLarger, kLargest},
    {"aten::min.dim_min", extreme_place, kSmaller, kSmallest},
    {"aten::var.out", variance},
    {"aten::var.correction_out", variance},
    {"aten::var_mean.correction_out", variance},
    {"aten::cumsum.out", running_sum},
    {"aten::topk.values", top},
    {"aten::_softmax.out", softmax, "petrel_exp(x) / total"},
    {"aten::_log_softmax.out", softmax, "x - total"},
};

}  // namespace

absl::Span<const OperatorRow> reduction_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
