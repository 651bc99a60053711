// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/node_step.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/emit_c/comment_text.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/renamed.h"
#include "exir/emit_c/returns.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {

std::string comment_of(const Node& node) {
  std::string text = comment_text(node.describe());
  const auto line = [&](const char* role, const Value* value) {
    absl::StrAppend(&text, "\n  ", role, " ", comment_text(value->name()), ": ",
                    comment_text(to_string(value->type())));
  };
  for (const Value* operand : node.operands()) line("in ", operand);
  for (size_t i = 0; i < node.num_results(); ++i) line("out", node.result(i));
  return text;
}

bool has_word(absl::string_view text, const std::string& name) {
  const auto is_part = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = text.find(name); at != absl::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || !is_part(text[at - 1]);
    if (begins && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

namespace {

// A call of a function of the user, with the tensors that it takes and makes.
CStep user_step(const Node& node, const OperatorRow& row, const Places& places,
                const std::string& number, const UserKernel& kernel) {
  std::vector<std::string> inputs, outputs;
  const auto add = [&](const Argument& argument, bool is_tensor) {
    if (argument.is_value() && argument.value()->type().is_tensor()) {
      inputs.push_back(places.read(argument.value()));
    } else if (argument.is_none() && is_tensor) {
      inputs.emplace_back("NULL");
    }
  };
  for (size_t i = 0; i < node.arguments().size(); ++i) {
    const Argument& argument = node.arguments()[i];
    if (argument.is_list()) {
      for (const Argument& item : argument.as_list()) add(item, true);
    } else {
      add(argument, node.op().args[i].kind == ArgKind::kTensor);
    }
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    outputs.push_back(places.write(node.result(i)));
  }
  CStep step;
  step.function = absl::StrCat(number, "_", row.name());
  step.kernel = row.kernel;
  step.node = node.result()->name();
  step.variant = kernel.symbol;
  step.comment = absl::StrCat(comment_of(node), "\n  kernel ", kernel.symbol, " of ",
                              comment_text(kernel.file));
  step.body = absl::StrCat("  const void *const tensors_in[", std::max<size_t>(1, inputs.size()),
                           "] = {", inputs.empty() ? "NULL" : absl::StrJoin(inputs, ",\n      "),
                           "};\n  void *const tensors_out[", outputs.size(), "] = {",
                           absl::StrJoin(outputs, ",\n      "), "};\n  ", kernel.symbol,
                           "(tensors_in, tensors_out);\n");
  return step;
}

}  // namespace

absl::StatusOr<CStep> make_step(const Node& node, const OperatorRow& row, const Places& places,
                                const std::string& number, const Package& package,
                                KernelLibrary* library) {
  const KernelChoices* const kernels = package.pools->kernels;
  const UserKernel* const user = kernels == nullptr ? nullptr : kernels->user_kernel(node);
  if (user != nullptr) return user_step(node, row, places, number, *user);
  const KernelChoice* const choice = kernels == nullptr ? nullptr : kernels->find(&node);
  NodeCalls calls(node, places, *package.pools, choice);
  PETREL_RETURN_IF_ERROR(row.make.fn(row, calls));
  if (calls.is_unknown()) {
    return absl::UnimplementedError("its sizes cannot be computed in C yet");
  }
  CStep step;
  step.function = absl::StrCat(number, "_", row.name());
  step.kernel = row.kernel;
  step.node = node.num_results() == 0 ? "" : node.result()->name();
  step.variant = choice == nullptr ? "" : choice->variant->name;
  step.comment = comment_of(node);
  if (choice != nullptr) {
    step.variants = choice->variants;
    step.product = product_text(choice->product);
    absl::StrAppend(&step.comment, "\n  variant ", step.variant);
  }
  for (const std::string& condition : calls.refused()) {
    step.can_fail = true;
    absl::StrAppend(&step.body, return_if(condition, package.capitals + "_E_DATA"));
  }
  for (const KernelCall& call : std::move(calls).take()) {
    PETREL_ASSIGN_OR_RETURN(const KernelFunction function, library->add(call));
    std::vector<std::string> arguments = function.sizes;
    arguments.insert(arguments.end(), call.arguments.begin(), call.arguments.end());
    const std::string text = absl::StrCat(renamed(package, function.name), "(",
                                          absl::StrJoin(arguments, ",\n      "), ")");
    step.can_fail = step.can_fail || call.can_fail || call.counts;
    step.counts = step.counts || call.counts;
    absl::StrAppend(&step.body,
                    call.counts ? absl::StrCat("  const int64_t number = (int64_t)", text, ";\n")
                    : call.can_fail ? return_if(text + " != 0", package.capitals + "_E_DATA")
                                    : absl::StrCat("  ", text, ";\n"));
  }
  if (step.can_fail && !step.counts)
    absl::StrAppend(&step.body, "  return ", package.capitals, "_OK;\n");
  return step;
}

}  // namespace petrel::exir::emit_c
