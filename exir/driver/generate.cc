// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/generate.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "exir/archive/device_archive.h"
#include "exir/compile_c/compile_c.h"
#include "exir/driver/compile.h"
#include "exir/driver/earlier_files.h"
#include "exir/driver/pool_setup.h"
#include "exir/emit/emit.h"
#include "exir/emit/number_outputs.h"
#include "exir/emit_c/border_order.h"
#include "exir/emit_c/emit_c.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/kernel_costs.h"
#include "exir/emit_c/method_sizes.h"
#include "exir/fold/evaluate.h"
#include "exir/memory/shortage.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::exir {
namespace {

namespace fs = std::filesystem;

// Elements that are exact in every type: floats in [-2, 2) in steps of 1/128, a third of
// bools true, any of 8 bits, and one number for all other integers, which may be indices.
template <typename T>
void fill(uint32_t* seed, std::vector<uint8_t>* bytes) {
  auto* elements = reinterpret_cast<T*>(bytes->data());
  for (size_t i = 0; i < bytes->size() / sizeof(T); ++i) {
    *seed = *seed * 1664525u + 1013904223u;
    elements[i] = static_cast<T>((static_cast<int>(*seed >> 16 & 511) - 256) / 128.0);
  }
}

template <uint16_t (*kBits)(float)>
void fill_narrow(uint32_t* seed, std::vector<uint8_t>* bytes) {
  std::vector<uint8_t> floats(2 * bytes->size());
  fill<float>(seed, &floats);
  for (size_t i = 0; i < bytes->size() / 2; ++i) {
    reinterpret_cast<uint16_t*>(bytes->data())[i] =
        kBits(reinterpret_cast<const float*>(floats.data())[i]);
  }
}

void fill_bytes(uint32_t* seed, std::vector<uint8_t>* bytes) {
  for (uint8_t& byte : *bytes) {
    *seed = *seed * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(*seed >> 16);
  }
}

Blob given_input(const TensorType& type, uint8_t integer, uint32_t* seed) {
  std::vector<uint8_t> bytes(static_cast<size_t>(type.nbytes()));
  if (type.dtype == ScalarType::kChar || type.dtype == ScalarType::kByte) {
    fill_bytes(seed, &bytes);
  } else if (is_integral(type.dtype)) {
    for (size_t i = 0; i < bytes.size(); i += item_size(type.dtype)) bytes[i] = integer;
  }
  if (type.dtype == ScalarType::kFloat) fill<float>(seed, &bytes);
  if (type.dtype == ScalarType::kDouble) fill<double>(seed, &bytes);
  if (type.dtype == ScalarType::kHalf) fill_narrow<runtime::half_bits>(seed, &bytes);
  if (type.dtype == ScalarType::kBFloat16) fill_narrow<runtime::bfloat16_bits>(seed, &bytes);
  if (type.dtype == ScalarType::kBool) {
    for (size_t i = 0; i < bytes.size(); i += 3) bytes[i] = 1;
  }
  return Blob::owned(std::move(bytes));
}

// The first call of a method, computed by the interpreter: inputs become constants.
absl::StatusOr<emit_c::GoldenCall> golden_call(const Graph& graph, uint8_t integer,
                                               uint64_t most_work) {
  emit_c::GoldenCall call;
  std::unique_ptr<Graph> fixed = graph.clone();
  uint32_t seed = 1;
  const std::vector<Value*> inputs = fixed->inputs();
  for (Value* input : inputs) {
    auto constant = std::make_shared<Constant>();
    constant->fqn = absl::StrCat("input ", input->name());
    constant->kind = Constant::Kind::kLiteral;
    const TensorType& type = input->tensor();
    constant->type = type.is_dynamic() ? type.at_sample(0) : type;
    constant->data = given_input(constant->type, integer, &seed);
    call.inputs.push_back(constant->data);
    fixed->replace_all_uses(input, fixed->add_constant(std::move(constant)));
    fixed->erase_input(input);
  }
  PETREL_ASSIGN_OR_RETURN(call.outputs, evaluate(std::move(fixed), most_work));
  return call;
}

// What integers are at first: 0, an index that is nearly always there, or the least number that
// a step may find in one.
uint8_t first_integer(const Graph& graph) {
  int64_t least = 0;
  const auto sizes = emit_c::find_sizes(graph);
  if (!sizes.ok()) return 0;
  for (const emit_c::MethodSize& size : *sizes) {
    if (size.finder != nullptr) least = std::max(least, size.range.low);
  }
  return static_cast<uint8_t>(std::min<int64_t>(least, 100));
}

// Rows may be counted from 1, or from an offset.
std::vector<emit_c::GoldenCall> golden_calls(const Program& program,
                                             std::vector<std::string>* notes) {
  std::vector<emit_c::GoldenCall> calls;
  const uint64_t most_work = kMostEvaluated / std::max<size_t>(program.methods.size(), 1);
  for (const auto& [name, method] : program.methods) {
    const uint8_t integer = first_integer(*method.graph);
    absl::StatusOr<emit_c::GoldenCall> call = golden_call(*method.graph, integer, most_work);
    const absl::Status first = call.status();
    const bool is_long = absl::IsResourceExhausted(first);
    for (uint8_t more = 1; more <= 2 && !call.ok() && !is_long; ++more) {
      call = golden_call(*method.graph, static_cast<uint8_t>(integer + more), most_work);
    }
    if (!call.ok()) {
      notes->push_back(
          absl::StrCat("method '", name, "' is not part of the self-test: ",
                       is_long ? "" : "it takes none of the inputs tried: ", first.message()));
      call = emit_c::GoldenCall{false, {}, {}};
    }
    calls.push_back(*std::move(call));
  }
  return calls;
}

bool is_delegated(const Program& program) {
  for (const auto& [name, method] : program.methods) {
    for (const Graph* graph : with_regions(*method.graph)) {
      for (const auto& node : graph->nodes()) {
        if (node->delegate() != nullptr) return true;
      }
    }
  }
  return false;
}

absl::StatusOr<Program> compile_for_c(const ExportOptions& options, Phases& phases,
                                      ExportReport& report, RoutedBlobStore& store) {
  PETREL_ASSIGN_OR_RETURN(Program program, compile_program(options, phases, report, store));
  add_known_numbers(program);
  return program;
}

// The interpreter has no devices, so it computes what is expected of them with kernels.
absl::StatusOr<std::vector<emit_c::GoldenCall>> golden_calls_of(const Program& program,
                                                                const ExportOptions& given,
                                                                std::vector<std::string>* notes) {
  if (!is_delegated(program)) return golden_calls(program, notes);
  ExportOptions undelegated = given;
  undelegated.backends = BackendSelection();
  undelegated.on_imported = nullptr;
  undelegated.on_phase = nullptr;
  ExportReport unused;
  Phases phases(undelegated, &unused);
  RoutedBlobStore store;
  PETREL_ASSIGN_OR_RETURN(const Program alone, compile_for_c(undelegated, phases, unused, store));
  return golden_calls(alone, notes);
}

// The folders that are missing on the way to `folder`, the deepest first.
std::vector<fs::path> missing_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path path = folder; !path.empty() && !fs::exists(path, ignored);
       path = path.parent_path()) {
    missing.push_back(path);
  }
  return missing;
}

