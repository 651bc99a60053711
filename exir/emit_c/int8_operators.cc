// SPDX-License-Identifier: Apache-2.0
//
// Operators of levels of 8 bits (docs/int8.md): no float is in their C, and every bit is that
// of the reference kernels.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/emit_c/int8_calls.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

std::string number_at(const Node& node, ArgHandle name) {
  return number(node.argument(name).as_int());
}

// The types of input and output, and what the output is held within.
void bind_levels(KernelCall& call, const NodeCalls& calls, const Value* x) {
  call.tokens["IN_TYPE"] = c_type(x->tensor().dtype);
  call.tokens["OUT_TYPE"] = c_type(calls.out()->tensor().dtype);
  const Node& node = calls.node();
  if (node.op().find_arg(arg::least) < 0) return;
  call.tokens["OUT_ZERO"] = number_at(node, arg::zero_point);
  call.tokens["LEAST"] = number_at(node, arg::least);
  call.tokens["MOST"] = number_at(node, arg::most);
}

void bind_factor(KernelCall& call, const Node& node) {
  call.tokens["MULTIPLIER"] = number_at(node, arg::multiplier);
  call.tokens["SHIFT"] = number_at(node, arg::shift);
}

absl::Status table(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::input);
  KernelCall& call = calls.add("kernels/int8_table.h", row.name());
  bind_levels(call, calls, x);
  call.tokens["FIRST"] = x->tensor().dtype == ScalarType::kChar ? "(-128)" : "0";
  call.arguments = {calls.read(x), calls.read(calls.node().input(arg::table)),
                    calls.write(calls.out()), calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

// What a pair of levels less their zero points makes.
using PairFn = int64_t (*)(const Node& node, int64_t x, int64_t y);

// Whether no two levels make what lies halfway between two steps.
bool is_never_halfway(const Node& node, PairFn make) {
  constexpr int64_t kLevels = 256;
  const int64_t shift = node.argument(arg::shift).as_int();
  if (shift < kNearShift) return false;
  const auto first = [&](ArgHandle value, ArgHandle zero_point) {
    const bool has_sign = node.input(value)->tensor().dtype == ScalarType::kChar;
    return (has_sign ? -kLevels / 2 : 0) - node.argument(zero_point).as_int();
  };
  const int64_t x = first(arg::self, arg::self_zero_point);
  const int64_t y = first(arg::other, arg::other_zero_point);
  const int64_t mask = (int64_t{1} << shift) - 1;
  for (int64_t i = 0; i < kLevels * kLevels; ++i) {
    const int64_t made = make(node, x + i / kLevels, y + i % kLevels);
    if ((made & mask) == int64_t{1} << (shift - 1)) return false;
  }
  return true;
}

// The level that x and y make; in `product` they are less their zero points, which `make` computes.
std::string level_text(const Node& node, const std::string& product, PairFn make) {
  const bool is_near = is_never_halfway(node, make);
  return absl::StrCat(is_near ? "petrel_near_level(" : "petrel_level(", product, ", ",
                      number(node.argument(arg::shift).as_int() - (is_near ? kNearShift : 0)), ", ",
                      number_at(node, arg::zero_point), ", ", number_at(node, arg::least), ", ",
                      number_at(node, arg::most), ")");
}

// Two tensors that broadcast; in `product` x and y less their zero points, which `make` computes.
absl::Status pair(const OperatorRow& row, NodeCalls& calls, const std::string& product,
                  PairFn make) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::self);
  const Value* y = node.input(arg::other);
  const TensorType& type = calls.out()->tensor();
  const Extents sizes = extents_of(type);
  const Extents x_strides = broadcast_strides(x->tensor(), sizes);
  const Extents y_strides = broadcast_strides(y->tensor(), sizes);
  LoopNest nest(2);
  const bool is_alike = x->tensor() == y->tensor() && x->tensor().sizes == type.sizes &&
                        x->tensor().dim_order == type.dim_order;
  if (is_alike) {
    nest.add(numel_of(type), {1, 1});
  } else {
    for (size_t d = 0; d < type.rank(); ++d) nest.add(sizes[d], {x_strides[d], y_strides[d]});
  }
  const bool is_dense = nest.is_dense();
  nest.make_not_empty();
  KernelCall& call = calls.add(is_dense ? "kernels/zip.h" : "kernels/zip_broadcast.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kInteger);
  NodeCalls::bind_read(call, "OTHER", y->tensor().dtype, Arithmetic::kInteger);
  NodeCalls::bind_write(call, "OUT", type.dtype, Arithmetic::kInteger);
  call.tokens["EXPRESSION"] = level_text(node, product, make);
  call.arguments = {calls.read(x), calls.read(y), calls.write(calls.out())};
  if (is_dense) {
    call.arguments.push_back(calls.count(numel_of(type)));
  } else {
    nest.bind_rows(call);
    NodeCalls::bind_list(call, "IN_STRIDES", nest.strides(0));
    NodeCalls::bind_list(call, "OTHER_STRIDES", nest.strides(1));
  }
  return absl::OkStatus();
}

