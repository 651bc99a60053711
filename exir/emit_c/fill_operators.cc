// SPDX-License-Identifier: Apache-2.0
//
// Tensors made of one number, padding, and resizing.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/emit_c/strided_view.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

void fill_with(const OperatorRow& row, NodeCalls& calls, const Argument& value) {
  const TensorType& type = calls.out()->tensor();
  const bool floating = is_floating(calls.out());
  KernelCall& call = calls.add("kernels/fill.h", row.name());
  NodeCalls::bind_write(call, "OUT", type.dtype,
                        floating ? Arithmetic::kDouble : Arithmetic::kInteger);
  const bool is_truth = type.dtype == ScalarType::kBool && !value.is_value();
  call.tokens["EXPRESSION"] = floating   ? NodeCalls::real(call, "VALUE", value)
                              : is_truth ? number(int64_t{value.as_number() != 0})
                                         : NodeCalls::integer(call, "VALUE", value);
  call.arguments = {calls.write(calls.out()), calls.count(numel_of(type))};
}

absl::Status fill(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  if (row.expression[0] != '\0') {
    fill_with(row, calls, Argument(int64_t{row.expression[0] - '0'}));
  } else if (node.op().find_arg(arg::fill_value) >= 0) {
    fill_with(row, calls, node.argument(arg::fill_value));
  } else if (node.op().find_arg(arg::s) >= 0) {
    fill_with(row, calls, node.argument(arg::s));
  } else {
    fill_with(row, calls, node.argument(arg::value));
  }
  return absl::OkStatus();
}

absl::Status range(const OperatorRow& row, NodeCalls& calls) {
  const bool floating = is_floating(calls.out());
  KernelCall& call = calls.add("kernels/range.h", row.name());
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype,
                        floating ? Arithmetic::kDouble : Arithmetic::kModular);
  call.tokens["ARITHMETIC"] = floating ? "double" : "uint64_t";
  for (const auto& [token, argument] : {std::pair{"START", calls.node().argument(arg::start)},
                                        {"STEP", calls.node().argument(arg::step)}}) {
    call.tokens[token] =
        floating ? NodeCalls::real(call, token, argument)
                 : absl::StrCat("(uint64_t)", NodeCalls::integer(call, token, argument));
  }
  call.arguments = {calls.write(calls.out()), calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

// Nothing reads what it holds.
absl::Status nothing(const OperatorRow&, NodeCalls&) { return absl::OkStatus(); }

// The list holds (before, after) pairs, last dim first; negative numbers crop.
absl::Status constant_pad(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Extents pad = extents_of_list(calls.node().argument(arg::pad));
  fill_with(row, calls, calls.node().argument(arg::value));
  StridedView from = view_of(x->tensor());
  StridedView to = view_of(calls.out()->tensor());
  const size_t rank = from.sizes.size();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = rank - 1 - i;
    const Extent& before = pad[2 * i];
    const Extent begin = larger_of(0, 0 - before);
    const Extent at = larger_of(0, before);
    const Extent count = larger_of(0, smaller_of(from.sizes[d] - begin, to.sizes[d] - at));
    from = from.cut(d, begin, count, 1);
    to = to.cut(d, at, count, 1);
  }
  move(calls, absl::StrCat(row.name(), "_inner"), x, from, calls.out(), to);
  return absl::OkStatus();
}

// Which row or column of a plane each of the output is.
using Places = std::vector<int64_t>;

struct Plane {
  int64_t planes = 1, in_height = 1, in_width = 1, out_height = 1, out_width = 1;
};

Plane plane_of(const TensorType& in, const TensorType& out, size_t dims) {
  Plane plane;
  const size_t rank = in.rank();
  for (size_t d = 0; d + dims < rank; ++d) plane.planes *= in.sizes[d];
  plane.in_width = in.sizes[rank - 1];
  plane.out_width = out.sizes[rank - 1];
  if (dims == 2) {
    plane.in_height = in.sizes[rank - 2];
    plane.out_height = out.sizes[rank - 2];
  }
  return plane;
}

// Whether places are computed when they are needed: those of sizes that vary, and those of which
// a table would be large. An archive states any size in a few bytes.
bool has_no_table(const Value* x, const Value* out) {
  constexpr int64_t kMostPlaces = 16384;
  if (x->tensor().is_dynamic() || out->tensor().is_dynamic()) return true;
  const Sizes& sizes = out->tensor().sizes;
  return std::any_of(sizes.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(2, sizes.size())),
                     sizes.end(), [](int64_t size) { return size > kMostPlaces; });
}

void bind_varying_plane(KernelCall& call, const TensorType& in, const TensorType& out,
                        size_t dims) {
  const Extents from = extents_of(in), to = extents_of(out);
  const size_t rank = from.size();
  Extent planes = 1;
  // Of a plane without elements nothing is made.
  for (size_t d = 0; d < rank; ++d) planes *= d + dims < rank ? from[d] : smaller_of(from[d], 1);
  NodeCalls::bind(call, "PLANES", planes);
  NodeCalls::bind(call, "IN_HEIGHT", dims == 2 ? from[rank - 2] : 1);
  NodeCalls::bind(call, "IN_WIDTH", from[rank - 1]);
  NodeCalls::bind(call, "OUT_HEIGHT", dims == 2 ? to[rank - 2] : 1);
  NodeCalls::bind(call, "OUT_WIDTH", to[rank - 1]);
}