// What the C compiler of this machine made is not for devices.
absl::StatusOr<std::string> archive_of(const GenerateOptions& options,
                                       const std::vector<emit_c::CFile>& files) {
  std::map<std::string, std::string> texts;
  for (const emit_c::CFile& file : files) {
    if (absl::EndsWith(file.name, ".so") || absl::EndsWith(file.name, ".o")) continue;
    std::string& text = texts[file.name];
    PETREL_RETURN_IF_ERROR(file.write([&](absl::Span<const uint8_t> bytes) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return absl::OkStatus();
    }));
  }
  return device_archive(options.name, texts, options.version);
}

// No file takes the place of one that was read.
absl::Status check_outputs(const GenerateOptions& options,
                           const std::vector<emit_c::CFile>& files) {
  std::vector<std::string> inputs = options.program.other_inputs;
  for (const auto& [method, archive] : options.program.methods) inputs.push_back(archive);
  inputs.push_back(options.program.quantization_file);
  inputs.insert(inputs.end(), options.group.begin(), options.group.end());
  std::vector<std::string> outputs = {options.package_file};
  for (const emit_c::CFile& file : files) outputs.push_back(fs::path(options.folder) / file.name);
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      if (output.empty() || input.empty()) continue;
      PETREL_RETURN_IF_ERROR(check_is_not(output, "a file that is read", input));
    }
  }
  return absl::OkStatus();
}