std::string less_zero(const char* name, const Node& node, ArgHandle zero_point) {
  return absl::StrCat("((int32_t)", name, " - ", number_at(node, zero_point), ")");
}

std::string sum_text(const Node& node) {
  return absl::StrCat("(int64_t)", less_zero("x", node, arg::self_zero_point), " * ",
                      number_at(node, arg::self_multiplier), " + (int64_t)",
                      less_zero("y", node, arg::other_zero_point), " * ",
                      number_at(node, arg::other_multiplier));
}

int64_t sum_of(const Node& node, int64_t x, int64_t y) {
  return x * node.argument(arg::self_multiplier).as_int() +
         y * node.argument(arg::other_multiplier).as_int();
}

absl::Status add(const OperatorRow& row, NodeCalls& calls) {
  return pair(row, calls, sum_text(calls.node()), sum_of);
}

absl::Status mul(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  return pair(row, calls,
              absl::StrCat("(int64_t)(", less_zero("x", node, arg::self_zero_point), " * ",
                           less_zero("y", node, arg::other_zero_point), ") * ",
                           number_at(node, arg::multiplier)),
              [](const Node& of, int64_t x, int64_t y) {
                return x * y * of.argument(arg::multiplier).as_int();
              });
}

absl::Status matmul(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* a = node.input(arg::self);
  const Value* b = node.input(arg::other);
  const Extents sizes = extents_of(a->tensor());
  const bool batched = sizes.size() == 3;
  KernelCall& call = calls.add("kernels/int8_matmul.h", row.name());
  bind_levels(call, calls, a);
  bind_factor(call, node);
  call.tokens["OTHER_TYPE"] = c_type(b->tensor().dtype);
  call.tokens["IN_ZERO"] = number_at(node, arg::self_zero_point);
  call.tokens["OTHER_ZERO"] = number_at(node, arg::other_zero_point);
  NodeCalls::bind(call, "BATCHES", batched ? sizes[0] : 1);
  NodeCalls::bind(call, "ROWS", sizes[batched]);
  NodeCalls::bind(call, "DEPTH", sizes[batched + 1u]);
  NodeCalls::bind(call, "COLUMNS", extents_of(b->tensor()).back());
  call.arguments = {calls.read(a), calls.read(b), calls.write(calls.out())};
  return absl::OkStatus();
}

// Of other ranks than 4 planes follow one another.
void bind_planes(KernelCall& call, const std::string& role, const TensorType& type,
                 const Extent& planes) {
  const Extents sizes = extents_of(type);
  NodeCalls::bind(call, "CHANNELS", sizes.size() == 4 ? sizes[1] : planes);
  if (sizes.size() == 4) return NodeCalls::bind_steps(call, role, type);
  NodeCalls::bind(call, role + "_BATCH", 0);
  NodeCalls::bind(call, role + "_PLANE", sizes[sizes.size() - 2] * sizes.back());
  NodeCalls::bind(call, role + "_ROW", sizes.back());
  NodeCalls::bind(call, role + "_COLUMN", 1);
}

// Where a window is of a size that varies, the list is made by each call.
void bind_windows(KernelCall& call, const char* token, const Argument& windows, const char* size) {
  constexpr int64_t kSize = -1;
  std::vector<std::string> texts;
  for (const int64_t number : ints_of(windows)) {
    if (number == kSize) call.tokens["WINDOWS"] = "const int32_t";
    texts.push_back(number == kSize ? absl::StrCat("(int32_t)", call.tokens[size])
                                    : absl::StrCat(number));
  }
  call.tokens[token] =
      texts.empty() ? list({}) : absl::StrCat("{", absl::StrJoin(texts, ", "), "}");
}

