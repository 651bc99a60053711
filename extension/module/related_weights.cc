// SPDX-License-Identifier: Apache-2.0
#include "extension/module/related_weights.h"

#include <cstring>
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
  PETREL_LOG(Error,
             "weight \"%.200s\" belongs to \"%.200s\", of which other data is given: the data must "
             "have both, as petrel data build makes them",
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

}  // namespace

Error check_given_together(const ProgramAdditions& additions, const Keys& changed,
                           const Keys& given) {
  for (uint32_t i = 0; i < additions.num_weights(); ++i) {
    const WeightView weight = additions.weight(i);
    if (given.count(weight.key) > 0) continue;
    for (const uint32_t source : weight.made_of) {
      const std::string_view key = additions.weight(source).key;
      if (changed.count(key) > 0) return refused(weight.key, key);
    }
  }
  return Error::Ok;
}

Error check_sources(const ProgramAdditions& additions, Span<const NamedDataMap* const> maps) {
  std::vector<Keys> keys;
  // The first map that has the key; maps.size() if there is none.
  const auto find = [&](std::string_view key) {
    size_t at = 0;
    while (at < keys.size() && keys[at].count(key) == 0) ++at;
    return at;
  };
  for (uint32_t i = 0; i < additions.num_weights(); ++i) {
    const WeightView weight = additions.weight(i);
    for (const uint32_t source : weight.made_of) {
      // Few programs come here, and most of them with one map.
      for (size_t at = keys.size(); at < maps.size(); ++at) {
        PETREL_ASSIGN_OR_RETURN(Keys of_map, keys_of(*maps[at]));
        keys.push_back(std::move(of_map));
      }
      const std::string key(additions.weight(source).key);
      const size_t has_weight = find(weight.key);
      const size_t has_source = find(key);
      if (has_weight == maps.size() || has_source >= has_weight ||
          keys[has_weight].count(key) == 0) {
        continue;
      }
      PETREL_ASSIGN_OR_RETURN(const bool equal,
                              are_equal(*maps[has_weight], *maps[has_source], key));
      if (!equal) return refused(weight.key, key);
    }
  }
  return Error::Ok;
}

}  // namespace petrel::extension
