// SPDX-License-Identifier: Apache-2.0
//
// Partitions of backends in generated C: who runs each, its payload and the named blobs as
// parameters of the package, and the steps that call them.
//
//   PETREL_ASSIGN_OR_RETURN(const DelegateIndex index, add_delegates(planned, &names, &package));
//   package.delegates[index.at(node)].functions   "null_npu": a driver of the application
//
// A value that processor and device both use, in memory that the processor caches, is flushed
// before the device reads it and prefetched before the processor does (ProcessorUse).
#ifndef PETREL_EXIR_EMIT_C_DELEGATES_H_
#define PETREL_EXIR_EMIT_C_DELEGATES_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/package.h"
#include "exir/emit_c/places.h"

namespace petrel::exir::emit_c {

using DelegateIndex = std::map<const Node*, size_t>;

// Unimplemented where a backend has nothing for C.
absl::StatusOr<DelegateIndex> add_delegates(const PlannedProgram& planned, Names* parameter_names,
                                            Package* package);

// Which values, by root, the processor writes and reads, and not devices alone.
struct ProcessorUse {
  explicit ProcessorUse(const PlannedMethod& method);
  std::set<const Value*> written, read;
};

// Without what its function takes. InvalidArgument where the device does not reach state.
absl::StatusOr<CStep> make_delegate_step(const Node& node, size_t delegate, const Places& places,
                                         const ProcessorUse& use, const PlannedMethod& planned,
                                         const std::string& number, const Package& package);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_DELEGATES_H_
