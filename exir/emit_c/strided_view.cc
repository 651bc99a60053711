// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/strided_view.h"

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"

namespace petrel::exir::emit_c {

namespace {

// A size_t.
std::string bytes_text(const NodeCalls& calls, const Extent& bytes) {
  return bytes.is_number() ? absl::StrCat(bytes.number(), "u")
                           : absl::StrCat("(size_t)", calls.count(bytes));
}

}  // namespace

StridedView StridedView::cut(size_t dim, const Extent& begin, const Extent& count,
                             int64_t step) const {
  StridedView view = *this;
  view.offset += begin * strides[dim];
  view.sizes[dim] = count;
  view.strides[dim] *= step;
  return view;
}

StridedView StridedView::without(size_t dim) const {
  StridedView view = *this;
  view.sizes.erase(view.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  return view;
}

StridedView view_of(const TensorType& type) { return {extents_of(type), strides_of(type), 0}; }

void move(NodeCalls& calls, const std::string& name, const Value* from,
          const StridedView& from_view, const Value* to, const StridedView& to_view) {
  const ScalarType in = from->tensor().dtype;
  const ScalarType out = to->tensor().dtype;
  LoopNest nest(2);
  for (size_t d = 0; d < to_view.sizes.size(); ++d) {
    nest.add(to_view.sizes[d], {from_view.strides[d], to_view.strides[d]});
  }
  if (nest.count() == 0) return;
  const std::string source = calls.read(from, from_view.offset);
  const std::string target = calls.write(to, to_view.offset);
  if (in == out && nest.is_dense()) {
    KernelCall& call = calls.add("kernels/copy.h", "copy");
    call.arguments = {source, target,
                      bytes_text(calls, nest.count() * static_cast<int64_t>(item_size(in)))};
    return;
  }
  nest.make_not_empty();
  KernelCall& call = calls.add("kernels/move.h", name);
  nest.bind_rows(call);
  NodeCalls::bind_list(call, "IN_STRIDES", nest.strides(0));
  NodeCalls::bind_list(call, "OUT_STRIDES", nest.strides(1));
  call.arguments = {source, target};
  if (in == out) {
    NodeCalls::bind_elements(call, in);
    return;
  }
  const Arithmetic arithmetic = is_floating_point(in) ? Arithmetic::kDouble : Arithmetic::kInteger;
  NodeCalls::bind_read(call, "IN", in, arithmetic);
  NodeCalls::bind_write(call, "OUT", out, arithmetic);
}

void copy_whole(NodeCalls& calls, const std::string& name, const Value* from, const Value* to) {
  if (calls.same_place(from, to)) return;
  move(calls, name, from, view_of(from->tensor()), to, view_of(to->tensor()));
}

}  // namespace petrel::exir::emit_c