void bind_plane(KernelCall& call, const Plane& plane) {
  NodeCalls::bind(call, "PLANES", plane.planes);
  NodeCalls::bind(call, "IN_HEIGHT", plane.in_height);
  NodeCalls::bind(call, "IN_WIDTH", plane.in_width);
  NodeCalls::bind(call, "OUT_HEIGHT", plane.out_height);
  NodeCalls::bind(call, "OUT_WIDTH", plane.out_width);
}

void pick(const OperatorRow& row, NodeCalls& calls, const Value* x, const Plane& plane,
          const Places& rows, const Places& columns) {
  KernelCall& call = calls.add("kernels/pick.h", row.name());
  NodeCalls::bind_elements(call, x->tensor().dtype);
  bind_plane(call, plane);
  call.tokens["ROW_PLACES"] = list(rows);
  call.tokens["COLUMN_PLACES"] = list(columns);
  call.arguments = {calls.read(x), calls.write(calls.out())};
}

// Which place of `in` each of `out` along a dim is, `before` of which come before the first.
Places padded_places(int64_t out, int64_t in, int64_t before, bool reflects) {
  Places result;
  for (int64_t i = -before; i < out - before; ++i) {
    int64_t place = reflects && i < 0 ? -i : i;
    if (reflects && place >= in) place = 2 * (in - 1) - place;
    result.push_back(std::clamp<int64_t>(place, 0, in - 1));
  }
  return result;
}

// Padding by elements of the input; expression tells the dims, integer_expression how.
absl::Status pad_by_input(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const std::vector<int64_t> pad = ints_of(calls.node().argument(arg::padding));
  const size_t dims = static_cast<size_t>(row.expression[0] - '0');
  const bool reflects = row.integer_expression[0] == 'r';
  if (has_no_table(x, calls.out())) {
    KernelCall& call = calls.add("kernels/pad_by_input.h", row.name());
    NodeCalls::bind_elements(call, x->tensor().dtype);
    bind_varying_plane(call, x->tensor(), calls.out()->tensor(), dims);
    NodeCalls::bind(call, "TOP", dims == 2 ? pad[2] : 0);
    NodeCalls::bind(call, "LEFT", pad[0]);
    NodeCalls::bind(call, "REFLECTS", reflects ? 1 : 0);
    call.arguments = {calls.read(x), calls.write(calls.out())};
    return absl::OkStatus();
  }
  const Plane plane = plane_of(x->tensor(), calls.out()->tensor(), dims);
  pick(row, calls, x, plane,
       padded_places(plane.out_height, plane.in_height, dims == 2 ? pad[2] : 0, reflects),
       padded_places(plane.out_width, plane.in_width, pad[0], reflects));
  return absl::OkStatus();
}

// Input places per output place.
double scale_of(const Node& node, size_t dim, int64_t in, int64_t out) {
  const Argument& factors = node.argument(arg::scale_factors);
  if (factors.is_floats()) return 1.0 / factors.as_floats()[dim];
  return static_cast<double>(in) / static_cast<double>(out);
}

// What is written where there is no table: 0 where the sizes tell the scale.
void bind_factors(KernelCall& call, const Node& node) {
  const Argument& factors = node.argument(arg::scale_factors);
  for (const auto& [token, dim] : {std::pair<const char*, size_t>{"ROW_SCALE", 0},
                                   std::pair<const char*, size_t>{"COLUMN_SCALE", 1}}) {
    call.tokens[token] = number(factors.is_floats() ? 1.0 / factors.as_floats()[dim] : 0.0);
  }
}

absl::Status nearest(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  if (has_no_table(x, calls.out())) {
    KernelCall& call = calls.add("kernels/nearest.h", row.name());
    NodeCalls::bind_elements(call, x->tensor().dtype);
    bind_varying_plane(call, x->tensor(), calls.out()->tensor(), 2);
    bind_factors(call, node);
    call.arguments = {calls.read(x), calls.write(calls.out())};
    return absl::OkStatus();
  }
  const Plane plane = plane_of(x->tensor(), calls.out()->tensor(), 2);
  const auto places = [&](size_t dim, int64_t in, int64_t out) {
    // Single precision, as PyTorch computes the place.
    const float scale = static_cast<float>(scale_of(node, dim, in, out));
    Places result;
    for (int64_t i = 0; i < out; ++i) {
      const auto at = static_cast<int64_t>(std::floor(static_cast<float>(i) * scale));
      result.push_back(std::min(at, in - 1));
    }
    return result;
  };
  pick(row, calls, x, plane, places(0, plane.in_height, plane.out_height),
       places(1, plane.in_width, plane.out_width));
  return absl::OkStatus();
}

