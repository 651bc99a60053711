// SPDX-License-Identifier: Apache-2.0
//
// Which variant of its kernel each node of a planned program has. Before planning a variant tells
// the scratch of its node; after it, constants get the form that variants read, and values
// the layout that they are fast with.
//
//   KernelChoices kernels(options);
//   memory.scratch_of = [&](const Node& node) { return kernels.scratch_bytes(node); };
//   PETREL_ASSIGN_OR_RETURN(PlannedProgram planned, plan_program(...));
//   PETREL_RETURN_IF_ERROR(kernels.prepare(&planned));
//   kernels.find(&node)->variant->name;       "im2col-smlad"
//
// Refers to nodes and values of the planned program.
#ifndef PETREL_EXIR_EMIT_C_KERNEL_CHOICES_H_
#define PETREL_EXIR_EMIT_C_KERNEL_CHOICES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/kernel_options.h"
#include "exir/emit_c/kernel_variants.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

struct KernelChoice {
  Int8Product product;  // as it was before its constants were packed; sizes only
  const VariantRow* variant = nullptr;
  bool is_near = false;  // shifts are less kNearShift
};

class KernelChoices {
 public:
  explicit KernelChoices(const KernelOptions& options) : options_(options) {}

  // What the kernel of a node needs while it runs.
  int64_t scratch_bytes(const Node& node) const;

  // Packs constants and lays out values, once. InvalidArgument for a rule that names no node or
  // variant, a variant that does not fit its node, and an input or output that cannot lie with
  // channels innermost.
  absl::Status prepare(PlannedProgram* planned);

  // The function of the user that a node calls; null for others.
  const UserKernel* user_kernel(const Node& node) const;
  const std::vector<UserKernel>& user_kernels() const { return options_.user; }
  // Null for nodes whose operator has no variants.
  const KernelChoice* find(const Node* node) const;
  // An input or output whose layout is not that of the program.
  bool is_laid_out(const Value* value) const { return laid_out_.count(value) != 0; }
  Target target() const { return options_.target; }

 private:
  const VariantRow* variant_of(const Node& node, const Int8Product& product) const;
  const UserKernel* find_user(const std::string& symbol) const;
  absl::Status check_rules(const PlannedProgram& planned) const;
  absl::Status check_user_rule(const ForcedKernel& rule, const PlannedProgram& planned) const;
  void pack(Graph& graph, Node* node, KernelChoice* choice);

  KernelOptions options_;
  std::map<const Node*, KernelChoice> choices_;
  std::set<const Value*> laid_out_;
  std::map<std::string, ConstantPtr> packed_;  // by name
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_CHOICES_H_
