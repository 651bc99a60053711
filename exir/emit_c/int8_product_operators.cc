// SPDX-License-Identifier: Apache-2.0
//
// Linear products and convolutions of levels of 8 bits (docs/int8.md), whose kernels have variants.
#include <string>
#include <utility>
#include <vector>

#include "exir/emit_c/int8_calls.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

std::string number_at(const Node& node, ArgHandle name) {
  return number(node.argument(name).as_int());
}

// The types of input and output, and what the output is held within.
void bind_levels(KernelCall& call, const Node& node, const Value* x) {
  call.tokens["IN_TYPE"] = c_type(x->tensor().dtype);
  call.tokens["OUT_TYPE"] = c_type(node.result()->tensor().dtype);
  call.tokens["OUT_ZERO"] = number_at(node, arg::zero_point);
  call.tokens["LEAST"] = number_at(node, arg::least);
  call.tokens["MOST"] = number_at(node, arg::most);
}

// input, weight, bias, multiplier, shift, out.
void bind_channels(KernelCall& call, const NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* bias = tensor_of(node.argument(arg::bias));
  call.tokens["IN_ZERO"] = number_at(node, arg::input_zero_point);
  call.arguments = {
      calls.read(node.input(arg::input)),          calls.read(node.input(arg::weight)),
      bias == nullptr ? "NULL" : calls.read(bias), calls.read(node.input(arg::multiplier)),
      calls.read(node.input(arg::shift)),          calls.write(calls.out())};
}

bool is_packed(const NodeCalls& calls) {
  return calls.choice() != nullptr && calls.choice()->variant->packing != Packing::kAsStored;
}

// A variant whose constants are packed: input, weight, offset, multiplier, shift, scratch, out.
KernelCall& packed(const OperatorRow& row, NodeCalls& calls, const std::string& scratch_type) {
  const KernelChoice& choice = *calls.choice();
  KernelCall& call = calls.add(choice.variant->source, row.name());
  bind_levels(call, calls.node(), calls.node().input(arg::input));
  bind_channels(call, calls);
  call.tokens["TO_LEVEL"] = choice.is_near ? "petrel_near_level_of_sum" : "petrel_level_of_sum";
  if (choice.variant->scratch_bytes(choice.product) > 0) {
    call.arguments.insert(call.arguments.end() - 1, calls.scratch(scratch_type));
  }
  return call;
}

absl::Status packed_linear(const OperatorRow& row, NodeCalls& calls) {
  const Int8Product& product = calls.choice()->product;
  KernelCall& call = packed(row, calls, "int8_t");
  NodeCalls::bind(call, "ROWS", product.batch);
  NodeCalls::bind(call, "DEPTH", product.depth());
  NodeCalls::bind(call, "COLUMNS", product.filters);
  return absl::OkStatus();
}

// All but what the levels of a product of the package become.
void bind_convolution(KernelCall& call, const Node& node, const Int8Product& product) {
  NodeCalls::bind_steps(call, "IN", node.input(arg::input)->tensor());
  NodeCalls::bind_steps(call, "OUT", node.result()->tensor());
  const std::pair<const char*, int64_t> sizes[] = {
      {"BATCH", product.batch},
      {"CHANNELS", product.groups * product.channels},
      {"FILTERS", product.all_filters()},
      {"DEPTH", product.depth()},
      {"WORDS", (product.depth() + 3) / 4},
      {"IN_HEIGHT", product.in_height},
      {"IN_WIDTH", product.in_width},
      {"OUT_HEIGHT", product.out_height},
      {"OUT_WIDTH", product.out_width},
      {"KERNEL_HEIGHT", product.kernel_height},
      {"KERNEL_WIDTH", product.kernel_width},
      {"STRIDE_HEIGHT", product.stride_height},
      {"STRIDE_WIDTH", product.stride_width},
      {"PADDING_TOP", product.padding_top},
      {"PADDING_LEFT", product.padding_left},
      {"DILATION_HEIGHT", product.dilation_height},
      {"DILATION_WIDTH", product.dilation_width},
      {"ROW_WIDTH", (product.out_width - 1) * product.stride_width + product.kernel_width},
      {"FIRST_ROW", 0},
      {"ROWS", product.out_height}};
  for (const auto& [token, size] : sizes) NodeCalls::bind(call, token, size);
  call.tokens["HELD_ROW"] = "h";
  call.tokens["STORE_LEVEL"] = "petrel_store_level";
}

