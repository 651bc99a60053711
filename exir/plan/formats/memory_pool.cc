// SPDX-License-Identifier: Apache-2.0
#include "exir/plan/formats/memory_pool.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

constexpr int64_t kMaxAlignment = int64_t{1} << 20;

template <typename... Args>
absl::Status wrong(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

bool consists_of(absl::string_view text, absl::string_view marks) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(marks, c);
  });
}

bool is_printable(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

std::optional<uint64_t> parse_address(absl::string_view text) {
  uint64_t value = 0;
  const bool is_hex = absl::ConsumePrefix(&text, "0x");
  const bool is_number = std::all_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return is_hex ? absl::ascii_isxdigit(byte) : absl::ascii_isdigit(byte);
  });
  if (!is_number ||
      !(is_hex ? absl::SimpleHexAtoi(text, &value) : absl::SimpleAtoi(text, &value))) {
    return std::nullopt;
  }
  return value;
}

// "" or what is wrong with the value.
std::string set_bytes(const std::string& value, std::optional<int64_t>* bytes) {
  if (value == "unlimited") return "";
  *bytes = parse_bytes(value);
  return bytes->has_value() ? "" : "must be bytes (4096, 64K, 1M) or unlimited";
}

std::string set_key(const std::string& key, const std::string& value, MemoryPool* pool) {
  if (key == "name") {
    pool->name = value;
    return is_printable(value) ? "" : "must be a name without control characters";
  }
  if (key == "size") return set_bytes(value, &pool->size);
  if (key == "limit") return set_bytes(value, &pool->limit);
  if (key == "prefer") return set_bytes(value, &pool->prefer);
  if (key == "kind") {
    pool->kind = value == "ro" ? PoolKind::kReadOnly : PoolKind::kReadWrite;
    return value == "ro" || value == "rw" ? "" : "must be rw or ro";
  }
  if (key == "align") {
    const std::optional<int64_t> bytes = parse_bytes(value);
    pool->alignment = bytes.value_or(0);
    const bool is_power = pool->alignment > 0 && (pool->alignment & (pool->alignment - 1)) == 0;
    return is_power && pool->alignment <= kMaxAlignment
               ? ""
               : absl::StrCat("must be a power of two from 1 to ", kMaxAlignment);
  }
  if (key == "section") {
    // What a compiler, an assembler and a linker script take as one name.
    pool->section = value;
    return consists_of(value, "._$-") ? "" : "must be letters, digits and any of . _ $ -";
  }
  if (key == "address") {
    pool->address = parse_address(value);
    return pool->address.has_value() ? "" : "must be 0x and hexadecimal digits, or decimal ones";
  }
  if (key == "targets") {
    pool->targets.push_back(value);
    return consists_of(value, "_-") ? "" : "must be names of targets, as c or npu";
  }
  if (key == "cached") {
    pool->cached = value == "yes";
    return value == "yes" || value == "no" ? "" : "must be yes or no";
  }
  return "is no key; the keys are name, kind, size, limit, prefer, align, section, address, "
         "targets "
         "and cached";
}

absl::Status parse_short(const std::string& word, MemoryPool* pool) {
  const size_t equals = word.find('=');
  pool->name = word.substr(0, equals);
  if (equals == std::string::npos || !is_printable(pool->name) ||
      !set_bytes(word.substr(equals + 1), &pool->size).empty()) {
    return wrong("--pool is '", word,
                 "', must be NAME=BYTES (64K, 1M), NAME=unlimited or name=NAME,KEY=VALUE...");
  }
  return absl::OkStatus();
}

absl::Status parse_long(const std::string& word, MemoryPool* pool) {
  std::set<std::string> seen;
  std::string key;
  for (const absl::string_view piece : absl::StrSplit(word, ',')) {
    const std::string part(piece);
    const size_t equals = part.find('=');
    std::string value = part;
    // Targets are a list of their own: targets=c,npu.
    if (equals != std::string::npos || key != "targets") {
      key = part.substr(0, equals);
      value = equals == std::string::npos ? "" : part.substr(equals + 1);
      if (!seen.insert(key).second) return wrong("--pool '", word, "': ", key, " is given twice");
    }
    const std::string problem = set_key(key, value, pool);
    if (!problem.empty()) {
      return wrong("--pool '", word, "': ", key, " is '", value, "', ", problem);
    }
  }
  return absl::OkStatus();
}

bool is_written(const MemoryPool& pool) { return pool.kind == PoolKind::kReadWrite; }

// One section lies at one address, and is written or not.
absl::Status check_sections(const std::vector<MemoryPool>& pools, const MemoryPool& pool) {
  for (const MemoryPool& other : pools) {
    if (pool.section.empty() || other.section != pool.section) continue;
    if (is_written(other) == is_written(pool) && !other.address.has_value() &&
        !pool.address.has_value()) {
      continue;
    }
    return wrong("pools '", other.name, "' and '", pool.name, "' share section ", pool.section,
                 ", and differ in kind or have an address");
  }
  return absl::OkStatus();
}

