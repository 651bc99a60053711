// SPDX-License-Identifier: Apache-2.0
//
// Elements that other elements choose. An index is data: out of range, the call fails.
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/index_walk.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"
#include "exir/emit_c/operators.h"
#include "exir/emit_c/strided_view.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

void bind_split(KernelCall& call, const Split& split) {
  NodeCalls::bind(call, "OUTER", split.outer);
  NodeCalls::bind(call, "SIZE", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
}

// Slices of `from` along `dim` that `index` names.
void take(const OperatorRow& row, NodeCalls& calls, const char* source, const Value* from,
          size_t dim, const Value* index) {
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind_elements(call, from->tensor().dtype);
  call.tokens["INDEX_TYPE"] = c_type(index->tensor().dtype);
  bind_split(call, split_at(from->tensor(), dim));
  NodeCalls::bind(call, "COUNT", numel_of(index->tensor()));
  call.arguments = {calls.read(from), calls.read(index), calls.write(calls.out())};
  call.can_fail = true;
}

absl::Status embedding(const OperatorRow& row, NodeCalls& calls) {
  take(row, calls, "kernels/take_rows.h", calls.node().input(arg::weight), 0,
       calls.node().input(arg::indices));
  return absl::OkStatus();
}

absl::Status index_select(const OperatorRow& row, NodeCalls& calls) {
  const Value* from = calls.node().input(arg::self);
  take(row, calls, "kernels/take_rows.h", from,
       dim_of(calls.node().argument(arg::dim), from->tensor()), calls.node().input(arg::index));
  return absl::OkStatus();
}

// Of a mask and of what it chooses: places are counted in the order of the program.
absl::Status check_order(const std::vector<const Value*>& values) {
  for (const Value* value : values) {
    if (value->tensor().is_contiguous()) continue;
    return absl::UnimplementedError(absl::StrCat("'", value->name(), "' is ",
                                                 to_string(value->type()),
                                                 ", must be in the order of the program"));
  }
  return absl::OkStatus();
}

absl::Status check_mask(const Value* mask) {
  if (mask->tensor().dtype == ScalarType::kBool) return absl::OkStatus();
  return absl::UnimplementedError("masks that are not bool do not exist in C yet");
}

// A call that tells how many elements of the result along `dim` there are.
KernelCall& counting(const OperatorRow& row, NodeCalls& calls, const char* source, size_t dim) {
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind(call, "MOST", int64_t{calls.out()->tensor().sizes[dim]});
  call.counts = true;
  return call;
}

absl::Status take_masked(const OperatorRow& row, NodeCalls& calls, size_t dim, const Value* mask) {
  const Value* from = calls.node().input(arg::self);
  PETREL_RETURN_IF_ERROR(check_mask(mask));
  PETREL_RETURN_IF_ERROR(check_order({from, mask, calls.out()}));
  Split split;
  const Extents sizes = extents_of(from->tensor());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < dim) split.outer *= sizes[d];
    if (d >= dim + mask->tensor().rank()) split.inner *= sizes[d];
  }
  split.size = numel_of(mask->tensor());
  KernelCall& call = counting(row, calls, "kernels/take_masked.h", dim);
  NodeCalls::bind_elements(call, from->tensor().dtype);
  bind_split(call, split);
  call.arguments = {calls.read(from), calls.read(mask), calls.write(calls.out())};
  return absl::OkStatus();
}

absl::Status masked_select(const OperatorRow& row, NodeCalls& calls) {
  const Value* from = calls.node().input(arg::self);
  const Value* mask = calls.node().input(arg::mask);
  PETREL_RETURN_IF_ERROR(check_mask(mask));
  Extents sizes = extents_of(from->tensor()), others = extents_of(mask->tensor());
  if (sizes.size() < others.size()) sizes.swap(others);
  for (size_t d = 0; d < others.size(); ++d) {
    Extent& size = sizes[sizes.size() - others.size() + d];
    if (size == 1) size = others[d];
  }
  const Extents in_strides = broadcast_strides(from->tensor(), sizes);
  const Extents mask_strides = broadcast_strides(mask->tensor(), sizes);
  LoopNest nest(2);
  for (size_t d = 0; d < sizes.size(); ++d) nest.add(sizes[d], {in_strides[d], mask_strides[d]});
  KernelCall& call = counting(row, calls, "kernels/select_masked.h", 0);
  NodeCalls::bind_elements(call, from->tensor().dtype);
  nest.bind_sizes(call, "", "COUNT");
  NodeCalls::bind_list(call, "IN_STRIDES", nest.strides(0));
  NodeCalls::bind_list(call, "MASK_STRIDES", nest.strides(1));
  call.arguments = {calls.read(from), calls.read(mask), calls.write(calls.out())};
  return absl::OkStatus();
}

