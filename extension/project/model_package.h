// SPDX-License-Identifier: Apache-2.0
//
// A folder that `petrel gen-c` wrote, as far as firmware and its runs need it: what
// manifest.json says.
//
//   PETREL_ASSIGN_OR_RETURN(const ModelPackage package, ModelPackage::read("kws_c"));
//   package.methods[0].inputs[0].bytes   490
//
// Invariant: names of files and C names hold letters, digits, '_' and '.' only, so that they
// may stand in a Makefile. Owns all that it holds.
#ifndef PETREL_EXTENSION_PROJECT_MODEL_PACKAGE_H_
#define PETREL_EXTENSION_PROJECT_MODEL_PACKAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/core/scalar_type.h"

namespace petrel::extension {

struct PackageTensor {
  std::string name;
  std::string c_name = "";  // in C
  runtime::ScalarType type = runtime::ScalarType::Float;
  std::vector<int32_t> sizes;  // the largest, where they vary
  std::vector<uint8_t> dim_order;
  int64_t bytes = 0;
  bool varies = false;
  // What integers stand for: scale * (level - zero_point); 0 where nothing is said.
  double scale = 0;
  int32_t zero_point = 0;
};

// A step whose kernel has variants.
struct PackageKernel {
  std::string node;
  std::string step;                   // "op3_int8_convolution"
  std::string product;                // what it computes
  std::vector<std::string> variants;  // the one that the target takes first
};

struct PackageMethod {
  std::string name;
  std::vector<PackageTensor> inputs;
  std::vector<PackageTensor> outputs;
  std::vector<PackageKernel> kernels;
  int64_t io_bytes = 0;
};

struct PackageMemory {
  std::string name;
  int64_t bytes = 0;
  int64_t align = 16;
  bool is_pool = false;  // NAME_static_pools() has it
  std::string section;   // of the linker; "": its own choice
};

struct ModelPackage {
  std::string name;
  std::string sha256;
  std::vector<std::string> sources;
  std::vector<PackageMemory> memories;
  std::vector<PackageMemory> constant_pools;  // for a part of the constants
  std::vector<PackageMethod> methods;
  int64_t constant_bytes = 0;
  bool has_pools = false;     // NAME_static_pools()
  bool caller_io = false;     // inputs and outputs have no place in the memories
  bool has_plan = false;      // NAME_get_plan()
  bool has_external = false;  // the application sets pointers of parameters
  bool has_devices = false;   // drivers of which may wait asleep

  int64_t memory_bytes() const;  // of all memories, and of inputs and outputs that have no place
  int64_t io_bytes() const;      // room for inputs and outputs that have no place, each aligned
  static absl::StatusOr<ModelPackage> read(const std::string& folder);
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_MODEL_PACKAGE_H_
