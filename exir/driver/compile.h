// SPDX-License-Identifier: Apache-2.0
//
// What every emitter starts with: archives in, a program out that kernels and backends
// execute, the same one whatever it is written as.
//
//   import -> passes -> quantize -> lower to backend -> passes -> order
//
//   Phases phases(options, &report);
//   PETREL_ASSIGN_OR_RETURN(const Program program,
//                           compile_program(options, phases, report, store));
#ifndef PETREL_EXIR_DRIVER_COMPILE_H_
#define PETREL_EXIR_DRIVER_COMPILE_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/driver/export.h"
#include "exir/ir/program.h"
#include "exir/memory/planned_program.h"
#include "exir/quantize/integer_roles.h"

namespace petrel::exir {

// Takes the time of each phase.
class Phases {
 public:
  Phases(const ExportOptions& options, ExportReport* report) : options_(options), report_(report) {}

  template <typename Work>
  absl::Status run(const std::string& name, Work work) {
    if (options_.on_phase) options_.on_phase(name);
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status status = work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    report_->phase_seconds.emplace_back(name, took.count());
    return status;
  }

 private:
  const ExportOptions& options_;
  ExportReport* report_;
};

// The first half of it: archives after the passes that backends want to see, in floats
// where the archives are. Floats of 16 bits become f32 where that is what comes next takes:
// bfloat16 for backends, both for quantising.
absl::StatusOr<Program> optimize_program(const ExportOptions& options, Phases& phases,
                                         bool quantises);

// The passes that leave nothing but calls of kernels and delegates.
absl::Status legalize_program(Program& program, const ExportOptions& options);

// Of the options those that say what is compiled and how; weights for delegates go to
// `store`.
absl::StatusOr<Program> compile_program(const ExportOptions& options, Phases& phases,
                                        ExportReport& report, RoutedBlobStore& store);

// Who computes with the integers of a record.
QuantTarget target_of(const ExportOptions& options);

// InvalidArgument naming the passes when there is none of that name; "" and "all" pass.
absl::Status check_pass_name(const std::string& name);

// A device has this much and no more, so a larger program must not be written. 0 is no
// limit.
absl::Status check_arenas(const PlannedProgram& planned, uint64_t limit);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_COMPILE_H_
