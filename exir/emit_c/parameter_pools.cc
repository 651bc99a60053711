// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/parameter_pools.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/memory/pools.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

constexpr size_t kParametersNamed = 5;

// With the room to align the next one; of those without elements C has one.
int64_t bytes_in(const plan::MemoryPool& pool, const CParameter& parameter) {
  const int64_t alignment = alignment_of(pool);
  const TensorType& type = parameter.constant->type;
  const int64_t bytes = std::max(type.nbytes(), static_cast<int64_t>(item_size(type.dtype)));
  return (bytes + alignment - 1) / alignment * alignment;
}

void check_room(const std::vector<CParameter>& parameters, const plan::MemoryPool& pool,
                std::vector<std::string>* shortages) {
  const int64_t bytes = constant_bytes(parameters, pool);
  if (bytes <= pool.capacity().value_or(bytes)) return;
  std::vector<const CParameter*> inside;
  for (const CParameter& parameter : parameters) {
    if (parameter.pool == &pool) inside.push_back(&parameter);
  }
  std::stable_sort(inside.begin(), inside.end(), [&](const CParameter* a, const CParameter* b) {
    return bytes_in(pool, *a) > bytes_in(pool, *b);
  });
  std::string largest;
  for (size_t i = 0; i < std::min(kParametersNamed, inside.size()); ++i) {
    absl::StrAppend(&largest, i == 0 ? " " : ", ", inside[i]->name, " ",
                    bytes_in(pool, *inside[i]));
  }
  shortages->push_back(absl::StrCat("pool '", pool.name, "' has ", *pool.capacity(), " bytes, its ",
                                    inside.size(), " parameters need ", bytes, ", ",
                                    bytes - *pool.capacity(), " more; the largest:", largest));
}

// "" or why the parameter cannot lie there.
std::string problem_of(const CParameter& parameter, const plan::MemoryPool& pool) {
  for (const std::string& target : parameter.targets) {
    if (pool.reaches(target)) continue;
    return absl::StrCat(target, " reads it and does not reach pool '", pool.name, "'");
  }
  if (!parameter.is_of_delegates) return "";
  if (pool.kind == plan::PoolKind::kReadWrite) {
    return absl::StrCat("drivers read it where it is linked, and pool '", pool.name,
                        "' is of kind=rw");
  }
  if (parameter.alignment > alignment_of(pool)) {
    return absl::StrCat("it is aligned to ", parameter.alignment, " bytes, pool '", pool.name,
                        "' to ", alignment_of(pool));
  }
  return "";
}

// What a rule says by name must be.
absl::Status check_choice(const CPools& pools, const CParameter& parameter,
                          const ParameterChoice& choice) {
  if (!choice.is_by_name) return absl::OkStatus();
  std::string problem;
  if (choice.is_external && parameter.is_of_delegates) {
    problem = "drivers read it where it is linked, so it cannot be external";
  }
  for (const size_t index : choice.pools) {
    if (problem.empty()) problem = problem_of(parameter, pools.constants[index]);
  }
  if (problem.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--link-param: parameter '", parameter.name, "': ", problem));
}

// The first with room; none where one of those that could is full to what is preferred alone;
// else one that is too small, as check_room() then says.
std::optional<size_t> pool_for(const CPools& pools, const CParameter& parameter,
                               const ParameterChoice& choice, const std::vector<int64_t>& used) {
  std::optional<size_t> too_small;
  bool is_full = false;  // to what is preferred
  for (const size_t index : choice.pools) {
    const plan::MemoryPool& pool = pools.constants[index];
    if (!problem_of(parameter, pool).empty()) continue;
    const int64_t bytes = used[index] + bytes_in(pool, parameter);
    if (pool.prefer.has_value() && bytes > *pool.prefer) {
      is_full = true;
    } else if (bytes <= pool.capacity().value_or(bytes)) {
      return index;
    } else {
      too_small = index;
    }
  }
  return is_full ? std::nullopt : too_small;
}

}  // namespace

int64_t constant_bytes(const std::vector<CParameter>& parameters, const plan::MemoryPool& pool) {
  int64_t bytes = 0;
  for (const CParameter& parameter : parameters) {
    if (parameter.pool == &pool) bytes += bytes_in(pool, parameter);
  }
  return bytes;
}

absl::Status place_parameters(const CPools& pools, std::vector<CParameter>* parameters,
                              std::vector<std::string>* shortages) {
  if (!pools.of_parameter) return absl::OkStatus();
  std::vector<int64_t> used(pools.constants.size(), 0);
  for (CParameter& parameter : *parameters) {
    const ParameterChoice choice = pools.of_parameter(parameter.name);
    PETREL_RETURN_IF_ERROR(check_choice(pools, parameter, choice));
    parameter.is_external = choice.is_external && !parameter.is_of_delegates;
    const std::optional<size_t> index = pool_for(pools, parameter, choice, used);
    if (!index.has_value()) continue;
    const plan::MemoryPool& pool = pools.constants[*index];
    if (pool.kind == plan::PoolKind::kReadWrite) {
      parameter.room = absl::StrCat("pool_", pool.name, " + ", used[*index]);
    } else {
      parameter.is_external = false;
    }
    used[*index] += bytes_in(pool, parameter);
    parameter.pool = &pool;
  }
  for (const plan::MemoryPool& pool : pools.constants) {
    check_room(*parameters, pool, shortages);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir::emit_c