absl::Status publish_files(const GenerateOptions& options, const std::vector<emit_c::CFile>& files,
                           GenerateReport* report) {
  PETREL_RETURN_IF_ERROR(check_outputs(options, files));
  OutputFiles outputs;
  for (const emit_c::CFile& file : files) {
    PETREL_ASSIGN_OR_RETURN(const ByteSink sink,
                            outputs.open(fs::path(options.folder) / file.name));
    PETREL_RETURN_IF_ERROR(file.write(sink));
    report->file_bytes[file.name] = file.size();
  }
  if (!options.package_file.empty()) {
    PETREL_ASSIGN_OR_RETURN(const std::string bytes, archive_of(options, files));
    PETREL_ASSIGN_OR_RETURN(const ByteSink sink, outputs.open(options.package_file));
    PETREL_RETURN_IF_ERROR(sink({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
    report->file_bytes[options.package_file] = bytes.size();
  }
  return outputs.publish();
}

// The folder then has what this run wrote, and nothing of an earlier one.
absl::Status replace_files(const GenerateOptions& options, const std::vector<emit_c::CFile>& files,
                           GenerateReport* report) {
  const EarlierFiles earlier = EarlierFiles::read(options.folder, options.name);
  PETREL_RETURN_IF_ERROR(publish_files(options, files, report));
  std::set<std::string> written;
  for (const emit_c::CFile& file : files) written.insert(file.name);
  const std::vector<std::string> removed = earlier.remove_but(written);
  if (removed.empty()) return absl::OkStatus();
  report->notes.push_back(absl::StrCat(
      "removed from '", options.folder,
      "' what an earlier run wrote and this one did not: ", absl::StrJoin(removed, ", ")));
  return absl::OkStatus();
}

// A folder that was made for files that could not be written goes again.
absl::Status write_files(const GenerateOptions& options, const std::vector<emit_c::CFile>& files,
                         GenerateReport* report) {
  const std::string& folder = options.folder;
  const std::vector<fs::path> missing = missing_folders(folder);
  std::error_code failed;
  fs::create_directories(folder, failed);
  absl::Status status;
  if (failed) {
    status = absl::PermissionDeniedError(
        absl::StrCat("folder '", folder, "' cannot be made: ", failed.message()));
  } else {
    status = replace_files(options, files, report);
  }
  if (status.ok()) return status;
  for (const fs::path& made : missing) fs::remove(made, failed);  // only when it is empty
  return status;
}

absl::Status compile_files(const GenerateOptions& options, std::vector<emit_c::CFile>* files) {
  const emit_c::Target target = options.kernels.target;
  const CompileOptions how = {
      options.fast_math ? Contraction::kFused : Contraction::kNone, options.kernels.user_flags,
      target == emit_c::Target::kGeneric || target == emit_c::Target::kX86_64};
  PETREL_ASSIGN_OR_RETURN(emit_c::CFile made, options.compile == Compile::kObject
                                                  ? compile_object(options.name, *files, how)
                                                  : compile_library(options.name, *files, how));
  files->push_back(std::move(made));
  return absl::OkStatus();
}

// An archive of sources goes to build systems that have no place for what a user compiled.
absl::Status check_archive(const GenerateOptions& options) {
  if (options.package_file.empty()) return absl::OkStatus();
  if (!absl::EndsWith(options.package_file, ".zip")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--package '", options.package_file, "': must end in .zip"));
  }
  if (!options.kernels.user_flags.empty()) {
    return absl::InvalidArgumentError(
        "--package: --kernel-flag is for NAME.mk, NAME.cmake and "
        "--compile alone");
  }
  for (const emit_c::UserKernel& kernel : options.kernels.user) {
    if (!absl::EndsWith(kernel.file, ".a")) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--package: it holds sources, and --kernel-source '", kernel.file,
                     "' is compiled already"));
  }
  return absl::OkStatus();
}

// Options that mean something beside another one alone.
absl::Status check_companions(const GenerateOptions& options) {
  if (!options.kernels.user_flags.empty() && options.kernels.user.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--kernel-flag '", options.kernels.user_flags[0],
                                                   "': there is no --kernel-source to compile"));
  }
  if (options.group_together && options.group.empty()) {
    return absl::InvalidArgumentError("--group-mode together: there is no --group");
  }
  if (options.direct_alone && options.compile == Compile::kSharedLibrary) {
    return absl::InvalidArgumentError(
        "--interface direct excludes --compile so: modules are run by the packed convention");
  }
  if (options.direct_alone && options.device_rpc) {
    return absl::InvalidArgumentError(
        "--interface direct excludes --device-rpc: hosts run models by the packed convention");
  }
  if (options.name == "petrel" && options.device_rpc) {
    return absl::InvalidArgumentError(
        "--name petrel excludes --device-rpc: petrel_plan.h would be two files");
  }
  return absl::OkStatus();
}

