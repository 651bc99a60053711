// SPDX-License-Identifier: Apache-2.0
//
// For systems without fnmatch(), whose answers these are but for classes such as [[:digit:]].
#include <cstring>

#include "runtime/platform/glob.h"

namespace petrel::runtime {
namespace {

// Behind the ] of the set that begins at `set`; null for a [ that stands for itself. The first
// member may be ].
const char* end_of_set(const char* set) {
  const char* at = set + 1;
  if (*at == '!' || *at == '^') ++at;
  if (*at == '\0') return nullptr;
  const char* const end = std::strchr(at + 1, ']');
  return end == nullptr ? nullptr : end + 1;
}

// Precondition: end_of_set() gave `end`.
bool is_in_set(const char* set, const char* end, char one) {
  const char* at = set + 1;
  const bool is_negated = *at == '!' || *at == '^';
  if (is_negated) ++at;
  const auto value = static_cast<unsigned char>(one);
  bool is_there = false;
  while (at < end - 1) {
    const auto first = static_cast<unsigned char>(*at);
    const bool is_range = at[1] == '-' && at + 2 < end - 1;
    const auto last = is_range ? static_cast<unsigned char>(at[2]) : first;
    is_there = is_there || (first <= value && value <= last);
    at += is_range ? 3 : 1;
  }
  return is_there != is_negated;
}

// Behind the part of the pattern that matches `one`; null if it does not.
const char* match_one(const char* glob, char one) {
  if (*glob == '?') return glob + 1;
  if (*glob == '[') {
    const char* const end = end_of_set(glob);
    if (end != nullptr) return is_in_set(glob, end, one) ? end : nullptr;
  }
  return *glob == one ? glob + 1 : nullptr;
}

}  // namespace

// Only the last star has to be tried again: what stands before it has matched as early as it can.
bool matches_glob(const char* glob, const char* text) {
  const char* after_star = nullptr;
  const char* retry = nullptr;
  while (*text != '\0') {
    if (*glob == '*') {
      after_star = ++glob;
      retry = text;
      continue;
    }
    if (const char* const next = match_one(glob, *text)) {
      glob = next;
      ++text;
    } else if (after_star != nullptr) {
      glob = after_star;
      text = ++retry;
    } else {
      return false;
    }
  }
  while (*glob == '*') ++glob;
  return *glob == '\0';
}

}  // namespace petrel::runtime
