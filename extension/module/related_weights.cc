// SPDX-License-Identifier: Apache-2.0
#include "extension/module/related_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "runtime/core/freeable_buffer.h"
#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::ProgramAdditions;
using runtime::Result;
using runtime::Span;
using runtime::WeightView;

namespace {

Error refused(std::string_view weight, std::string_view source) {
  PETREL_LOG(
      Error,
      "weight \"%.200s\" belongs to \"%.200s\", of which other data is given: it must be given, "
      "too, as petrel data build makes it",
      std::string(weight).c_str(), std::string(source).c_str());
  return Error::InvalidExternalData;
}

Result<Keys> keys_of(const NamedDataMap& map) {
  Keys keys;
  PETREL_ASSIGN_OR_RETURN(const uint32_t count, map.get_num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    PETREL_ASSIGN_OR_RETURN(const char* key, map.get_key(i));
    keys.emplace(key);
  }
  return keys;
}

Result<bool> are_equal(const NamedDataMap& a, const NamedDataMap& b, const std::string& key) {
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer first, a.get_data(key));
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer second, b.get_data(key));
  return first.size() == second.size() &&
         (first.size() == 0 || std::memcmp(first.data(), second.data(), first.size()) == 0);
}

// Names of the model that another value is given for, and by which key: keys that change,
// and what weights that change were made of alone.
using Names = std::map<std::string, std::string, std::less<>>;

Names changed_names(const ProgramAdditions& additions, const Keys& changed, const Keys& given) {
  Names names;
  for (const std::string& key : given) {
    const bool is_weight = additions.find_weight(key) < additions.num_weights();
    if (!is_weight || changed.count(key) > 0) names.emplace(key, key);
  }
  for (uint32_t i = 0; i < additions.num_weights(); ++i) {
    const std::string_view key = additions.weight(i).key;
    if (additions.num_sources(i) == 1 && changed.count(key) > 0) {
      names.emplace(additions.source(i, 0), key);
    }
  }
  return names;
}

}  // namespace

Error check_given_together(const ProgramAdditions& additions, const Keys& changed,
                           const Keys& given) {
  const Names names = changed_names(additions, changed, given);
  for (uint32_t i = 0; i < additions.num_weights(); ++i) {
    const WeightView weight = additions.weight(i);
    if (given.count(weight.key) > 0) continue;
    const uint32_t sources = additions.num_sources(i);
    for (uint32_t k = 0; k < std::max<uint32_t>(sources, 1); ++k) {
      const auto found = names.find(sources == 0 ? weight.key : additions.source(i, k));
      if (found != names.end()) return refused(weight.key, found->second);
    }
  }
  return Error::Ok;
}

Keys sources_among(const ProgramAdditions& additions, const std::vector<std::string>& changed,
                   const Keys& keys) {
  Keys found;
  for (const std::string& key : changed) {
    const uint32_t weight = additions.find_weight(key);
    if (weight == additions.num_weights()) continue;
    for (uint32_t k = 0; k < additions.num_sources(weight); ++k) {
      const auto source = keys.find(additions.source(weight, k));
      if (source != keys.end()) found.insert(*source);
    }
  }
  return found;
}

Error check_sources(const ProgramAdditions& additions, Span<const NamedDataMap* const> maps) {
  std::vector<Keys> keys;
  for (const NamedDataMap* map : maps) {
    PETREL_ASSIGN_OR_RETURN(Keys of_map, keys_of(*map));
    keys.push_back(std::move(of_map));
  }
  // The first map from `at` on that has the key; maps.size() if there is none.
  const auto find = [&](std::string_view key, size_t at) {
    while (at < keys.size() && keys[at].count(key) == 0) ++at;
    return at;
  };
  // Many weights may be made of one source, whose bytes are compared once.
  std::map<std::string, bool, std::less<>> is_other_by_source;
  for (uint32_t i = 0; i < additions.num_weights(); ++i) {
    const WeightView weight = additions.weight(i);
    const size_t has_weight = find(weight.key, 0);
    for (uint32_t k = 0; k < additions.num_sources(i); ++k) {
      const std::string source(additions.source(i, k));
      const size_t counts = find(source, 0);
      if (has_weight == maps.size() || counts >= has_weight) continue;
      // A source that nobody reads is there to take the place of others; one that is read
      // may have a file of its own.
      const auto [known, is_new] = is_other_by_source.try_emplace(
          source, additions.find_weight(source) == additions.num_weights());
      bool& is_other = known->second;
      if (!is_new) continue;
      for (size_t at = find(source, counts + 1); !is_other && at < maps.size();
           at = find(source, at + 1)) {
        PETREL_ASSIGN_OR_RETURN(const bool equal, are_equal(*maps[counts], *maps[at], source));
        is_other = !equal;
      }
      if (is_other) return refused(weight.key, source);
    }
  }
  return Error::Ok;
}

}  // namespace petrel::extension