absl::Status nonzero(const OperatorRow& row, NodeCalls& calls) {
  const Value* from = calls.node().input(arg::self);
  PETREL_RETURN_IF_ERROR(check_order({from, calls.out()}));
  const Arithmetic arithmetic = arithmetic_of({from});
  KernelCall& call = counting(row, calls, "kernels/nonzero.h", 0);
  NodeCalls::bind_read(call, "IN", from->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", ScalarType::kBool, arithmetic);
  call.tokens["OUT_TYPE"] = c_type(calls.out()->tensor().dtype);
  NodeCalls::bind_list(call, "SIZES", extents_of(from->tensor()));
  NodeCalls::bind(call, "RANK", static_cast<int64_t>(from->tensor().rank()));
  NodeCalls::bind(call, "COUNT", numel_of(from->tensor()));
  call.arguments = {calls.read(from), calls.write(calls.out())};
  return absl::OkStatus();
}

absl::Status repeat_places(const OperatorRow& row, NodeCalls& calls) {
  const Value* times = calls.node().input(arg::repeats);
  KernelCall& call = counting(row, calls, "kernels/repeat_places.h", 0);
  NodeCalls::bind_elements(call, times->tensor().dtype);
  NodeCalls::bind(call, "COUNT", numel_of(times->tensor()));
  call.arguments = {calls.read(times), calls.write(calls.out())};
  return absl::OkStatus();
}

absl::Status index_by_tensor(const OperatorRow& row, NodeCalls& calls) {
  const Value* self = calls.node().input(arg::self);
  size_t dim = 0;
  const Value* index = single_index(calls.node(), &dim);
  if (index != nullptr && is_mask(index->tensor())) return take_masked(row, calls, dim, index);
  const absl::StatusOr<IndexWalk> walk = IndexWalk::make(self, calls.node().argument(arg::indices));
  if (!walk.ok()) return walk.status();
  if (index != nullptr) {
    take(row, calls, "kernels/take_elements.h", self, dim, index);
    return absl::OkStatus();
  }
  KernelCall& call = calls.add("kernels/take_at.h", row.name());
  NodeCalls::bind_elements(call, self->tensor().dtype);
  walk->bind(&call, {"OUT_STRIDES", strides_of(calls.out()->tensor())});
  call.arguments = walk->reads(calls);
  call.arguments.push_back(calls.read(self));
  call.arguments.push_back(calls.write(calls.out()));
  call.can_fail = true;
  return absl::OkStatus();
}

absl::Status index_put(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* self = node.input(arg::self);
  const Value* values = node.input(arg::values);
  const absl::StatusOr<IndexWalk> walk = IndexWalk::make(self, node.argument(arg::indices));
  if (!walk.ok()) return walk.status();
  copy_whole(calls, row.name(), self, calls.out());
  size_t dim = 0;
  const Value* index = single_index(node, &dim);
  const Extents strides = broadcast_strides(values->tensor(), walk->sizes());
  const ScalarType type = self->tensor().dtype;
  const Arithmetic arithmetic = is_floating(self) ? Arithmetic::kDouble : Arithmetic::kModular;
  KernelCall& call =
      calls.add(index != nullptr ? "kernels/put_rows.h" : "kernels/put_at.h", row.name());
  NodeCalls::bind_read(call, "IN", type, arithmetic);
  NodeCalls::bind_write(call, "OUT", type, arithmetic);
  if (index != nullptr) {
    LoopNest nest(1);
    for (size_t d = 0; d < strides.size(); ++d) nest.add(walk->sizes()[d], {strides[d]});
    call.tokens["INDEX_TYPE"] = c_type(index->tensor().dtype);
    bind_split(call, split_at(self->tensor(), dim));
    NodeCalls::bind(call, "COUNT", numel_of(index->tensor()));
    nest.bind_sizes(call, "", "ELEMENTS");
    NodeCalls::bind_list(call, "STRIDES", nest.strides(0));
    call.arguments = {calls.read(index)};
  } else {
    walk->bind(&call, {"VALUE_STRIDES", strides});
    call.arguments = walk->reads(calls);
  }
  call.tokens["EXPRESSION"] = node.argument(arg::accumulate).as_bool()
                                  ? absl::StrCat("x + ", call.tokens["LOAD_IN"], "(out[to])")
                                  : "x";
  call.arguments.push_back(calls.read(values));
  call.arguments.push_back(calls.write(calls.out()));
  call.can_fail = true;
  return absl::OkStatus();
}

// Where an index counts along a dim, a number is a list of one element.
Extents list_extents(const Value* value) {
  return value->tensor().rank() == 0 ? Extents{1} : extents_of(value->tensor());
}

Extents list_strides(const Value* value) {
  return value->tensor().rank() == 0 ? Extents{1} : strides_of(value->tensor());
}

// Binds the walk over an index tensor and over what it chooses from, where it does.
void bind_choice(KernelCall& call, const Value* from, size_t dim) {
  NodeCalls::bind(call, "SIZE", list_extents(from)[dim]);
  NodeCalls::bind(call, "STRIDE", list_strides(from)[dim]);
}

Extents strides_but(const Value* value, size_t dim) {
  Extents strides = list_strides(value);
  strides[dim] = 0;
  return strides;
}

constexpr size_t kNoDim = static_cast<size_t>(-1);

// The walk over an index tensor goes over `over`, too, but along `dim`. Whatever sizes that vary
// are, it must not leave it.
absl::Status check_walk(const Value* index, const Value* over, size_t dim) {
  const Extents sizes = list_extents(index), most = list_extents(over);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d == dim || sizes[d] == most[d] || sizes[d].range().high <= most[d].range().low ||
        (sizes[d] - most[d]).range().high <= 0) {
      continue;
    }
    return absl::UnimplementedError(absl::StrCat("size ", d, " of its index is up to ",
                                                 sizes[d].range().high,
                                                 ", of which C does not know that '", over->name(),
                                                 "' has as many, at least ", most[d].range().low));
  }
  return absl::OkStatus();
}