absl::Status packed_convolution(const OperatorRow& row, NodeCalls& calls) {
  const char* const type = scratch_type(*calls.choice()->variant);
  bind_convolution(packed(row, calls, type), calls.node(), calls.choice()->product);
  return absl::OkStatus();
}

absl::Status linear(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Extents weight = extents_of(node.input(arg::weight)->tensor());
  const Extents sizes = extents_of(calls.out()->tensor());
  Extent rows = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  if (is_packed(calls)) return packed_linear(row, calls);
  KernelCall& call = calls.add("kernels/int8_linear.h", row.name());
  bind_levels(call, node, node.input(arg::input));
  NodeCalls::bind(call, "ROWS", rows);
  NodeCalls::bind(call, "DEPTH", weight[1]);
  NodeCalls::bind(call, "COLUMNS", weight[0]);
  bind_channels(call, calls);
  return absl::OkStatus();
}

// One spatial dim is read as two of which the first is 1.
Extents as_plane(Extents sizes) {
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  return sizes;
}

void bind_pair(KernelCall& call, const std::string& height, const std::string& width,
               const Argument& argument, bool is_flat, int64_t neutral) {
  std::vector<int64_t> pair = ints_of(argument, is_flat ? 1 : 2);
  if (is_flat) pair.insert(pair.begin(), neutral);
  NodeCalls::bind(call, height, pair[0]);
  NodeCalls::bind(call, width, pair[1]);
}

absl::Status convolution(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const bool is_flat = x->tensor().rank() == 3;
  const Extents in = as_plane(extents_of(x->tensor()));
  const Extents filters = as_plane(extents_of(node.input(arg::weight)->tensor()));
  const Extents out = as_plane(extents_of(calls.out()->tensor()));
  const int64_t groups = node.argument(arg::groups).as_int();
  if (is_packed(calls)) return packed_convolution(row, calls);
  KernelCall& call = calls.add("kernels/int8_convolution.h", row.name());
  bind_levels(call, node, x);
  NodeCalls::bind_steps(call, "IN", x->tensor());
  NodeCalls::bind_steps(call, "OUT", calls.out()->tensor());
  const std::pair<const char*, Extent> sizes[] = {{"BATCH", in[0]},
                                                  {"GROUPS", groups},
                                                  {"CHANNELS", filters[1]},
                                                  {"IN_HEIGHT", in[2]},
                                                  {"IN_WIDTH", in[3]},
                                                  {"FILTERS", filters[0] / groups},
                                                  {"OUT_HEIGHT", out[2]},
                                                  {"OUT_WIDTH", out[3]},
                                                  {"KERNEL_HEIGHT", filters[2]},
                                                  {"KERNEL_WIDTH", filters[3]}};
  for (const auto& [token, size] : sizes) NodeCalls::bind(call, token, size);
  bind_pair(call, "STRIDE_HEIGHT", "STRIDE_WIDTH", node.argument(arg::stride), is_flat, 1);
  bind_pair(call, "PADDING_TOP", "PADDING_LEFT", node.argument(arg::padding), is_flat, 0);
  bind_pair(call, "DILATION_HEIGHT", "DILATION_WIDTH", node.argument(arg::dilation), is_flat, 1);
  bind_channels(call, calls);
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"petrel::int8_linear.out", linear},
    {"petrel::int8_convolution.out", convolution},
};

}  // namespace

const char* scratch_type(const VariantRow& variant) {
  const bool has_words =
      variant.packing == Packing::kPairWords || variant.packing == Packing::kTapWords;
  return has_words ? "uint32_t" : "int8_t";
}

KernelCall convolution_of_rows(const KernelChoice& choice) {
  const Node& node = *choice.product.node;
  KernelCall call;
  call.source = choice.variant->source;
  call.name = "int8_convolution";
  bind_levels(call, node, node.input(arg::input));
  call.tokens["IN_ZERO"] = number_at(node, arg::input_zero_point);
  call.tokens["TO_LEVEL"] = choice.is_near ? "petrel_near_level_of_sum" : "petrel_level_of_sum";
  bind_convolution(call, node, choice.product);
  call.tokens["FIRST_ROW"] = "row_";
  call.tokens["ROWS"] = "1";
  return call;
}

absl::Span<const OperatorRow> int8_product_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