// What the keys say of each other.
absl::Status check_pool(const std::string& word, const MemoryPool& pool) {
  if (pool.size.has_value() && pool.limit.value_or(0) > *pool.size) {
    return wrong("--pool '", word, "': limit is ", *pool.limit, ", more than the size, ",
                 *pool.size);
  }
  if (pool.capacity().has_value() && pool.prefer.value_or(0) > *pool.capacity()) {
    return wrong("--pool '", word, "': prefer is ", *pool.prefer, ", more than ", *pool.capacity(),
                 ", which is all that there is");
  }
  const bool is_constant =
      absl::StartsWith(pool.section, ".text") || absl::StartsWith(pool.section, ".rodata");
  if (is_constant && is_written(pool)) {
    return wrong("--pool '", word, "': section is '", pool.section, "', which kind=rw cannot be");
  }
  if (!pool.address.has_value()) return absl::OkStatus();
  if (*pool.address % static_cast<uint64_t>(pool.alignment) != 0) {
    return wrong("--pool '", word, "': address is ", *pool.address, ", must be a multiple of ",
                 pool.alignment, ", as align says");
  }
  return absl::OkStatus();
}

std::string range_text(const MemoryPool& pool, std::optional<int64_t> bytes) {
  return absl::StrCat("'", pool.name, "' ",
                      bytes.has_value() ? absl::StrCat("has ", *bytes, " bytes at") : "begins at",
                      " 0x", absl::Hex(*pool.address));
}

}  // namespace

std::optional<int64_t> MemoryPool::capacity() const {
  if (!size.has_value() || !limit.has_value()) return size.has_value() ? size : limit;
  return std::min(*size, *limit);
}

bool MemoryPool::reaches(const std::string& target) const {
  return targets.empty() || std::find(targets.begin(), targets.end(), target) != targets.end();
}

absl::Status check_addresses(const std::vector<MemoryPool>& pools,
                             const std::vector<std::optional<int64_t>>& bytes) {
  const auto last_of = [&](size_t i) {
    return *pools[i].address + static_cast<uint64_t>(bytes[i].value_or(1) - 1);
  };
  for (size_t i = 0; i < pools.size(); ++i) {
    if (!pools[i].address.has_value() || bytes[i] == 0) continue;
    const uint64_t begin = *pools[i].address;
    const uint64_t last = last_of(i);
    if (last < begin) return wrong("pool ", range_text(pools[i], bytes[i]), ", beyond 2^64");
    for (size_t j = 0; j < i; ++j) {
      if (!pools[j].address.has_value() || bytes[j] == 0) continue;
      if (begin > last_of(j) || *pools[j].address > last) continue;
      return wrong("pools overlap: ", range_text(pools[j], bytes[j]), ", and ",
                   range_text(pools[i], bytes[i]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MemoryPool>> parse_memory_pools(const std::vector<std::string>& words) {
  std::vector<MemoryPool> pools;
  std::vector<std::optional<int64_t>> bytes;  // known of each, at least one
  std::set<std::string> names;
  for (const std::string& word : words) {
    MemoryPool pool;
    const bool is_long = absl::StrContains(word, ',') || absl::StartsWith(word, "name=");
    PETREL_RETURN_IF_ERROR(is_long ? parse_long(word, &pool) : parse_short(word, &pool));
    if (pool.name.empty()) return wrong("--pool '", word, "': there is no name=");
    PETREL_RETURN_IF_ERROR(check_pool(word, pool));
    if (!names.insert(pool.name).second) {
      return wrong("--pool '", word, "': pool '", pool.name, "' is given twice");
    }
    PETREL_RETURN_IF_ERROR(check_sections(pools, pool));
    bytes.push_back(pool.size.has_value() ? pool.size : pool.limit);
    if (bytes.back() == 0) bytes.back() = std::nullopt;
    pools.push_back(std::move(pool));
  }
  PETREL_RETURN_IF_ERROR(check_addresses(pools, bytes));
  return pools;
}

Pool to_pool(const MemoryPool& memory) {
  Pool pool;
  pool.name = memory.name;
  pool.kind = memory.kind;
  pool.capacity = memory.capacity();
  pool.preferred_capacity = memory.prefer;
  return pool;
}

std::optional<int64_t> parse_bytes(const std::string& text) {
  std::string digits = text;
  int shift = 0;
  if (!digits.empty() && (digits.back() == 'K' || digits.back() == 'M')) {
    shift = digits.back() == 'K' ? 10 : 20;
    digits.pop_back();
  }
  int64_t value = 0;
  const bool is_number = std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (!is_number || !absl::SimpleAtoi(digits, &value) || value > (kMaxBytes >> shift)) {
    return std::nullopt;
  }
  return value << shift;
}

}  // namespace petrel::exir::plan
