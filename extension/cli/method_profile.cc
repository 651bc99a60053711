// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/method_profile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "extension/cli/console.h"

namespace petrel::extension {
namespace {

using runtime::EventTracerEntry;

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

void MethodProfile::create_event_block(const char* name) {
  if (std::strcmp(name, "execute") == 0) ++runs_;
}

EventTracerEntry MethodProfile::start(const char* name, const Place& place) {
  const auto [at, is_new] = rows_.try_emplace(place);
  Row& row = at->second;
  if (is_new) {
    row.name = name;
    row.order = rows_.size();
  }
  open_.push_back(&row);
  return {open_.size() - 1, now_ns()};
}

void MethodProfile::end(EventTracerEntry entry) {
  const uint64_t end = now_ns();
  Row& row = *open_[entry.id];
  open_.resize(entry.id);
  row.seconds.resize(runs_, 0);
  if (runs_ > 0) row.seconds.back() += 1e-9 * static_cast<double>(end - entry.start);
}

EventTracerEntry MethodProfile::start_profiling(const char* name, uint32_t chain,
                                                uint32_t instruction) {
  chain_ = chain;
  instruction_ = instruction;
  return start(name, {chain, instruction, kNoInstruction});
}

void MethodProfile::end_profiling(EventTracerEntry entry) { end(entry); }

EventTracerEntry MethodProfile::start_profiling_delegate(const char* name, uint32_t debug_index) {
  return start(name, {chain_, instruction_, debug_index});
}

void MethodProfile::end_profiling_delegate(EventTracerEntry entry, const void*, size_t) {
  end(entry);
}

void MethodProfile::begin_counting() {
  rows_.clear();
  open_.clear();
  runs_ = 0;
}

std::vector<std::pair<MethodProfile::Place, const MethodProfile::Row*>> MethodProfile::in_order()
    const {
  std::vector<std::pair<Place, const Row*>> list;
  for (const auto& [place, row] : rows_) {
    const bool is_method = std::get<1>(place) == kNoInstruction;
    if (!is_method) list.emplace_back(place, &row);
  }
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a.second->order < b.second->order; });
  return list;
}

double MethodProfile::median(const Row& row) const {
  std::vector<double> sorted = row.seconds;
  sorted.resize(runs_, 0);
  if (sorted.empty()) return 0;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

double MethodProfile::sum_of_instructions() const {
  double sum = 0;
  for (const auto& [place, row] : in_order()) {
    if (std::get<2>(place) == kNoInstruction) sum += median(*row);
  }
  return sum;
}

void MethodProfile::print_text() const {
  const double all = sum_of_instructions();
  for (const auto& [place, row] : in_order()) {
    const bool is_step = std::get<2>(place) != kNoInstruction;
    const double seconds = median(*row);
    std::printf("  %10s %5.1f %%  %s%s\n", format_seconds(seconds).c_str(),
                all > 0 ? 100 * seconds / all : 0.0, is_step ? "  " : "", row->name.c_str());
  }
}

nlohmann::ordered_json MethodProfile::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [place, row] : in_order()) {
    nlohmann::ordered_json entry = {
        {"name", row->name}, {"chain", std::get<0>(place)}, {"instruction", std::get<1>(place)}};
    if (std::get<2>(place) != kNoInstruction) entry["delegate_step"] = std::get<2>(place);
    entry["p50_seconds"] = median(*row);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace petrel::extension