absl::Status gather(const OperatorRow& row, NodeCalls& calls) {
  const Value* from = calls.node().input(arg::self);
  const Value* index = calls.node().input(arg::index);
  const size_t dim = dim_of(calls.node().argument(arg::dim), from->tensor());
  PETREL_RETURN_IF_ERROR(check_walk(index, from, dim));
  KernelCall& call = calls.add("kernels/gather.h", row.name());
  NodeCalls::bind_elements(call, from->tensor().dtype);
  call.tokens["INDEX_TYPE"] = c_type(index->tensor().dtype);
  const Extents strides = strides_but(from, dim);
  const Extents sizes = list_extents(index);
  LoopNest nest(1);
  for (size_t d = 0; d < strides.size(); ++d) nest.add(sizes[d], {strides[d]});
  nest.bind_sizes(call, "", "COUNT");
  NodeCalls::bind_list(call, "STRIDES", nest.strides(0));
  bind_choice(call, from, dim);
  call.arguments = {calls.read(from), calls.read(index), calls.write(calls.out())};
  call.can_fail = true;
  return absl::OkStatus();
}

// Elements of src go, or are added, to the places that the index names.
absl::Status scatter(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* self = node.input(arg::self);
  const Value* index = node.input(arg::index);
  const Value* source = node.input(arg::src);
  const size_t dim = dim_of(node.argument(arg::dim), self->tensor());
  PETREL_RETURN_IF_ERROR(check_walk(index, self, dim));
  PETREL_RETURN_IF_ERROR(check_walk(index, source, kNoDim));
  copy_whole(calls, row.name(), self, calls.out());
  const Arithmetic arithmetic = is_floating(self) ? Arithmetic::kDouble : Arithmetic::kModular;
  const ScalarType type = self->tensor().dtype;
  KernelCall& call = calls.add("kernels/scatter.h", row.name());
  NodeCalls::bind_read(call, "IN", type, arithmetic);
  NodeCalls::bind_write(call, "OUT", type, arithmetic);
  call.tokens["INDEX_TYPE"] = c_type(index->tensor().dtype);
  const Extents to = strides_but(self, dim);
  const Extents by = list_strides(index);
  const Extents from = list_strides(source);
  const Extents sizes = list_extents(index);
  LoopNest nest(3);
  for (size_t d = 0; d < to.size(); ++d) nest.add(sizes[d], {to[d], by[d], from[d]});
  nest.bind_sizes(call, "", "COUNT");
  NodeCalls::bind_list(call, "STRIDES", nest.strides(0));
  NodeCalls::bind_list(call, "INDEX_STRIDES", nest.strides(1));
  NodeCalls::bind_list(call, "SOURCE_STRIDES", nest.strides(2));
  bind_choice(call, self, dim);
  call.tokens["EXPRESSION"] =
      row.expression[0] == '+' ? absl::StrCat("x + ", call.tokens["LOAD_IN"], "(out[to])") : "x";
  call.arguments = {calls.read(index), calls.read(source), calls.write(calls.out())};
  call.can_fail = true;
  return absl::OkStatus();
}

