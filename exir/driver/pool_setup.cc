// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/pool_setup.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "exir/annotate.h"
#include "exir/backend/weight_routes.h"
#include "exir/emit_c/group.h"
#include "exir/input/file_content.h"
#include "exir/memory/reach.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr char kPin[] = "--pin";
constexpr char kLinkParam[] = "--link-param";
// Of rules for parameters, beside the names of pools.
constexpr char kLinked[] = "linked";
constexpr char kExternal[] = "external";

bool is_read_only(const plan::MemoryPool& pool) { return pool.kind == plan::PoolKind::kReadOnly; }

bool is_state(const plan::MemoryPool& pool) {
  return pool.name == emit_c::kStatePool && !is_read_only(pool);
}

// Generated C, and the backends that are asked.
std::set<std::string> targets_of(const GenerateOptions& options) {
  std::set<std::string> targets = {kProcessor};
  const auto note = [&](const std::vector<BackendUse>& uses) {
    for (const BackendUse& use : uses) targets.insert(use.backend->target());
  };
  note(options.program.backends.for_all);
  for (const auto& [method, uses] : options.program.backends.for_method) note(uses);
  return targets;
}

// Others hold nothing.
bool is_reached(const plan::MemoryPool& pool, const std::set<std::string>& targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [&](const std::string& target) { return pool.reaches(target); });
}

bool is_word(const PoolRule& rule) { return rule.pool == kLinked || rule.pool == kExternal; }

// Parameters are loaded there, and nothing else lies there.
bool is_loaded(const plan::MemoryPool& pool, const std::vector<PoolRule>& parameters) {
  return !is_read_only(pool) &&
         std::any_of(parameters.begin(), parameters.end(),
                     [&](const PoolRule& rule) { return rule.pool == pool.name; });
}

// "" or what is wrong with the rule.
std::string problem_of(const char* option, const PoolRule& rule, const GenerateOptions& options) {
  const bool is_pin = option == absl::string_view(kPin);
  const auto wrong = [&](const auto&... words) {
    return absl::StrCat(text_of(option, rule), ": ", words...);
  };
  if (rule.glob.empty() || rule.pool.empty()) return wrong("must be GLOB=POOL");
  if (!is_pin && is_word(rule)) return "";
  const auto pool = std::find_if(options.pools.begin(), options.pools.end(),
                                 [&](const auto& one) { return one.name == rule.pool; });
  if (pool == options.pools.end()) return wrong("there is no --pool of that name");
  const std::set<std::string> targets = targets_of(options);
  if (!is_reached(*pool, targets)) {
    return wrong("targets of that pool are others than ", absl::StrJoin(targets, ", "));
  }
  if (!is_pin && is_state(*pool)) return wrong("nothing but state lies in that pool");
  if (!is_pin) return "";
  if (is_read_only(*pool)) {
    return wrong("values lie in pools of kind=rw that are not the one of state");
  }
  if (!is_loaded(*pool, options.parameters)) return "";
  return wrong("nothing but parameters lies in that pool, which ", kLinkParam, " names");
}

// What parameters and the other options say of each other.
std::vector<std::string> problems_of_parameters(const GenerateOptions& options) {
  std::vector<std::string> problems;
  bool has_external = options.other_parameters == Parameters::kExternal;
  for (const PoolRule& rule : options.parameters) {
    has_external = has_external || rule.pool == kExternal;
  }
  if (has_external && options.compile == Compile::kSharedLibrary) {
    problems.push_back(
        "external parameters: what opens a shared library has no pointers for them; compile an "
        "object");
  }
  const bool has_read_only = std::any_of(
      options.pools.begin(), options.pools.end(),
      [](const plan::MemoryPool& pool) { return is_read_only(pool) && pool.reaches(kProcessor); });
  if (options.other_parameters == Parameters::kPool && !has_read_only) {
    problems.push_back("--params pool: there is no --pool of kind=ro");
  }
  for (const plan::MemoryPool& pool : options.pools) {
    if (pool.name != kLinked && pool.name != kExternal) continue;
    problems.push_back(absl::StrCat("--pool: name is '", pool.name, "', which ", kLinkParam,
                                    " takes for parameters that lie in none"));
  }
  return problems;
}

