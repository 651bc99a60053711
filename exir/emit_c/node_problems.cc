// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/node_problems.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/index_walk.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/node_calls.h"
#include "exir/emit_c/operators.h"
#include "exir/emit_c/places.h"
#include "exir/emit_c/real_text.h"
#include "exir/ir/region_values.h"
#include "exir/memory/in_place.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// Arguments that may be computed from sizes: the type of the result tells them, or whoever
// writes the calls takes them as extents.
constexpr ArgHandle kSizes[] = {arg::size,
                                arg::end,
                                arg::repeats,
                                arg::length,
                                arg::split_sizes,
                                arg::start,
                                arg::index,
                                arg::fill_value,
                                arg::s,
                                arg::value,
                                arg::other,
                                arg::N,
                                arg::C,
                                arg::HxW,
                                arg::exponent,
                                arg::output_size,
                                arg::min,
                                arg::max,
                                arg::min_val,
                                arg::max_val,
                                arg::shifts,
                                arg::diagonal,
                                arg::negative_slope,
                                arg::pad,
                                arg::k};

bool takes_sizes(const Node& node, ArgHandle handle) {
  // Of sums, not of products and functions.
  if (handle == arg::alpha) return node.op().find_arg(arg::other) >= 0;
  return std::find(std::begin(kSizes), std::end(kSizes), handle) != std::end(kSizes);
}

std::string problem_of(const Value* value, const std::vector<MethodSize>& sizes) {
  const auto of_type = [&](const auto&... words) {
    return absl::StrCat("'", value->name(), "' is of type ", to_string(value->type()), "; ",
                        words...);
  };
  if (value->type().kind == Type::Kind::kFloat || value->type().kind == Type::Kind::kBool) {
    const std::string problem = problem_of_real(value, sizes);
    return problem.empty() ? "" : of_type(problem);
  }
  if (!value->type().is_tensor()) {
    const bool is_size = value->type().kind == Type::Kind::kInt &&
                         value->type().number.has_value() &&
                         problem_of_size(*value->type().number, sizes).empty();
    const Node* finder = value->producer();
    if (!is_size && finder != nullptr && finds_size(*finder) &&
        value->type().kind == Type::Kind::kInt) {
      return of_type("C needs its bounds: say them with torch._check");
    }
    return is_size ? "" : of_type("numbers computed at run time do not exist in C yet");
  }
  if (const std::string problem = problem_of_sizes(value->tensor(), sizes); !problem.empty()) {
    return of_type(problem);
  }
  if (value->tensor().nbytes() > std::numeric_limits<int32_t>::max()) {
    return absl::StrCat("'", value->name(), "' has ", value->tensor().nbytes(),
                        " bytes, must have less than 2^31");
  }
  return "";
}

// An operator that needs numbers, and a size that is none.
std::string problem_of_arguments(const Node& node, const OperatorRow& row) {
  const auto varies = [](const Value* value) { return value->type().is_dynamic(); };
  std::vector<const Value*> values;
  for (const Value* operand : node.operands()) values.push_back(operand);
  for (size_t i = 0; i < node.num_results(); ++i) values.push_back(node.result(i));
  if (row.make.is_fixed && std::any_of(values.begin(), values.end(), varies)) {
    return absl::StrCat(row.kernel, " takes no sizes that vary in C yet");
  }
  for (size_t i = 0; i < node.arguments().size(); ++i) {
    const ArgSpec& spec = node.op().args[i];
    if (takes_sizes(node, spec.handle)) continue;
    for (const Value* value : node.arguments()[i].values()) {
      if (value->type().is_tensor()) continue;
      return absl::StrCat("argument '", spec.name,
                          "' is computed from sizes, which does not exist in C yet");
    }
  }
  return "";
}

// C counts places in windows, and in what they cover, as int32_t.
std::string problem_of_windows(const Node& node) {
  constexpr int64_t kFarthest = int64_t{1} << 30;
  const auto has = [&node](ArgHandle handle) { return node.op().find_arg(handle) >= 0; };
  const auto most_at = [&](ArgHandle handle) {
    int64_t most = 1;
    if (!has(handle)) return most;
    for (const int64_t number : ints_of(node.argument(handle))) most = std::max(most, number);
    return most;
  };
  const auto most_size = [](const Value* value) {
    const Sizes& sizes = value->tensor().sizes;
    return sizes.empty() ? int64_t{1} : int64_t{*std::max_element(sizes.begin(), sizes.end())};
  };
  int64_t reach = 0;
  if (has(arg::dilation) || has(arg::kernel_size)) {
    const int64_t window =
        has(arg::weight) ? most_size(node.input(arg::weight)) : most_at(arg::kernel_size);
    reach = most_size(node.operands()[0]) + 2 * most_at(arg::padding) + most_at(arg::stride) +
            most_at(arg::dilation) * window;
  }
  if (node.is(aten::_adaptive_avg_pool2d)) {
    const Sizes &in = node.operands()[0]->tensor().sizes, &out = node.result()->tensor().sizes;
    for (size_t d = in.size() - 2; d < in.size(); ++d) {
      reach = std::max(reach, (int64_t{out[d]} + 1) * int64_t{in[d]});
    }
  }
  return reach > kFarthest ? "its windows reach farther than C counts" : "";
}

