// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/kernel_choices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/emit_c/kernel_costs.h"
#include "exir/emit_c/pack_weight.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

// "features.0" of "features.0.weight@int8": the module whose weight it is.
std::string module_of(const Node& node) {
  const std::string& name = node.input(arg::weight)->constant()->fqn;
  const std::string weight = name.substr(0, name.find('@'));
  const size_t dot = weight.rfind('.');
  return dot == std::string::npos ? weight : weight.substr(0, dot);
}

bool names(const ForcedKernel& rule, const Node& node) {
  if (node.num_results() == 0) return false;
  return rule.matches(node.result()->name()) ||
         (int8_product(node).has_value() && rule.matches(module_of(node)));
}

const VariantRow* find_variant(absl::string_view kernel, const std::string& name) {
  for (const VariantRow& row : variant_rows()) {
    if (row.kernel == kernel && row.name == name) return &row;
  }
  return nullptr;
}

std::string text_of(const ForcedKernel& rule) {
  return absl::StrCat("--kernel '", rule.node, "=", rule.variant, "'");
}

std::string variants_of(absl::string_view kernel) {
  std::vector<std::string> names;
  for (const VariantRow& row : variant_rows()) {
    if (row.kernel == kernel) names.push_back(absl::StrCat(row.name, " (needs ", row.needs, ")"));
  }
  return absl::StrJoin(names, ", ");
}

// Of all steps, those that run together too.
std::vector<const Node*> nodes_of(const PlannedMethod& method) {
  std::vector<const Node*> all;
  for (const Node* step : method.storage->steps()) {
    const StepNodes nodes = method.storage->nodes_of(*step);
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  return all;
}

// "" or what of a node only its call knows: a function of the user gets pointers alone.
std::string untold_of(const Node& node) {
  std::vector<Value*> values = node.operands();
  for (size_t i = 0; i < node.num_results(); ++i) values.push_back(node.result(i));
  for (const Value* value : values) {
    const bool is_tensor = value->type().is_tensor();
    if (is_tensor && !value->type().is_dynamic()) continue;
    return absl::StrCat("'", value->name(), "' ",
                        is_tensor ? "has sizes that vary" : "is a number computed at run time");
  }
  return "";
}

size_t argument_index(const Node& node, ArgHandle name) {
  return static_cast<size_t>(node.op().find_arg(name));
}

}  // namespace

const VariantRow* KernelChoices::variant_of(const Node& node, const Int8Product& product) const {
  for (const ForcedKernel& rule : options_.forced) {
    if (!names(rule, node)) continue;
    const VariantRow* row = find_variant(kernel_of(product), rule.variant);
    // What is wrong with others is said when all of it is known.
    if (row != nullptr && fits(*row, product)) return row;
    return choose_variant(product, options_.target);
  }
  if (const TunedKernel* const tuned = find_tuned(node, product); tuned != nullptr) {
    const VariantRow* row = find_variant(kernel_of(product), tuned->variant);
    if (row != nullptr && fits(*row, product)) return row;
  }
  return choose_variant(product, options_.target);
}

const TunedKernel* KernelChoices::find_tuned(const Node& node, const Int8Product& product) const {
  const TunedKernel* found = nullptr;
  for (const TunedKernel& one : options_.tuned) {
    if (one.node != node.result()->name()) continue;
    if (one.product == product_text(product)) return &one;
    if (found == nullptr) found = &one;
  }
  return found;
}

bool KernelChoices::is_forced(const Node& node) const {
  return std::any_of(options_.forced.begin(), options_.forced.end(),
                     [&](const ForcedKernel& rule) { return names(rule, node); });
}

std::vector<std::string> KernelChoices::variants_for(const Node& node,
                                                     const Int8Product& product) const {
  if (is_forced(node)) return {variant_of(node, product)->name};
  const VariantRow* const first = choose_variant(product, options_.target);
  std::vector<std::string> all = {first->name};
  for (const VariantRow& row : variant_rows()) {
    if (&row != first && fits(row, product)) all.emplace_back(row.name);
  }
  return all;
}

