// SPDX-License-Identifier: Apache-2.0
//
// Which variant of its kernel each node of a planned program has. Before planning values get the
// layout that variants are fast with, and a variant tells the scratch of its node and which bytes
// it may share; after it, constants get the form that variants read.
//
//   KernelChoices kernels(options);
//   memory.kernels = &kernels;
//   PETREL_ASSIGN_OR_RETURN(PlannedProgram planned, plan_program(...));
//   PETREL_RETURN_IF_ERROR(kernels.prepare(&planned));
//   kernels.find(&node)->variant->name;       "im2col-smlad"
//
// Refers to nodes and values of the planned program.
#ifndef PETREL_EXIR_EMIT_C_KERNEL_CHOICES_H_
#define PETREL_EXIR_EMIT_C_KERNEL_CHOICES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/kernel_options.h"
#include "exir/emit_c/kernel_variants.h"
#include "exir/emit_c/row_block.h"
#include "exir/memory/planned_program.h"
#include "exir/memory/step_kernels.h"

namespace petrel::exir::emit_c {

struct KernelChoice {
  Int8Product product;  // as it was before its constants were packed; sizes only
  const VariantRow* variant = nullptr;
  // Names of those that the node may have, the one that the target takes first; one only where a
  // rule forces it.
  std::vector<std::string> variants;
  bool is_near = false;  // shifts are less kNearShift
};

class KernelChoices : public StepKernels {
 public:
  explicit KernelChoices(const KernelOptions& options) : options_(options) {}

  absl::Status lay_out(PlannedMethod* method) override;
  int64_t scratch_bytes(const StepNodes& nodes) const override;
  std::optional<SharedBytes> shared_bytes(const StepNodes& nodes,
                                          const Value* operand) const override;
  absl::Status check_shared(const StepNodes& nodes, const Value* operand,
                            int64_t lead) const override;
  std::vector<StepNodes> blocks_of(const Node& last) const override;

  // Packs constants and lays out values, once. InvalidArgument for a rule that names no node or
  // variant, a variant that does not fit its node, what was tuned for another model, and an input
  // or output that cannot lie with channels innermost.
  absl::Status prepare(PlannedProgram* planned);

  // The function of the user that a node calls; null for others.
  const UserKernel* user_kernel(const Node& node) const;
  const std::vector<UserKernel>& user_kernels() const { return options_.user; }
  const std::vector<std::string>& user_flags() const { return options_.user_flags; }
  // Null for nodes whose operator has no variants.
  const KernelChoice* find(const Node* node) const;
  // An input or output whose layout is not that of the program.
  bool is_laid_out(const Value* value) const { return laid_out_.count(value) != 0; }
  Target target() const { return options_.target; }
  // The nodes that run together with `last`, which comes last; null for one that runs alone.
  const RowBlock* find_block(const Node* last) const;

 private:
  const VariantRow* variant_of(const Node& node, const Int8Product& product) const;
  // Where it runs row by row, with others; null: it cannot.
  const VariantRow* row_variant_of(const Node& node, const Int8Product& product) const;
  std::optional<RowBlock> block_of(const StepNodes& nodes) const;
  // What a step does with `operand` and its result; nullopt where nobody knows.
  std::optional<Accesses> accesses_of_step(const StepNodes& nodes, const Value* operand) const;
  // Four channels of all rows come before the next four.
  bool goes_by_channels(const StepNodes& nodes) const;
  // That of its product, or else of its name.
  std::vector<std::string> variants_for(const Node& node, const Int8Product& product) const;
  const TunedKernel* find_tuned(const Node& node, const Int8Product& product) const;
  bool is_forced(const Node& node) const;
  const UserKernel* find_user(const std::string& symbol) const;
  absl::Status check_rules(const PlannedProgram& planned) const;
  absl::Status check_tuned(const PlannedProgram& planned) const;
  absl::Status check_user_rule(const ForcedKernel& rule, const PlannedProgram& planned) const;
  void pack(Graph& graph, Node* node, KernelChoice* choice);

  KernelOptions options_;
  std::map<const Node*, KernelChoice> choices_;
  std::map<const Node*, RowBlock> blocks_;  // by the last node
  std::set<const Value*> laid_out_;
  std::map<const Node*, int64_t> positions_;  // in the graph that was laid out last
  mutable std::map<std::pair<StepNodes, const Value*>, std::optional<SharedBytes>> shared_;
  std::map<std::string, ConstantPtr> packed_;  // by name
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_CHOICES_H_
