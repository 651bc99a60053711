// SPDX-License-Identifier: Apache-2.0
//
// Who reads and writes the memory of each value: the processor that runs kernels, called "c",
// and the devices of backends, by the word that Backend::target() says.
//
//   relu(%x) -> %y        processor: "c"
//   delegate(%y) -> %z    device: "npu"      %x {"c"}, %y {"c", "npu"}, %z {"c", "npu"}: an output
//
// Invariant: inputs, outputs and state are the processor's too, which fills and reads them.
#ifndef PETREL_EXIR_MEMORY_REACH_H_
#define PETREL_EXIR_MEMORY_REACH_H_

#include <map>
#include <set>
#include <string>

#include "exir/ir/graph.h"
#include "exir/memory/storage.h"

namespace petrel::exir {

inline constexpr char kProcessor[] = "c";

// Of a step: of the backend that it is delegated to, or kProcessor.
std::string target_of(const Node& node);

// By root.
std::map<const Value*, std::set<std::string>> targets_of(const Graph& graph,
                                                         const Storage& storage);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_REACH_H_