// One number goes to the places that the index names.
absl::Status scatter_number(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* self = node.input(arg::self);
  const Value* index = node.input(arg::index);
  const Argument& value = node.argument(arg::value);
  const size_t dim = dim_of(node.argument(arg::dim), self->tensor());
  PETREL_RETURN_IF_ERROR(check_walk(index, self, dim));
  copy_whole(calls, row.name(), self, calls.out());
  const bool floating = is_floating(self);
  KernelCall& call = calls.add("kernels/scatter_number.h", row.name());
  NodeCalls::bind_write(call, "OUT", self->tensor().dtype,
                        floating ? Arithmetic::kDouble : Arithmetic::kInteger);
  call.tokens["INDEX_TYPE"] = c_type(index->tensor().dtype);
  const Extents to = strides_but(self, dim);
  const Extents by = list_strides(index);
  const Extents sizes = list_extents(index);
  LoopNest nest(2);
  for (size_t d = 0; d < to.size(); ++d) nest.add(sizes[d], {to[d], by[d]});
  nest.bind_sizes(call, "", "COUNT");
  NodeCalls::bind_list(call, "STRIDES", nest.strides(0));
  NodeCalls::bind_list(call, "INDEX_STRIDES", nest.strides(1));
  bind_choice(call, self, dim);
  call.tokens["EXPRESSION"] =
      floating ? NodeCalls::real(call, "VALUE", value) : NodeCalls::integer(call, "VALUE", value);
  call.arguments = {calls.read(index), calls.write(calls.out())};
  call.can_fail = true;
  return absl::OkStatus();
}

// What `where` and masked_fill share: everything is repeated to the size of the result.
absl::Status choose(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const bool fills = node.op().find_arg(arg::mask) >= 0;
  const Value* condition = node.input(arg::mask, arg::condition);
  const Value* x = node.input(arg::self);
  const Value* other = fills ? x : node.input(arg::other);
  const TensorType& type = calls.out()->tensor();
  if (condition->tensor().dtype != ScalarType::kBool) {
    return absl::UnimplementedError("conditions that are not bool do not exist in C yet");
  }
  const Arithmetic arithmetic =
      is_floating(calls.out()) ? Arithmetic::kDouble : Arithmetic::kInteger;
  LoopNest nest(3);
  const Extents sizes = extents_of(type);
  const Extents condition_strides = broadcast_strides(condition->tensor(), sizes);
  const Extents x_strides = broadcast_strides(x->tensor(), sizes);
  const Extents other_strides = broadcast_strides(other->tensor(), sizes);
  for (size_t d = 0; d < type.rank(); ++d) {
    nest.add(sizes[d], {condition_strides[d], x_strides[d], other_strides[d]});
  }
  KernelCall& call = calls.add(fills ? "kernels/masked_fill.h" : "kernels/choose.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  NodeCalls::bind_read(call, "OTHER", other->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", type.dtype, arithmetic);
  nest.bind_sizes(call, "", "COUNT");
  NodeCalls::bind_list(call, "CONDITION_STRIDES", nest.strides(0));
  NodeCalls::bind_list(call, "IN_STRIDES", nest.strides(1));
  NodeCalls::bind_list(call, "OTHER_STRIDES", nest.strides(2));
  call.arguments = {calls.read(condition), calls.read(x)};
  if (fills) {
    const Argument& value = node.argument(arg::value);
    call.tokens["EXPRESSION"] =
        arithmetic == Arithmetic::kDouble
            ? NodeCalls::real(call, "VALUE", value)
            : absl::StrCat("(int64_t)", NodeCalls::integer(call, "VALUE", value));
  } else {
    call.arguments.push_back(calls.read(other));
  }
  call.arguments.push_back(calls.write(calls.out()));
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::embedding.out", embedding},
    {"aten::index_select.out", index_select},
    {"aten::gather.out", gather},
    {"aten::index.Tensor_out", index_by_tensor},
    {"aten::masked_select.out", masked_select},
    {"aten::nonzero.out", nonzero},
    {"aten::repeat_interleave.Tensor_out", repeat_places},
    {"aten::index_put.out", index_put},
    {"aten::index_put_", index_put},
    {"aten::scatter.src_out", scatter},
    {"aten::scatter.value_out", scatter_number},
    {"aten::scatter_add.out", scatter, "+"},
    {"aten::where.self_out", choose},
    {"aten::masked_fill.Scalar_out", choose},
};

}  // namespace

absl::Span<const OperatorRow> index_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