const UserKernel* KernelChoices::find_user(const std::string& symbol) const {
  const auto found =
      std::find_if(options_.user.begin(), options_.user.end(),
                   [&](const UserKernel& kernel) { return kernel.symbol == symbol; });
  return found == options_.user.end() ? nullptr : &*found;
}

const UserKernel* KernelChoices::user_kernel(const Node& node) const {
  for (const ForcedKernel& rule : options_.forced) {
    if (names(rule, node)) return find_user(rule.variant);
  }
  return nullptr;
}

absl::Status KernelChoices::check_user_rule(const ForcedKernel& rule,
                                            const PlannedProgram& planned) const {
  std::vector<std::string> known;
  bool is_used = false;
  for (const PlannedMethod& method : planned.methods) {
    for (const Node* node : nodes_of(method)) {
      if (node->num_results() == 0 || !node->regions().empty()) continue;
      known.push_back(node->result()->name());
      if (!names(rule, *node)) continue;
      is_used = true;
      const std::string untold = untold_of(*node);
      if (untold.empty()) continue;
      return absl::InvalidArgumentError(absl::StrCat(text_of(rule), ": ", node->describe(), ": ",
                                                     untold, ", which your function is not told"));
    }
  }
  if (is_used) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      text_of(rule), ": no node has such a name; they are called ", absl::StrJoin(known, ", ")));
}

absl::Status KernelChoices::check_tuned(const PlannedProgram& planned) const {
  if (options_.tuned.empty()) return absl::OkStatus();
  const auto wrong = [](const std::string& node, const auto&... why) {
    return absl::InvalidArgumentError(absl::StrCat("node '", node, "' ", why...));
  };
  std::set<std::string> used;
  for (const PlannedMethod& method : planned.methods) {
    for (const Node* node : method.storage->steps()) {
      const auto product = int8_product(*node);
      if (!product.has_value()) continue;
      const std::string& name = node->result()->name();
      used.insert(name);
      if (is_forced(*node)) continue;
      const TunedKernel* const tuned = find_tuned(*node, *product);
      if (tuned == nullptr) return wrong(name, "was not measured: it is another model's record");
      const std::string text = product_text(*product);
      if (tuned->product != text) {
        return wrong(name, "was measured as '", tuned->product, "' and is '", text,
                     "': it is another model's record");
      }
      const VariantRow* const row = find_variant(kernel_of(*product), tuned->variant);
      if (row != nullptr && fits(*row, *product)) continue;
      return wrong(name, "cannot have variant '", tuned->variant, "'; variants are ",
                   variants_of(kernel_of(*product)));
    }
  }
  for (const TunedKernel& tuned : options_.tuned) {
    if (used.count(tuned.node) > 0) continue;
    return wrong(tuned.node, "was measured and is not there: it is another model's record");
  }
  return absl::OkStatus();
}

absl::Status KernelChoices::check_rules(const PlannedProgram& planned) const {
  for (const UserKernel& kernel : options_.user) {
    const bool is_named =
        std::any_of(options_.forced.begin(), options_.forced.end(),
                    [&](const ForcedKernel& rule) { return rule.variant == kernel.symbol; });
    if (is_named) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--kernel-source '", kernel.file, ":", kernel.symbol,
                     "': no --kernel 'NODE=", kernel.symbol, "' says whose kernel it is"));
  }
  for (const ForcedKernel& rule : options_.forced) {
    if (find_user(rule.variant) != nullptr) {
      PETREL_RETURN_IF_ERROR(check_user_rule(rule, planned));
      continue;
    }
    std::vector<std::string> with_variants;
    bool is_used = false;
    for (const PlannedMethod& method : planned.methods) {
      for (const Node* node : nodes_of(method)) {
        const auto product = int8_product(*node);
        if (!product.has_value()) continue;
        with_variants.push_back(absl::StrCat(node->result()->name(), " (", module_of(*node), ")"));
        if (!names(rule, *node)) continue;
        is_used = true;
        const absl::string_view kernel = kernel_of(*product);
        const VariantRow* row = find_variant(kernel, rule.variant);
        if (row != nullptr && fits(*row, *product)) continue;
        return absl::InvalidArgumentError(
            absl::StrCat(text_of(rule), ": ",
                         row == nullptr ? absl::StrCat("there is no such variant of ", kernel)
                                        : absl::StrCat(node->describe(), " is not what it needs"),
                         "; variants are ", variants_of(kernel)));
      }
    }
    if (is_used) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(text_of(rule), ": no node whose kernel has variants has such a name; ",
                     with_variants.empty()
                         ? "there are none, as without --int8 integer"
                         : absl::StrCat("they are called ", absl::StrJoin(with_variants, ", "))));
  }
  return absl::OkStatus();
}

