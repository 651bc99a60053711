// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/compile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "exir/annotate.h"
#include "exir/driver/structure.h"
#include "exir/import/import.h"
#include "exir/import/size_limits.h"
#include "exir/input/file_content.h"
#include "exir/integer/integer_graph.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/passes/share_state.h"
#include "exir/pass/pipeline.h"
#include "exir/plan/model/crowd.h"
#include "exir/quantize/expand_for_integers.h"
#include "exir/quantize/integer_border.h"
#include "exir/quantize/moved_levels.h"
#include "exir/quantize/signed_levels.h"
#include "exir/quantize/quantize_graph.h"
#include "exir/quantize/whole_ranges.h"
#include "exir/quantize/wide_graph.h"
#include "exir/status_macros.h"
#include "schema/method_limits.h"

namespace petrel::exir {
namespace {

// Enough for small graphs; some microseconds each.
constexpr int64_t kStatesOfOrders = 20'000;

absl::StatusOr<Program> import_all(const ExportOptions& options) {
  Program program;
  PETREL_ASSIGN_OR_RETURN(const SizeLimits limits, SizeLimits::read(options.max_sizes));
  for (const auto& [name, path] : options.methods) {
    if (name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the method of '", path, "' has no name"));
    }
    absl::StatusOr<Method> method = import_pt2(path, name, limits);
    if (!method.ok()) {
      return annotate(method.status(), absl::StrCat("method '", name, "'"));
    }
    // Said before passes take their time with them.
    if (const size_t outputs = method->graph->outputs().size(); outputs > schema::kMaxInputs) {
      return absl::InvalidArgumentError(absl::StrCat(
          "method '", name, "' has ", outputs, " outputs, must have at most ", schema::kMaxInputs));
    }
    program.methods[name] = *std::move(method);
  }
  PETREL_RETURN_IF_ERROR(limits.check());
  PETREL_RETURN_IF_ERROR(share_state(program));
  return program;
}

// What passes leave whole.
enum class Whole {
  kNothing,
  kForBackends,  // what a backend of the method wants so
  kForLevels,    // and what integers have forms for, or need as backends have it
};

// Names and levels in a record are then those of every export, whoever it is for.
bool is_whole_for_levels(const OpInfo& op) {
  return op.is(aten::convolution) || op.is(aten::relu6) || op.is(aten::pixel_shuffle) ||
         op.is(aten::pixel_unshuffle) || op.is(aten::scaled_dot_product_attention);
}

// Levels have forms for what it becomes, and records name those of images that volumes are pooled
// as.
bool is_apart_for_levels(const OpInfo& op) {
  return op.is(aten::prelu, aten::_prelu_kernel, aten::max_pool3d, aten::avg_pool3d,
               aten::layer_norm, aten::group_norm);
}

absl::Status transform(Program& program, absl::Span<const Pass> passes,
                       const ExportOptions& options, Whole whole) {
  for (auto& [name, method] : program.methods) {
    PassContext context;
    context.allow_petrel_ops = options.allow_petrel_ops;
    context.keep_weights = options.weight_keys == WeightKeys::kName;
    context.keep_whole = [&, &name = name](const OpInfo& op) {
      if (whole == Whole::kForLevels && is_whole_for_levels(op)) return true;
      if (whole == Whole::kForLevels && is_apart_for_levels(op)) return false;
      // Of volumes, too: their sums are rounded once.
      if (whole != Whole::kNothing && options.integers && op.is(aten::convolution)) return true;
      return whole != Whole::kNothing && options.backends.keeps(name, op);
    };
    Program one;
    one.methods[name] = std::move(method);
    const absl::Status status = run_passes(one, passes, context, options.dump_after, options.dump);
    method = std::move(one.methods[name]);
    PETREL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Kernels alone compute volumes by images, with integers. Backends have floats, or forms of their
// own.
absl::Status volumes_for_kernels(Program& program, const ExportOptions& options) {
  PassContext context;
  context.keep_weights = options.weight_keys == WeightKeys::kName;
  for (auto& [name, method] : program.methods) {
    if (!options.backends.of(name).empty()) continue;
    const absl::Status done = volumes_to_images(*method.graph, context);
    if (!done.ok()) return annotate(done, absl::StrCat("method '", name, "'"));
  }
  return absl::OkStatus();
}

// What was whole for its levels alone is no more: backends that do not want it so take what it
// becomes.
absl::Status take_apart(Program& program, const ExportOptions& options) {
  if (options.backends.empty() || options.integers) return absl::OkStatus();
  const absl::Span<const Pass> passes = passes_before_partitioning();
  const auto first = std::find_if(passes.begin(), passes.end(), [](const Pass& pass) {
    return std::string_view(pass.name) == "decompose";
  });
  const auto edits_of = [](const Program& all) {
    uint64_t edits = 0;
    for (const auto& [name, method] : all.methods) edits += method.graph->edits();
    return edits;
  };
  const uint64_t edits = edits_of(program);
  PETREL_RETURN_IF_ERROR(transform(program, {&*first, 1}, options, Whole::kForBackends));
  if (edits_of(program) == edits) return absl::OkStatus();
  return transform(program, passes.subspan(static_cast<size_t>(first - passes.begin()) + 1),
                   options, Whole::kForBackends);
}

absl::Status widen(Program& program, const ExportOptions& options, bool quantises) {
  if (quantises) {
    const MayWiden all = [](const std::string&, const Node&) { return true; };
    PETREL_RETURN_IF_ERROR(widen_floats(program, ScalarType::kHalf, all));
    return widen_floats(program, ScalarType::kBFloat16, all);
  }
  if (options.backends.empty()) return absl::OkStatus();
  const MayWiden kept = [&](const std::string& method, const Node& node) {
    return options.backends.keeps(method, node.op());
  };
  // Backends have half themselves, but for products of levels.
  const MayWiden of_levels = [&](const std::string& method, const Node& node) {
    return is_product_of_levels(node) && kept(method, node);
  };
  PETREL_RETURN_IF_ERROR(widen_levels(program, ScalarType::kHalf, kept));
  PETREL_RETURN_IF_ERROR(widen_floats(program, ScalarType::kHalf, of_levels));
  PETREL_RETURN_IF_ERROR(widen_levels(program, ScalarType::kBFloat16, kept));
  return widen_floats(program, ScalarType::kBFloat16, kept);
}

absl::StatusOr<QuantizationRecord> read_record(const std::string& path) {
  auto text = read_file_content(path, kMaxContentBytes);
  if (!text.ok()) return annotate(text.status(), path);
  auto record = parse_record(*text);
  if (!record.ok()) return annotate(record.status(), path);
  return record;
}

// What was chosen for one training cannot follow other weights.
absl::Status check_by_name(const QuantizationRecord& record, const ExportOptions& options) {
  if (options.weight_keys != WeightKeys::kName) return absl::OkStatus();
  for (const auto& [name, method] : record.methods) {
    if (method.shifts.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "method '", name, "': the record corrects the bias of '", method.shifts.begin()->first,
        "', which is for one training: it does not go with weights by name"));
  }
  if (record.roundings.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the record rounds '", record.roundings.begin()->first,
                   "' by least error, which is for one training: it does not go with weights by "
                   "name"));
}

absl::Status quantize(Program& program, const ExportOptions& options, ExportReport* report) {
  std::shared_ptr<const QuantizationRecord> record = options.quantization;
  if (record == nullptr) {
    PETREL_ASSIGN_OR_RETURN(QuantizationRecord read, read_record(options.quantization_file));
    record = std::make_shared<QuantizationRecord>(std::move(read));
  }
  PETREL_RETURN_IF_ERROR(check_by_name(*record, options));
  const QuantTarget target = target_of(options);
  if (target == QuantTarget::kIntegers) PETREL_RETURN_IF_ERROR(expand_for_integers(program));
  PETREL_ASSIGN_OR_RETURN(report->left_float, quantize_program(program, *record, target));
  report->quantization = std::move(record);
  for (const auto& [name, method] : program.methods) {
    const absl::Status valid = verify_graph(*method.graph);
    if (!valid.ok()) return annotate(valid, absl::StrCat("method '", name, "', quantised"));
  }
  return absl::OkStatus();
}

// What is quantised takes the form that backends take most of.
absl::Status fit_levels(Program& program, const BackendSelection& backends) {
  SignedConstants made;
  for (auto& [name, method] : program.methods) {
    sign_levels(*method.graph, made);
    const auto widened = take_whole_ranges(*method.graph);
    if (!widened.ok()) return annotate(widened.status(), absl::StrCat("method '", name, "'"));
    const auto is_taken = [&, &name = name](const Node& node) {
      const std::vector<BackendUse>& uses = backends.of(name);
      return std::any_of(uses.begin(), uses.end(), [&](const BackendUse& use) {
        return use.backend->partitioner().supports(node).supported;
      });
    };
    const auto moved = move_levels_as_they_are(*method.graph, is_taken);
    if (!moved.ok()) return annotate(moved.status(), absl::StrCat("method '", name, "'"));
  }
  return absl::OkStatus();
}

// Kernels find weights in a data file by their names, which are unique in an archive only:
// quantised by PT2E, all are called "_frozen_param0" and so on. Of those of one name that are not
// the same, the first method keeps it, and others have theirs behind an "@", where no pattern of
// names looks (exir/backend/weight_routes.h). State and what nobody names stay.
void tell_weights_apart(Program& program) {
  std::map<std::string, ConstantPtr> known;  // by name
  for (auto& [name, method] : program.methods) {
    Graph& graph = *method.graph;
    for (Value* value : graph.constants()) {
      const ConstantPtr constant = value->constant();
      if (constant->kind == Constant::Kind::kLiteral || constant->is_mutable()) continue;
      const auto [first, is_new] = known.emplace(constant->fqn, constant);
      const Constant& other = *first->second;
      if (is_new || &other == constant.get()) continue;
      if (other.type == constant->type && other.data.equals(constant->data)) continue;
      auto named = std::make_shared<Constant>(*constant);
      named->fqn = absl::StrCat(constant->fqn, "@", name);
      graph.replace_all_uses(value, graph.add_constant(std::move(named)));
      graph.erase_constant(value);
    }
  }
}

}  // namespace

QuantTarget target_of(const ExportOptions& options) {
  if (options.integers) return QuantTarget::kIntegers;
  return options.io_dtype.empty() ? QuantTarget::kBackends : QuantTarget::kBackendsAtBorder;
}

absl::Status check_pass_name(const std::string& name) {
  if (name.empty() || name == "all") return absl::OkStatus();
  std::vector<std::string> known;
  for (const Pass& pass : passes_before_partitioning()) {
    known.push_back(pass.name);
  }
  for (const Pass& pass : passes_after_partitioning()) {
    known.push_back(pass.name);
  }
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no pass '", name, "'; the passes are ", absl::StrJoin(known, ", ")));
}

absl::StatusOr<Program> optimize_program(const ExportOptions& options, Phases& phases,
                                         bool quantises) {
  Program program;
  PETREL_RETURN_IF_ERROR(phases.run("import", [&]() -> absl::Status {
    PETREL_ASSIGN_OR_RETURN(program, import_all(options));
    if (options.on_imported) options.on_imported(program);
    return absl::OkStatus();
  }));
  PETREL_RETURN_IF_ERROR(phases.run("optimize", [&]() -> absl::Status {
    PETREL_RETURN_IF_ERROR(transform(program, passes_before_partitioning(), options,
                                     quantises ? Whole::kForLevels : Whole::kForBackends));
    if (quantises) PETREL_RETURN_IF_ERROR(volumes_for_kernels(program, options));
    return widen(program, options, quantises);
  }));
  return program;
}

absl::Status legalize_program(Program& program, const ExportOptions& options) {
  return transform(program, passes_after_partitioning(), options, Whole::kNothing);
}

absl::StatusOr<Program> compile_program(const ExportOptions& options, Phases& phases,
                                        ExportReport& report, RoutedBlobStore& store) {
  const bool quantises = options.quantization != nullptr || !options.quantization_file.empty();
  PETREL_ASSIGN_OR_RETURN(Program program, optimize_program(options, phases, quantises));
  if (quantises) {
    PETREL_RETURN_IF_ERROR(phases.run("quantize", [&]() -> absl::Status {
      PETREL_RETURN_IF_ERROR(quantize(program, options, &report));
      return take_apart(program, options);
    }));
  }
  if (!options.io_dtype.empty()) {
    PETREL_ASSIGN_OR_RETURN(report.borders, open_border(program, options.io_dtype));
  }
  if (options.integers) {
    PETREL_RETURN_IF_ERROR(phases.run("integers", [&] { return integer_program(program); }));
  } else if (!options.backends.empty()) {
    PETREL_RETURN_IF_ERROR(phases.run("delegate", [&]() -> absl::Status {
      PETREL_RETURN_IF_ERROR(fit_levels(program, options.backends));
      PETREL_ASSIGN_OR_RETURN(report.partition,
                              lower_to_backends(program, options.backends, store));
      return absl::OkStatus();
    }));
  }
  PETREL_RETURN_IF_ERROR(
      phases.run("legalize", [&] { return legalize_program(program, options); }));
  if (options.weight_keys == WeightKeys::kName) {
    report.structure = structure_of(program);
  } else if (!options.external_weights.empty() || !options.external.empty()) {
    tell_weights_apart(program);
  }
  if (options.reorder) {
    PETREL_RETURN_IF_ERROR(phases.run("reorder", [&]() -> absl::Status {
      for (auto& [name, method] : program.methods) {
        PETREL_ASSIGN_OR_RETURN(report.order[name],
                                order_operators(*method.graph, kStatesOfOrders));
      }
      return absl::OkStatus();
    }));
  }
  return program;
}

// Of the buffers that make a plan too large.
constexpr size_t kBuffersNamed = 5;

absl::Status check_arenas(const PlannedProgram& planned, uint64_t limit) {
  if (limit == 0) return absl::OkStatus();
  const auto state = static_cast<uint64_t>(planned.state.arena_bytes);
  for (const PlannedMethod& method : planned.methods) {
    const uint64_t bytes = state + static_cast<uint64_t>(method.plan.arena_bytes);
    if (bytes <= limit) continue;
    const plan::Problem& problem = method.plan.problem;
    return absl::ResourceExhaustedError(absl::StrCat(
        "method '", method.name, "': its arenas have ", bytes,
        " bytes and exceed max_arena_bytes, which is ", limit, ", by ", bytes - limit,
        "; no plan has fewer than ", state + static_cast<uint64_t>(method.plan.lower_bound_bytes),
        "; ", plan::describe(problem, plan::largest_crowd(problem), kBuffersNamed)));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
