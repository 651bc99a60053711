// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/pool_setup.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/weight_routes.h"
#include "exir/emit_c/group.h"
#include "exir/input/file_content.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Generated C is the target; others are those of backends.
constexpr char kTarget[] = "c";

bool is_read_only(const plan::MemoryPool& pool) { return pool.kind == plan::PoolKind::kReadOnly; }

bool is_state(const plan::MemoryPool& pool) {
  return pool.name == emit_c::kStatePool && !is_read_only(pool);
}

std::string text_of(const char* option, const PoolRule& rule) {
  return absl::StrCat(option, " '", rule.glob, "=", rule.pool, "'");
}

absl::Status check_rule(const char* option, const PoolRule& rule, bool read_only,
                        const std::vector<plan::MemoryPool>& pools) {
  const auto wrong = [&](const auto&... words) {
    return absl::InvalidArgumentError(absl::StrCat(text_of(option, rule), ": ", words...));
  };
  const auto pool = std::find_if(pools.begin(), pools.end(),
                                 [&](const auto& one) { return one.name == rule.pool; });
  if (rule.glob.empty()) return wrong("must be GLOB=POOL");
  if (pool == pools.end()) return wrong("there is no --pool of that name");
  if (!pool->reaches(kTarget)) return wrong("targets of that pool are others than ", kTarget);
  if (is_read_only(*pool) == read_only && !is_state(*pool)) return absl::OkStatus();
  return wrong(read_only ? "parameters lie in pools of kind=ro"
                         : "values lie in pools of kind=rw that are not the one of state");
}

absl::StatusOr<emit_c::CSharer> read_sharer(const std::string& path) {
  const auto text = read_file_content(path, kMaxContentBytes);
  if (!text.ok()) return annotate(text.status(), absl::StrCat("--group ", path));
  auto sharer = emit_c::read_sharer(*text);
  if (!sharer.ok()) return annotate(sharer.status(), absl::StrCat("--group ", path));
  return sharer;
}

size_t index_of(const std::vector<plan::MemoryPool>& pools, const std::string& name) {
  return static_cast<size_t>(
      std::find_if(pools.begin(), pools.end(), [&](const auto& one) { return one.name == name; }) -
      pools.begin());
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
  if (options.caller_io && options.compile == Compile::kSharedLibrary) {
    return absl::InvalidArgumentError(
        "--io caller: what opens a shared library asks it for the places of inputs and outputs");
  }
  PETREL_RETURN_IF_ERROR(emit_c::check_pool_names(options.pools));
  for (const PoolRule& rule : options.pins) {
    PETREL_RETURN_IF_ERROR(check_rule("--pin", rule, false, options.pools));
  }
  for (const PoolRule& rule : options.parameters) {
    PETREL_RETURN_IF_ERROR(check_rule("--link-param", rule, true, options.pools));
  }
  return absl::OkStatus();
}

PoolSetup::PoolSetup(const GenerateOptions& options) {
  for (const plan::MemoryPool& pool : options.pools) {
    if (!pool.reaches(kTarget)) continue;
    if (is_state(pool)) {
      emitted_.state = pool;
    } else {
      (is_read_only(pool) ? emitted_.constants : emitted_.activations).push_back(pool);
    }
  }
  emitted_.form = form_of(options.constants);
  emitted_.io = options.caller_io ? emit_c::Io::kCaller : emit_c::Io::kArena;
  planned_.io_apart = options.caller_io;
  planned_.state_apart = emitted_.state.has_value();
  if (planned_.state_apart && emitted_.activations.empty()) {
    emitted_.activations.emplace_back();
    emitted_.activations.back().name = "arena";
  }
  planned_.list = emitted_.activations;
  for (const PoolRule& rule : options.pins) {
    pins_.push_back({rule, index_of(emitted_.activations, rule.pool), false});
  }
  for (const PoolRule& rule : options.parameters) {
    parameters_.push_back({rule, index_of(emitted_.constants, rule.pool), false});
  }
  // The first pin that matches counts.
  planned_.allowed = [this](const std::set<std::string>& names) {
    std::vector<plan::PoolIdx> pools;
    for (Rule& rule : pins_) {
      if (std::none_of(names.begin(), names.end(), [&](const std::string& name) {
            return matches_glob(rule.given.glob, name);
          })) {
        continue;
      }
      rule.matched = true;
      if (pools.empty()) pools.push_back(static_cast<plan::PoolIdx>(rule.pool));
    }
    return pools;
  };
  emitted_.of_parameter = [this](const std::string& name) {
    std::vector<size_t> pools;
    for (Rule& rule : parameters_) {
      if (!matches_glob(rule.given.glob, name)) continue;
      rule.matched = true;
      pools.push_back(rule.pool);
    }
    return pools;
  };
}

absl::Status PoolSetup::read_group(const std::vector<std::string>& manifests) {
  for (const std::string& path : manifests) {
    PETREL_ASSIGN_OR_RETURN(emit_c::CSharer sharer, read_sharer(path));
    emitted_.group.push_back(std::move(sharer));
  }
  return absl::OkStatus();
}

absl::Status PoolSetup::check_rules() const {
  for (const Rule& rule : pins_) {
    if (rule.matched) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        text_of("--pin", rule.given), ": no value has such a name; comments in the .c have them"));
  }
  for (const Rule& rule : parameters_) {
    if (rule.matched) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(text_of("--link-param", rule.given),
                     ": no parameter has such a name; manifest.json has them"));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
