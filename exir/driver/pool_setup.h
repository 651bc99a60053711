// SPDX-License-Identifier: Apache-2.0
//
// The memories that a user describes, in the terms of those who plan and of those who
// write C. Each rule must match something.
//
//   PETREL_RETURN_IF_ERROR(check_pools(options));
//   PoolSetup setup(options);
//   plan_to_emit(program, routes, planning, setup.planned());
//   emit_c(planned, setup.emitted(), ...);
//   PETREL_RETURN_IF_ERROR(setup.check_rules());
//
// What it hands out refers to it.
#ifndef PETREL_EXIR_DRIVER_POOL_SETUP_H_
#define PETREL_EXIR_DRIVER_POOL_SETUP_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/driver/generate.h"
#include "exir/driver/pool_rules.h"
#include "exir/emit_c/memories.h"
#include "exir/ir/program.h"
#include "exir/memory/pools.h"
#include "exir/quantize/integer_border.h"

namespace petrel::exir {

class PoolSetup {
 public:
  // Precondition: check_pools(options).
  explicit PoolSetup(const GenerateOptions& options);
  PoolSetup(const PoolSetup&) = delete;
  PoolSetup& operator=(const PoolSetup&) = delete;

  // Reads the manifests of packages that share pools with this one.
  absl::Status read_group(const std::vector<std::string>& manifests);

  // Notes which parameters, inputs and outputs the archives have.
  void read_archives(const Program& program);

  // What backends have stored beside their payloads.
  void note_blobs(const RoutedBlobStore& store);

  // What integers at borders stand for.
  void note_levels(const BorderByMethod& borders);

  // Variants of kernels, which must outlive what is emitted.
  void use_kernels(const emit_c::KernelChoices& kernels) { emitted_.kernels = &kernels; }

  const MemoryPools& planned() const { return planned_; }
  const emit_c::CPools& emitted() const { return emitted_; }

  // InvalidArgument for a rule that nothing matched; after planning and emitting.
  absl::Status check_rules() const;

 private:
  // A rule with its pool as an index, and whether it has matched.
  struct Rule {
    PoolRule given;
    size_t pool = 0;
    bool matched = false;
  };

  MemoryPools planned_;
  emit_c::CPools emitted_;
  emit_c::ParameterChoice choice_of(const std::string& name);

  Parameters other_parameters_;
  std::optional<Pins> pins_;
  std::set<std::string> borrowed_;  // inputs and outputs that have no place in a pool
  std::vector<Rule> parameters_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_POOL_SETUP_H_
