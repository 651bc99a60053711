// SPDX-License-Identifier: Apache-2.0
//
// Methods in text IR, compiled to files in memory, with or without a backend.
// Constants have values that follow from their names; inputs, from a number.
#ifndef PETREL_TEST_CONFORMANCE_COMPILED_H_
#define PETREL_TEST_CONFORMANCE_COMPILED_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/backend/backend_selection.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/backend/weight_routes.h"
#include "exir/ir/program.h"
#include "exir/partition/partition.h"

namespace petrel::conformance {

// By destination, "" the program.
using Files = std::map<std::string, std::string>;
using Elements = std::vector<float>;

// One partition as the runtime's half gets it.
struct CompiledPartition {
  std::string method;
  std::vector<uint8_t> payload;
  std::vector<exir::CompileSpec> compile_specs;
  std::vector<exir::TensorType> inputs;
  std::vector<exir::TensorType> outputs;
};

struct Compiled {
  Files files;
  exir::RoutedBlobStore store;  // as the backends left it
  exir::PartitionReport report;
  // Methods by name, partitions in the order of their nodes.
  std::vector<CompiledPartition> partitions;
  std::vector<exir::TensorType> inputs;  // of method "forward", if there is one

  size_t delegated_nodes() const;
};

using Methods = std::map<std::string, std::string>;

// The program before any backend. Constants of one name have other values in another
// `edition`, as the weights of a model that was trained again.
absl::StatusOr<exir::Program> parse_program(const Methods& methods,
                                            const std::string& edition = "");

// Routes of all data into one file.
exir::WeightRoutes all_to(const std::string& file);

// `routes` say where weights go and what they are called.
absl::StatusOr<Compiled> compile(const Methods& methods, const exir::BackendSelection& backends,
                                 const exir::WeightRoutes& routes = {},
                                 const std::string& edition = "");

// The values of constant `name`, in [-1, 1].
Elements constant_elements(const std::string& name, size_t count);

// Inputs of the types, all different for different `seed`s.
std::vector<Elements> make_inputs(const std::vector<exir::TensorType>& types, uint32_t seed);

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_COMPILED_H_