// What both pools begin with: windows are in lists.
KernelCall& windows(const OperatorRow& row, NodeCalls& calls, const char* source) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Extents sizes = extents_of(x->tensor());
  const Extents out = extents_of(calls.out()->tensor());
  const size_t last = sizes.size() - 1;
  Extent planes = 1;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) planes *= sizes[d];
  KernelCall& call = calls.add(source, row.name());
  bind_planes(call, "IN", x->tensor(), planes);
  bind_planes(call, "OUT", calls.out()->tensor(), planes);
  bind_levels(call, calls, x);
  NodeCalls::bind(call, "PLANES", planes);
  NodeCalls::bind(call, "IN_HEIGHT", sizes[last - 1]);
  NodeCalls::bind(call, "IN_WIDTH", sizes[last]);
  call.tokens["WINDOWS"] = "static const int32_t";
  bind_windows(call, "WINDOWS_OF_ROWS", node.argument(arg::rows), "IN_HEIGHT");
  bind_windows(call, "WINDOWS_OF_COLUMNS", node.argument(arg::columns), "IN_WIDTH");
  NodeCalls::bind(call, "OUT_HEIGHT", out[last - 1]);
  NodeCalls::bind(call, "OUT_WIDTH", out[last]);
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return call;
}

absl::Status average(const OperatorRow& row, NodeCalls& calls) {
  KernelCall& call = windows(row, calls, "kernels/int8_average.h");
  bind_factor(call, calls.node());
  call.tokens["IN_ZERO"] = number_at(calls.node(), arg::input_zero_point);
  return absl::OkStatus();
}

absl::Status max_pool(const OperatorRow& row, NodeCalls& calls) {
  windows(row, calls, "kernels/int8_max_pool.h");
  return absl::OkStatus();
}

// What both softmaxes begin with.
KernelCall& exponentials(const OperatorRow& row, NodeCalls& calls, const char* source) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Split split = split_at(x->tensor(), dim_of(node.argument(arg::dim), x->tensor()));
  KernelCall& call = calls.add(source, row.name());
  bind_levels(call, calls, x);
  bind_factor(call, node);
  NodeCalls::bind(call, "OUTER", split.outer);
  NodeCalls::bind(call, "SIZE", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
  call.arguments = {calls.read(x), calls.read(node.input(arg::table)), calls.write(calls.out())};
  return call;
}

absl::Status softmax(const OperatorRow& row, NodeCalls& calls) {
  exponentials(row, calls, "kernels/int8_softmax.h");
  return absl::OkStatus();
}

absl::Status masked_softmax(const OperatorRow& row, NodeCalls& calls) {
  const Value* mask = calls.node().input(arg::mask);
  KernelCall& call = exponentials(row, calls, "kernels/int8_masked_softmax.h");
  NodeCalls::bind(call, "MASKED", numel_of(mask->tensor()));
  call.arguments.insert(call.arguments.begin() + 1, calls.read(mask));
  return absl::OkStatus();
}

absl::Status norm(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Value* weight = node.input(arg::weight);
  if (!node.argument(arg::size).is_int()) {
    return absl::UnimplementedError("norms of rows that vary in size do not exist in C yet");
  }
  const int64_t size = node.argument(arg::size).as_int();
  KernelCall& call = calls.add("kernels/int8_norm.h", row.name());
  bind_levels(call, calls, x);
  NodeCalls::bind(call, "ROWS", numel_of(x->tensor()) / size);
  call.tokens["SIZE"] = number_at(node, arg::size);
  call.tokens["REPEAT"] = number_at(node, arg::repeat);
  call.tokens["EPSILON"] = number_at(node, arg::epsilon);
  call.tokens["SPREAD"] = number_at(node, arg::spread);
  call.tokens["SHIFT"] = number_at(node, arg::shift);
  NodeCalls::bind(call, "WIDTH", numel_of(weight->tensor()));
  call.arguments = {calls.read(x), calls.read(weight), calls.read(node.input(arg::bias)),
                    calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"petrel::int8_table.out", table},     {"petrel::int8_add.out", add},
    {"petrel::int8_mul.out", mul},         {"petrel::int8_matmul.out", matmul},
    {"petrel::int8_average.out", average}, {"petrel::int8_max_pool.out", fixed(max_pool)},
    {"petrel::int8_softmax.out", softmax}, {"petrel::int8_masked_softmax.out", masked_softmax},
    {"petrel::int8_norm.out", norm},
};

}  // namespace

KernelCall addition_of_levels(const Node& node, bool adds_self) {
  KernelCall call;
  call.source = "kernels/int8_add_level.h";
  call.name = "int8_add_level";
  call.tokens["EXPRESSION"] = level_text(node, sum_text(node), sum_of);
  call.tokens["THERE"] = adds_self ? "y" : "x";
  call.tokens["ADDED"] = adds_self ? "x" : "y";
  return call;
}

absl::Span<const OperatorRow> int8_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