// What is made of elements of the first operand, which must have some.
constexpr absl::string_view kOfElements[] = {"aten::_adaptive_avg_pool2d.out",
                                             "aten::_upsample_bilinear2d_aa.out",
                                             "aten::amax.out",
                                             "aten::amin.out",
                                             "aten::argmax.out",
                                             "aten::argmin.out",
                                             "aten::grid_sampler_2d.out",
                                             "aten::max.dim_max",
                                             "aten::min.dim_min",
                                             "aten::max.unary_out",
                                             "aten::min.unary_out",
                                             "aten::reflection_pad1d.out",
                                             "aten::reflection_pad2d.out",
                                             "aten::replication_pad1d.out",
                                             "aten::replication_pad2d.out",
                                             "aten::upsample_nearest2d.vec_out",
                                             "aten::upsample_bilinear2d.vec_out",
                                             "quantized_decomposed::choose_qparams.Tensor_out",
                                             "quantized_decomposed::"
                                             "choose_qparams_per_token_asymmetric.out"};

std::string problem_of_elements(const Node& node, const std::string& kernel) {
  const bool reads =
      std::find(std::begin(kOfElements), std::end(kOfElements), kernel) != std::end(kOfElements);
  if (!reads || node.operands()[0]->tensor().numel() > 0 || node.result(0)->tensor().numel() == 0) {
    return "";
  }
  return absl::StrCat("'", node.operands()[0]->name(), "' has no elements");
}

// Of the first operand, which must be floats: others the kernels refuse.
constexpr absl::string_view kOfFloats[] = {"aten::_log_softmax.out",
                                           "aten::_native_batch_norm_legit.no_stats_out",
                                           "aten::_native_batch_norm_legit_no_training.out",
                                           "aten::_softmax.out",
                                           "aten::_upsample_bilinear2d_aa.out",
                                           "aten::gelu.out",
                                           "aten::grid_sampler_2d.out",
                                           "aten::native_group_norm.out",
                                           "aten::native_layer_norm.out",
                                           "aten::upsample_bilinear2d.vec_out"};

std::string problem_of_dtype(const Node& node, const std::string& kernel) {
  const bool takes_floats =
      std::find(std::begin(kOfFloats), std::end(kOfFloats), kernel) != std::end(kOfFloats);
  const Value* first = node.operands().empty() ? nullptr : node.operands()[0];
  if (!takes_floats || is_floating_point(first->tensor().dtype)) return "";
  return absl::StrCat("'", first->name(), "' is ", to_string(first->type()), ", must be of floats");
}

// Convolutions sum in doubles, which do not hold all sums of integers. What torch makes of a
// fraction beside integers C does not know.
std::string problem_of_sums(const Node& node) {
  if (!node.is(aten::convolution, aten::addmm) ||
      is_floating_point(node.result()->tensor().dtype)) {
    return "";
  }
  if (node.is(aten::convolution)) return "convolutions of integers do not exist in C yet";
  const bool has_fraction =
      !node.argument(arg::alpha).is_int() || !node.argument(arg::beta).is_int();
  return has_fraction ? "products of integers have no factors but integers in C yet" : "";
}

// Drivers get no sizes.
std::string problem_of_delegate(const Node& node) {
  std::vector<const Value*> values;
  for (const Value* operand : node.operands()) values.push_back(operand);
  for (size_t i = 0; i < node.num_results(); ++i) values.push_back(node.result(i));
  for (const Value* value : values) {
    if (!value->type().is_dynamic() && value->type().is_tensor()) continue;
    return absl::StrCat("'", value->name(), "' is ", to_string(value->type()),
                        ", backends get no sizes that vary in C yet");
  }
  return "";
}

// Rounds copy bytes.
std::string problem_of_loop(const Node& node, const Storage& storage) {
  if (node.is(petrel_ops::while_loop) &&
      storage.root(node.regions()[0]->outputs()[0])->is_constant()) {
    return "loops whose condition is a constant do not exist in C yet";
  }
  const RegionValues values = region_values(node);
  const Graph& body = *node.regions().back();
  const auto is_other = [](const Value* from, const Value* to) {
    return from->tensor().dtype != to->tensor().dtype ||
           from->tensor().dim_order != to->tensor().dim_order;
  };
  bool differs = false;
  for (size_t i = 0; i < node.num_results(); ++i) {
    const bool is_carried = i < values.carried.size();
    const Value* out = body.outputs()[i];
    differs =
        differs ||
        (is_carried ? is_other(values.carried[i], node.result(i)) || is_other(out, node.result(i))
                    : !out->tensor().is_contiguous() || !node.result(i)->tensor().is_contiguous());
  }
  for (const Value* rows : values.rows) differs = differs || !rows->tensor().is_contiguous();
  return differs ? "loops that change the order of dims do not exist in C yet" : "";
}

