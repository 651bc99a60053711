// SPDX-License-Identifier: Apache-2.0
//
// The compiler with C as its output: archives in, the files of a package out. The folder
// gets all of them or none.
//
//   GenerateOptions options;
//   options.program.methods["forward"] = "kws.pt2";
//   options.folder = "out";
//   options.name = "kws";
//   PETREL_ASSIGN_OR_RETURN(GenerateReport report, generate_c(options));
#ifndef PETREL_EXIR_DRIVER_GENERATE_H_
#define PETREL_EXIR_DRIVER_GENERATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/driver/export.h"
#include "exir/driver/pool_rules.h"
#include "exir/emit_c/kernel_options.h"
#include "exir/plan/formats/memory_pool.h"

namespace petrel::exir {

// What the C compiler of the machine, $CC or cc, makes of the files besides.
enum class Compile {
  kNothing,
  kObject,         // NAME.o
  kSharedLibrary,  // libNAME.so, which extension/compiled opens
};

// What becomes of parameters that no rule of theirs matches.
enum class Parameters {
  kLinked,    // symbols where the compiler puts them
  kPool,      // symbols in the read-only pools, the first one with room below what it prefers
  kExternal,  // not part of the files: the application sets pointers
};

// How parameters are written: as text up to 1 MiB, as text, or as bytes that GNU as includes.
enum class ConstantFiles { kAuto, kText, kIncbin };

struct GenerateOptions {
  // What is compiled, delegated and planned, and how; outputs are not used.
  ExportOptions program;
  std::string folder;  // made when it is not there
  std::string name;    // begins the names of files and symbols
  // Memories for activations (read-write) and parameters (read-only), preferred ones
  // first; none: one arena, and parameters where the compiler puts them.
  std::vector<plan::MemoryPool> pools;
  std::vector<PoolRule> pins;  // of values
  // Pools of parameters; "linked" and "external" say what Parameters does. A read-write
  // pool is for parameters alone, which are loaded there before they are used.
  std::vector<PoolRule> parameters;
  Parameters other_parameters = Parameters::kLinked;
  ConstantFiles constants = ConstantFiles::kAuto;
  // Convolutions and products of floats are summed in floats, near the reference kernels.
  bool fast_math = false;
  // Which variants kernels of integers have, and how inputs and outputs lie.
  emit_c::KernelOptions kernels;
  Compile compile = Compile::kNothing;
  // Also NAME_plan.c and the C with which a host runs the model on a device.
  bool device_rpc = false;
  // Models run by functions with their names alone, and not by the struct of all models too.
  bool direct_alone = false;
  // Inputs and outputs have no place in the memory of the model.
  bool caller_io = false;
  // manifest.json of other packages that share its pools.
  std::vector<std::string> group;
  // Also one archive of all that (exir/archive/device_archive.h); "": none.
  std::string package_file;
  std::string version;          // of who writes it
  bool group_together = false;  // they are alive at one time, so each has its part
};

struct GenerateReport {
  std::map<std::string, size_t> file_bytes;  // by name in the folder, or path of the archive
  std::vector<std::string> notes;            // what a user should know of them
};

// InvalidArgument for a name that C cannot have, or whose files would hide headers of C; known
// before anything is compiled.
absl::Status check_package_name(const std::string& name);

// InvalidArgument for pools and rules that cannot be, known before anything is compiled.
absl::Status check_pools(const GenerateOptions& options);

// Unimplemented lists every node that cannot be C yet, with its source line; nothing is
// written then, nor when the C compiler fails.
absl::StatusOr<GenerateReport> generate_c(const GenerateOptions& options);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_GENERATE_H_
