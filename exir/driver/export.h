// SPDX-License-Identifier: Apache-2.0
//
// The whole compiler as one call: archives in, files out. Nothing is left at
// the output paths unless everything succeeded (temporary files are renamed at
// the end).
//
//   import -> passes -> lower to backend -> passes -> plan -> emit
//
//   ExportOptions options;
//   options.methods["forward"] = "model.pt2";
//   options.output = "model.pte";
//   options.external_weights = "model.ptd";
//   options.backends.for_all = {{xnnpack_backend()}};  // none: kernels only
//   PETREL_ASSIGN_OR_RETURN(ExportReport report, export_program(options));
#ifndef PETREL_EXIR_DRIVER_EXPORT_H_
#define PETREL_EXIR_DRIVER_EXPORT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/backend/backend_selection.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/backend/weight_ledger.h"
#include "exir/backend/weight_routes.h"
#include "exir/emit/emit.h"
#include "exir/memory/order_operators.h"
#include "exir/partition/partition.h"
#include "exir/pass/pipeline.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/integer_border.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

// Weights whose names match `glob` go to the `.ptd` at `path`.
struct ExternalFile {
  std::string glob;
  std::string path;
};

struct ExportOptions {
  std::map<std::string, std::string> methods;  // method -> path of its `.pt2`
  std::string output;                          // path of the `.pte`
  // Path of a `.ptd`; when not empty all weights go there that `external` says
  // nothing of, and the file is written even if there are none. Other files
  // that a backend asks for are put beside `output`.
  std::string external_weights;
  // The first that matches counts; each must match something.
  std::vector<ExternalFile> external;
  // Replace files that a backend asks for and that are there with other contents,
  // which may be those of another export; else they are an error.
  bool replace_data = false;
  // Cut external files so that none is larger; 0 is no limit.
  uint64_t shard_bytes = 0;
  // kName: other weights can be given to the program (docs/data.md).
  WeightKeys weight_keys = WeightKeys::kContent;
  // Remember the digests of what goes to external files: the program then runs
  // with these very bytes only.
  bool bind_data = false;
  // What the program remembers of how it was made, for whoever makes other
  // weights for it; under kName.
  std::vector<std::string> recipe;
  // NAME=N: upper bounds for sizes that have none in the archives (exir/import/size_limits.h).
  std::vector<std::string> max_sizes;
  BackendSelection backends;
  // How to compute with integers (exir/quantize): a record, or the path of one. Null and
  // empty: as the archive says.
  std::shared_ptr<const QuantizationRecord> quantization;
  std::string quantization_file;
  // Inputs and outputs that are integers where the program quantises them
  // (exir/quantize/integer_border.h). None: they are as the archive has them.
  std::vector<std::string> io_dtype;
  // Compute with integers alone (exir/integer), or fail; no backend gets anything then.
  bool integers = false;
  // Sees the files before they are where they belong, by the paths that were asked for,
  // each with the path where it is now. An error of it leaves nothing.
  std::function<absl::Status(const std::map<std::string, std::string>& written)> before_publishing;
  // Where to write `quantization`, with the program or not at all; "" for nowhere.
  std::string quantization_output;
  // Texts about the program, published with it or not at all: paths, and what makes the
  // text of one of them when `before_publishing` has been called.
  std::vector<std::string> text_outputs;
  std::function<absl::StatusOr<std::string>(const std::string& path)> make_text;
  // Files that were read to make these options, which no output may replace.
  std::vector<std::string> other_inputs;
  plan::Options planning;
  // Memories for activations as --pool describes them (exir/plan/formats/memory_pool.h),
  // preferred ones first: each is an arena of the program. None: one arena without a limit.
  std::vector<std::string> pools;
  std::vector<std::string> pins;  // GLOB=POOL for values; the first that matches counts
  // Refuse methods whose arenas have more bytes in all; 0 is no limit.
  uint64_t max_arena_bytes = 0;
  // Run operators in the order that needs least memory, as far as that can be
  // found in a few seconds.
  bool reorder = false;
  // Operators of this project may be emitted (petrel::attention): faster, but
  // only its own runtime runs the file.
  bool allow_petrel_ops = false;
  // Kernels of the runtime that the program is for; not set: all of them.
  HasKernelFn has_kernel;
  // Programs that call other kernels are an error without this.
  bool allow_missing_kernels = false;
  std::string dump_after;  // a pass name, "all", or "" for none
  DumpFn dump;
  // Sees the archives as they were read. (optional)
  std::function<void(const Program&)> on_imported;
  // Called at the start of each phase, for progress lines. (optional)
  std::function<void(const std::string& phase)> on_phase;
};

struct ExportReport {
  std::vector<std::pair<std::string, double>> phase_seconds;
  PartitionReport partition;
  // With a record: nodes of f32 that do not compute with integers, by method.
  std::map<std::string, std::vector<LeftFloat>> left_float;
  std::shared_ptr<const QuantizationRecord> quantization;  // that was replayed
  BorderByMethod borders;                                  // with `io_dtype` only
  std::map<std::string, OrderReport> order;                // by method; with `reorder` only
  EmitReport emit;
  // Kernel calls left per method: operator -> count.
  std::map<std::string, std::map<std::string, size_t>> kernels;
  Sha256 structure = {};             // under kName
  uint64_t weight_bytes = 0;         // written
  uint64_t shared_weight_bytes = 0;  // asked for again and not written again
  std::vector<WeightsElsewhere> weights_elsewhere;
  // Weights that nobody can replace, because of their backends; under kContent, those
  // that a rule was to send to a file.
  std::vector<BypassedWeight> bypassed_weights;
};

// The weights of a program that was not written.
struct CompiledWeights {
  Sha256 structure = {};  // exir/driver/structure.h
  WeightLedger ledger;
  std::vector<BypassedWeight> bypassed;
};

// Compiles as export_program() does and writes nothing; under kName. Paths of
// outputs are not used.
absl::StatusOr<CompiledWeights> compile_weights(const ExportOptions& options);

// What export_program() refuses before it begins: options that contradict each other,
// outputs that would replace what is read, folders that take no files.
absl::Status check_options(const ExportOptions& options);

// Errors say which file, method and node they are about. InvalidArgument for
// options that contradict each other or name an unknown pass.
absl::StatusOr<ExportReport> export_program(const ExportOptions& options);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_EXPORT_H_