std::string problem_of_number(const Node& node) {
  return absl::StrCat("'", node.result()->name(), "' is found in ",
                      to_string(node.operands()[0]->type()),
                      "; such numbers do not exist in C yet");
}

std::string problem_of_missing(const Node& node, const std::string& kernel) {
  if (!node.is(aten::rand, aten::randn)) return absl::StrCat(kernel, " does not exist in C yet");
  return absl::StrCat(kernel, " makes random numbers, which C does not; make them an input");
}

// C finds how many elements a mask chooses where the mask is the only index.
std::string problem_of_masks(const Node& node) {
  if (node.op().find_arg(arg::indices) < 0 || !node.argument(arg::indices).is_list()) return "";
  size_t dim = 0;
  if (single_index(node, &dim) != nullptr) return "";
  for (const Argument& index : node.argument(arg::indices).as_list()) {
    const Value* mask = tensor_of(index);
    if (mask == nullptr || !is_mask(mask->tensor())) continue;
    return absl::StrCat("'", mask->name(),
                        "' is a mask beside other indices, which C does not "
                        "read yet; torch.nonzero() makes indices of it that C reads");
  }
  return "";
}

// What its row says where all of the above holds. What a function of the user takes it does not
// look at.
std::string problem_of_call(const Node& node, const OperatorRow& row, const Places& places,
                            const CPools& pools) {
  if (pools.kernels != nullptr && pools.kernels->user_kernel(node) != nullptr) return "";
  NodeCalls calls(node, places, pools,
                  pools.kernels == nullptr ? nullptr : pools.kernels->find(&node));
  const absl::Status made = row.make.fn(row, calls);
  if (absl::IsUnimplemented(made)) return std::string(made.message());
  return made.ok() && calls.is_unknown() ? "its sizes cannot be computed in C yet" : "";
}

std::string problem_of(const Node& node, const PlannedMethod& method,
                       const std::vector<MethodSize>& sizes, const CPools& pools) {
  const Storage& storage = *method.storage;
  if (finds_size(node)) {
    const ScalarType dtype = node.operands()[0]->tensor().dtype;
    return is_integral(dtype) || is_floating_point(dtype) ? problem_of(node.result(), sizes)
                                                          : problem_of_number(node);
  }
  if (node.is(petrel_ops::cond) && node.input(arg::predicate)->is_constant()) {
    return "branches by a constant do not exist in C yet";
  }
  if (is_loop(node)) {
    if (std::string problem = problem_of_loop(node, storage); !problem.empty()) return problem;
  }
  if (std::string problem = problem_of_masks(node); !problem.empty()) return problem;
  for (const Value* operand : node.operands()) {
    if (std::string problem = problem_of(operand, sizes); !problem.empty()) return problem;
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (std::string problem = problem_of(node.result(i), sizes); !problem.empty()) return problem;
  }
  if (!node.regions().empty()) return "";
  if (node.delegate() != nullptr) return problem_of_delegate(node);
  const std::string kernel = kernel_of(node, storage);
  const OperatorRow* row = find_operator(kernel);
  if (row == nullptr) return problem_of_missing(node, kernel);
  for (std::string problem : {problem_of_windows(node), problem_of_elements(node, kernel),
                              problem_of_dtype(node, kernel), problem_of_sums(node)}) {
    if (!problem.empty()) return problem;
  }
  if (std::string problem = problem_of_arguments(node, *row); !problem.empty()) return problem;
  return problem_of_call(node, *row, Places(method), pools);
}

bool is_of_sizes(const Node& node) {
  if (node.num_results() == 0 || !node.regions().empty() || finds_size(node)) return false;
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->type().is_tensor()) return false;
  }
  return node.op().has(kPure);
}

}  // namespace

std::string kernel_of(const Node& node, const Storage& storage) {
  if (storage.is_in_place(node)) return in_place_kernel(node);
  if (node.op().out_overload.empty()) return node.op().out_name;
  return absl::StrCat(node.op().out_name, ".", node.op().out_overload);
}

bool is_nothing(const Node& node, const Storage& storage) {
  return is_dropped(node) || is_of_sizes(node) || storage.is_view(node);
}

std::vector<std::string> problems_of(const PlannedMethod& method,
                                     const std::vector<MethodSize>& sizes, const CPools& pools) {
  std::vector<std::string> problems;
  const auto note = [&](const std::string& where, const std::string& problem) {
    if (!problem.empty()) problems.push_back(absl::StrCat(where, problem));
  };
  for (const Value* input : method.graph->inputs()) note("input ", problem_of(input, sizes));
  for (const Node* node : method.storage->steps()) {
    if (is_nothing(*node, *method.storage)) continue;
    for (const Node* part : method.storage->nodes_of(*node)) {
      note(absl::StrCat(part->describe(), ": "), problem_of(*part, method, sizes, pools));
    }
  }
  return problems;
}

}  // namespace petrel::exir::emit_c