void KernelChoices::pack(Graph& graph, Node* node, KernelChoice* choice) {
  PackedProduct packed = pack_product(choice->product, choice->variant->packing);
  choice->is_near = packed.is_near;
  const auto set = [&](ArgHandle name, ConstantPtr constant) {
    // One weight may be packed in several ways.
    auto found = packed_.find(constant->fqn);
    if (found != packed_.end() && !found->second->data.equals(constant->data)) {
      auto renamed = std::make_shared<Constant>(*constant);
      absl::StrAppend(&renamed->fqn, "@", choice->variant->name);
      constant = std::move(renamed);
      found = packed_.find(constant->fqn);
    }
    if (found == packed_.end()) found = packed_.emplace(constant->fqn, std::move(constant)).first;
    node->set_argument(argument_index(*node, name), Argument(graph.add_constant(found->second)));
  };
  set(arg::weight, std::move(packed.weight));
  set(arg::bias, std::move(packed.offset));
  set(arg::multiplier, std::move(packed.multiplier));
  set(arg::shift, std::move(packed.shift));
}

absl::Status KernelChoices::prepare(PlannedProgram* planned) {
  PETREL_RETURN_IF_ERROR(check_rules(*planned));
  const absl::Status tuned = check_tuned(*planned);
  if (!tuned.ok()) return annotate(tuned, "--tuning");
  laid_out_.clear();  // holds values of plans that were tried
  for (PlannedMethod& method : planned->methods) {
    PETREL_RETURN_IF_ERROR(annotate(lay_out(&method), absl::StrCat("method '", method.name, "'")));
    std::set<const Node*> together;
    std::set<const Node*> steps;
    for (const Node* step : method.storage->steps()) {
      const StepNodes nodes = method.storage->nodes_of(*step);
      steps.insert(nodes.begin(), nodes.end());
      if (nodes.size() < 2) continue;
      together.insert(nodes.begin(), nodes.end());
      RowBlock block = *block_of(nodes);
      block.more_instructions = price_of(
          block,
          [this](const auto& node, const auto& product) { return variant_of(node, product); },
          options_.target);
      blocks_.emplace(step, std::move(block));
    }
    for (Node* node : method.graph->node_pointers()) {
      const bool is_ours = steps.count(node) != 0 && user_kernel(*node) == nullptr;
      const auto product = is_ours ? int8_product(*node) : std::nullopt;
      if (!product.has_value()) continue;
      KernelChoice choice;
      choice.product = *product;
      choice.variant =
          together.count(node) != 0 ? row_variant_of(*node, *product) : variant_of(*node, *product);
      choice.variants = variants_for(*node, *product);  // reads weights that are not packed yet
      if (choice.variant->packing != Packing::kAsStored) pack(*method.graph, node, &choice);
      choices_.emplace(node, std::move(choice));
    }
  }
  return absl::OkStatus();
}

const KernelChoice* KernelChoices::find(const Node* node) const {
  const auto found = choices_.find(node);
  return found == choices_.end() ? nullptr : &found->second;
}

const RowBlock* KernelChoices::find_block(const Node* last) const {
  const auto found = blocks_.find(last);
  return found == blocks_.end() ? nullptr : &found->second;
}

}  // namespace petrel::exir::emit_c