absl::StatusOr<emit_c::CSharer> read_sharer(const std::string& path, bool together) {
  const auto text = read_file_content(path, kMaxContentBytes);
  if (!text.ok()) return annotate(text.status(), absl::StrCat("--group ", path));
  auto sharer = emit_c::read_sharer(*text, together);
  if (!sharer.ok()) return annotate(sharer.status(), absl::StrCat("--group ", path));
  return sharer;
}

// A linker would move it to the next multiple.
std::string problem_of_address(const plan::MemoryPool& pool) {
  const auto alignment = static_cast<uint64_t>(alignment_of(pool));
  if (pool.address.value_or(0) % alignment == 0) return "";
  return absl::StrCat("--pool '", pool.name, "': address is 0x", absl::Hex(*pool.address),
                      ", must be a multiple of ", alignment, ", which all memory is aligned to");
}

emit_c::ConstantForm form_of(ConstantFiles files) {
  switch (files) {
    case ConstantFiles::kText:
      return emit_c::ConstantForm::kText;
    case ConstantFiles::kIncbin:
      return emit_c::ConstantForm::kIncbin;
    case ConstantFiles::kAuto:
      break;
  }
  return emit_c::ConstantForm::kAuto;
}

}  // namespace

absl::Status check_pools(const GenerateOptions& options) {
  std::vector<std::string> problems;
  if (options.caller_io && options.compile == Compile::kSharedLibrary) {
    problems.push_back(
        "--io caller: what opens a shared library asks it for the places of inputs and outputs");
  }
  for (const plan::MemoryPool& pool : options.pools) {
    if (pool.cached && options.compile == Compile::kSharedLibrary) {
      problems.push_back(absl::StrCat("--pool '", pool.name,
                                      "': cached: what opens a shared library has no functions for "
                                      "caches; compile an object"));
    }
    const std::string problem = problem_of_address(pool);
    if (!problem.empty()) problems.push_back(problem);
  }
  const absl::Status named = emit_c::check_pool_names(options.pools);
  if (!named.ok()) problems.emplace_back(named.message());
  const auto check = [&](const char* option, const std::vector<PoolRule>& rules) {
    for (const PoolRule& rule : rules) {
      std::string problem = problem_of(option, rule, options);
      if (!problem.empty()) problems.push_back(std::move(problem));
    }
  };
  check(kPin, options.pins);
  check(kLinkParam, options.parameters);
  for (std::string& problem : problems_of_parameters(options)) {
    problems.push_back(std::move(problem));
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

PoolSetup::PoolSetup(const GenerateOptions& options) : other_parameters_(options.other_parameters) {
  const std::set<std::string> targets = targets_of(options);
  for (const plan::MemoryPool& pool : options.pools) {
    if (!is_reached(pool, targets)) continue;
    if (is_state(pool)) {
      emitted_.state = pool;
    } else {
      const bool is_of_parameters = is_read_only(pool) || is_loaded(pool, options.parameters);
      (is_of_parameters ? emitted_.constants : emitted_.activations).push_back(pool);
    }
  }
  emitted_.form = form_of(options.constants);
  emitted_.fast_math = options.fast_math;
  emitted_.has_device_rpc = options.device_rpc;
  emitted_.has_packed = !options.direct_alone;
  emitted_.group_together = options.group_together;
  emitted_.has_backends = !options.program.backends.empty();
  emitted_.io = options.caller_io ? emit_c::Io::kCaller : emit_c::Io::kArena;
  planned_.io_apart = options.caller_io;
  planned_.state_apart = emitted_.state.has_value();
  const bool is_typed =
      planned_.state_apart ||
      std::any_of(emitted_.constants.begin(), emitted_.constants.end(),
                  [](const plan::MemoryPool& pool) { return !is_read_only(pool); });
  if (is_typed && emitted_.activations.empty()) {
    emitted_.activations.emplace_back();
    emitted_.activations.back().name = "arena";
  }
  planned_.list = emitted_.activations;
  pins_.emplace(options.pins, emitted_.activations);
  for (const PoolRule& rule : options.parameters) {
    const size_t pool = is_word(rule) ? 0 : index_of(emitted_.constants, rule.pool);
    parameters_.push_back({rule, pool, false});
  }
  planned_.allowed = pins_->allowed();
  emitted_.of_parameter = [this](const std::string& name) { return choice_of(name); };
}

emit_c::ParameterChoice PoolSetup::choice_of(const std::string& name) {
  emit_c::ParameterChoice choice;
  bool is_decided = false;
  for (Rule& rule : parameters_) {
    if (!matches_glob(rule.given.glob, name)) continue;
    rule.matched = true;
    if (is_decided) continue;
    is_decided = is_word(rule.given);
    if (!is_decided) choice.pools.push_back(rule.pool);
    choice.is_external = rule.given.pool == kExternal;
  }
  choice.is_by_name = is_decided || !choice.pools.empty();
  if (is_decided) return choice;
  choice.is_external = other_parameters_ == Parameters::kExternal;
  if (other_parameters_ != Parameters::kPool) return choice;
  for (size_t i = 0; i < emitted_.constants.size(); ++i) {
    if (is_read_only(emitted_.constants[i])) choice.pools.push_back(i);
  }
  return choice;
}

void PoolSetup::note_levels(const BorderByMethod& borders) {
  for (const auto& [method, border] : borders) {
    for (const BorderValue& value : border) {
      if (!value.reason.empty()) continue;
      emitted_.levels[method][absl::StrCat(value.is_input ? "input " : "output ", value.name)] = {
          value.levels.scale, value.levels.zero_point};
    }
  }
}

void PoolSetup::note_blobs(const RoutedBlobStore& store) {
  for (const auto& [file, data] : store.blobs().destinations()) {
    for (const NamedBlobStore::Entry& entry : data.entries) {
      const NamedBlobStore::Buffer& buffer = data.buffers[entry.buffer];
      emit_c::CNamedBlob blob{entry.key,
                              buffer.blob,
                              static_cast<int64_t>(buffer.alignment),
                              store.backends_of(entry.key),
                              {}};
      const auto known = store.ledger().weights().find(entry.key);
      if (known != store.ledger().weights().end()) blob.sources = known->second.sources;
      emitted_.blobs.push_back(std::move(blob));
    }
  }
}

void PoolSetup::read_archives(const Program& program) {
  for (const auto& [name, method] : program.methods) {
    if (planned_.io_apart) {
      const Signature& signature = method.signature;
      borrowed_.insert(signature.input_names.begin(), signature.input_names.end());
      borrowed_.insert(signature.output_names.begin(), signature.output_names.end());
      for (const Value* input : method.graph->inputs()) borrowed_.insert(input->name());
      for (const Value* output : method.graph->outputs()) borrowed_.insert(output->name());
    }
    for (const Value* value : method.graph->constants()) {
      const Constant& constant = *value->constant();
      if (constant.kind == Constant::Kind::kLiteral) continue;
      emitted_.archived[constant.fqn] = constant.type.nbytes();
    }
  }
}

absl::Status PoolSetup::read_group(const std::vector<std::string>& manifests) {
  for (const std::string& path : manifests) {
    PETREL_ASSIGN_OR_RETURN(emit_c::CSharer sharer, read_sharer(path, emitted_.group_together));
    emitted_.group.push_back(std::move(sharer));
  }
  return absl::OkStatus();
}

absl::Status PoolSetup::check_rules() const {
  PETREL_RETURN_IF_ERROR(pins_->check(borrowed_));
  for (const Rule& rule : parameters_) {
    if (rule.matched) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        text_of(kLinkParam, rule.given), ": no parameter has such a name; manifest.json has them"));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