// The two places around each output place, and the weight of the second.
void bind_between(KernelCall& call, const std::string& role, int64_t in, int64_t out, double scale,
                  bool align_corners) {
  Places low, high;
  std::vector<std::string> weights;
  for (int64_t i = 0; i < out; ++i) {
    double at = 0.0;
    if (align_corners) {
      if (out > 1) {
        at = static_cast<double>(i) * static_cast<double>(in - 1) / static_cast<double>(out - 1);
      }
    } else {
      at = std::max(scale * (static_cast<double>(i) + 0.5) - 0.5, 0.0);
    }
    const int64_t place = std::min(static_cast<int64_t>(at), in - 1);
    low.push_back(place);
    high.push_back(place + 1 < in ? place + 1 : place);
    weights.push_back(number(at - static_cast<double>(place)));
  }
  call.tokens[role + "_PLACES"] = list(low);
  call.tokens["NEXT_" + role + "_PLACES"] = list(high);
  call.tokens[role + "_WEIGHTS"] = absl::StrCat("{", absl::StrJoin(weights, ", "), "}");
}

absl::Status bilinear(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Plane plane = plane_of(x->tensor(), calls.out()->tensor(), 2);
  const bool align_corners = node.argument(arg::align_corners).as_bool();
  if (has_no_table(x, calls.out())) {
    KernelCall& call = calls.add("kernels/bilinear_varying.h", row.name());
    NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
    NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
    bind_varying_plane(call, x->tensor(), calls.out()->tensor(), 2);
    bind_factors(call, node);
    NodeCalls::bind(call, "ALIGNS_CORNERS", align_corners ? 1 : 0);
    call.arguments = {calls.read(x), calls.write(calls.out())};
    return absl::OkStatus();
  }
  KernelCall& call = calls.add("kernels/bilinear.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  bind_plane(call, plane);
  bind_between(call, "ROW", plane.in_height, plane.out_height,
               scale_of(node, 0, plane.in_height, plane.out_height), align_corners);
  bind_between(call, "COLUMN", plane.in_width, plane.out_width,
               scale_of(node, 1, plane.in_width, plane.out_width), align_corners);
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return absl::OkStatus();
}

// Fixed sizes export computes as a few products, where there are not too many.
absl::Status antialiased(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::self);
  KernelCall& call = calls.add("kernels/antialiased.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  bind_varying_plane(call, x->tensor(), calls.out()->tensor(), 2);
  for (const auto& [token, handle] :
       {std::pair{"ROW_SCALE", arg::scales_h}, {"COLUMN_SCALE", arg::scales_w}}) {
    const Argument& factor = node.argument(handle);
    const bool is_given = factor.is_number() && factor.as_number() > 0;
    call.tokens[token] = number(is_given ? 1.0 / factor.as_number() : 0.0);
  }
  NodeCalls::bind(call, "ALIGNS_CORNERS", node.argument(arg::align_corners).as_bool() ? 1 : 0);
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return absl::OkStatus();
}

absl::Status lower_triangle(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Extents sizes = extents_of(x->tensor());
  const size_t rank = sizes.size();
  Extent batches = 1;
  for (size_t d = 0; d + 2 < rank; ++d) batches *= sizes[d];
  KernelCall& call = calls.add("kernels/triangle.h", row.name());
  NodeCalls::bind_elements(call, x->tensor().dtype);
  NodeCalls::bind(call, "BATCHES", batches);
  NodeCalls::bind(call, "ROWS", sizes[rank - 2]);
  NodeCalls::bind(call, "COLUMNS", sizes[rank - 1]);
  // Beyond the corners nothing changes, and numbers fit.
  const Sizes& most = x->tensor().sizes;
  const Extent diagonal = extent_of(calls.node().argument(arg::diagonal));
  NodeCalls::bind(call, "DIAGONAL",
                  smaller_of(larger_of(diagonal, -most[rank - 2]), most[rank - 1]));
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::full.out", fill},
    {"aten::full_like.out", fill},
    {"aten::fill.Scalar_out", fill},
    {"aten::scalar_tensor.out", fill},
    {"aten::zeros.out", fill, "0"},
    {"aten::ones.out", fill, "1"},
    {"aten::arange.start_out", range},
    {"aten::empty.out", nothing},
    {"aten::tril.out", lower_triangle},
    {"aten::constant_pad_nd.out", constant_pad},
    {"aten::reflection_pad1d.out", pad_by_input, "1", "reflects"},
    {"aten::reflection_pad2d.out", pad_by_input, "2", "reflects"},
    {"aten::replication_pad1d.out", pad_by_input, "1", "stays"},
    {"aten::replication_pad2d.out", pad_by_input, "2", "stays"},
    {"aten::upsample_nearest2d.vec_out", nearest},
    {"aten::upsample_bilinear2d.vec_out", bilinear},
    {"aten::_upsample_bilinear2d_aa.out", antialiased},
};

}  // namespace

absl::Span<const OperatorRow> fill_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