// What runs row by row so that it fits, and what that costs.
void note_blocks(const PlannedProgram& planned, const emit_c::KernelChoices& kernels,
                 std::vector<std::string>* notes) {
  for (const PlannedMethod& method : planned.methods) {
    for (const Node* step : method.storage->steps()) {
      const emit_c::RowBlock* block = kernels.find_block(step);
      if (block == nullptr) continue;
      std::vector<std::string> names;
      for (const emit_c::RowStage& stage : block->stages) {
        names.push_back(stage.node->result()->name());
      }
      notes->push_back(absl::StrCat("method '", method.name, "': ", absl::StrJoin(names, ", "),
                                    " run together, row by row, to fit: ", block->ring_bytes,
                                    " bytes of rows between them, ",
                                    emit_c::price_text(*block, kernels.target())));
    }
  }
}

// What values lack, and parameters and state beside them: all of it, so that with that much more
// the model fits. An error that is about no memory comes first.
absl::Status all_shortages(std::vector<std::string> texts,
                           const std::vector<absl::Status>& statuses) {
  for (const absl::Status& status : statuses) {
    if (!status.ok() && !is_shortage(status)) return status;
    if (!status.ok()) texts.emplace_back(status.message());
  }
  if (texts.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrJoin(texts, "; "));
}

}  // namespace

absl::Status check_package_name(const std::string& name) {
  return emit_c::check_package_name(name);
}

absl::StatusOr<GenerateReport> generate_c(const GenerateOptions& options) {
  PETREL_RETURN_IF_ERROR(check_package_name(options.name));
  PETREL_RETURN_IF_ERROR(check_companions(options));
  PETREL_RETURN_IF_ERROR(check_archive(options));
  PETREL_RETURN_IF_ERROR(check_pools(options));
  PoolSetup pools(options);
  PETREL_RETURN_IF_ERROR(pools.read_group(options.group));
  ExportOptions given = options.program;
  given.on_imported = [&](const Program& program) { pools.read_archives(program); };
  if (given.methods.empty()) return absl::InvalidArgumentError("there is no method to generate");
  GenerateReport report;
  ExportReport compiled;
  Phases phases(given, &compiled);
  RoutedBlobStore store;
  PETREL_ASSIGN_OR_RETURN(const Program program, compile_for_c(given, phases, compiled, store));
  pools.note_levels(compiled.borders);
  emit_c::KernelOptions wanted = options.kernels;
  wanted.keeps_order = options.device_rpc;  // a host compares tensors of the plan with its own
  emit_c::KernelChoices kernels(wanted);
  pools.use_kernels(kernels);
  pools.note_blobs(store);
  std::vector<emit_c::CFile> files;
  PETREL_RETURN_IF_ERROR(phases.run("plan", [&]() -> absl::Status {
    MemoryPools memory = pools.planned();
    memory.kernels = &kernels;
    memory.most_bytes = static_cast<int64_t>(given.max_arena_bytes);
    std::vector<std::string> shortages;
    Program brought;
    if (wanted.channels_last_io) brought = emit_c::with_channels_innermost(program);
    PETREL_ASSIGN_OR_RETURN(PlannedProgram planned,
                            plan_to_emit(wanted.channels_last_io ? brought : program,
                                         store.routes(), given.planning, memory, &shortages));
    PETREL_RETURN_IF_ERROR(kernels.prepare(&planned));
    note_blocks(planned, kernels, &report.notes);
    const auto golden = [&]() -> absl::StatusOr<std::vector<emit_c::GoldenCall>> {
      PETREL_ASSIGN_OR_RETURN(auto calls, golden_calls_of(program, given, &report.notes));
      if (wanted.channels_last_io) emit_c::reorder_calls(program, brought, &calls);
      return calls;
    };
    auto emitted = emit_c::emit_c(planned, pools.emitted(), options.name, golden);
    PETREL_RETURN_IF_ERROR(all_shortages(
        std::move(shortages), {check_arenas(planned, given.max_arena_bytes), emitted.status()}));
    files = *std::move(emitted);
    return pools.check_rules();
  }));
  if (options.compile != Compile::kNothing) {
    PETREL_RETURN_IF_ERROR(phases.run("compile", [&] { return compile_files(options, &files); }));
  }
  PETREL_RETURN_IF_ERROR(phases.run("write", [&] { return write_files(options, files, &report); }));
  return report;
}

}  // namespace petrel::exir
