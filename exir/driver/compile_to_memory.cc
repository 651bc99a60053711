// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/compile_to_memory.h"

#include "exir/backend/routed_blob_store.h"
#include "exir/driver/compile.h"
#include "exir/emit/emit.h"
#include "exir/status_macros.h"

namespace petrel::exir {

absl::StatusOr<std::string> compile_to_memory(const ExportOptions& options,
                                              std::vector<ConstantPtr>* constants) {
  ExportOptions kernels = options;
  kernels.backends = {};
  ExportReport report;
  Phases phases(kernels, &report);
  RoutedBlobStore store;
  PETREL_ASSIGN_OR_RETURN(const Program program, compile_program(kernels, phases, report, store));
  for (const auto& [name, method] : program.methods) {
    if (constants == nullptr) break;
    for (const Value* value : method.graph->constants()) constants->push_back(value->constant());
  }
  return emit_to_memory(program);
}

}  // namespace petrel::exir
