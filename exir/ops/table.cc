// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>

#include "exir/ops/families.h"

namespace petrel::exir {
namespace {

struct Table {
  std::vector<const OpInfo*> sorted;
  std::unordered_map<std::string, const OpInfo*> by_name;
};

// A row that does not parse is a mistake in this folder that every test of it
// shows; there is nothing a caller could do about it.
[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "operator table: %s\n", why.c_str());
  std::abort();
}

void add_row(const OpRow& row, Table* table) {
  absl::StatusOr<OpInfo> parsed = parse_schema(row.schema);
  if (!parsed.ok()) die(std::string(parsed.status().message()));
  auto* info = new OpInfo(*std::move(parsed));
  info->traits = row.traits;
  info->infer = row.infer;
  info->decompose = row.decompose;
  const std::string out = row.out;
  const size_t dot = out.find('.');
  info->out_name = out.substr(0, dot);
  if (dot != std::string::npos) info->out_overload = out.substr(dot + 1);
  if (!table->by_name.emplace(info->full_name(), info).second) {
    die("two rows of " + info->full_name());
  }
  table->sorted.push_back(info);
}

const Table& table() {
  static const Table* const kTable = [] {
    auto* made = new Table();
    for (absl::Span<const OpRow> rows :
         {activation_ops(), binary_ops(),    compare_ops(),  composite_ops(), conv_ops(),
          copy_ops(),       delegate_ops(),  effect_ops(),   factory_ops(),   index_ops(),
          matmul_ops(),     norm_ops(),      pad_ops(),      pool_ops(),      quantized_ops(),
          recurrent_ops(),  reduction_ops(), resample_ops(), scalar_ops(),    shape_ops(),
          unary_ops(),      view_ops()}) {
      for (const OpRow& row : rows) add_row(row, made);
    }
    std::sort(made->sorted.begin(), made->sorted.end(),
              [](const OpInfo* a, const OpInfo* b) { return a->full_name() < b->full_name(); });
    return made;
  }();
  return *kTable;
}

}  // namespace

const OpInfo* find_op(absl::string_view full_name) {
  const auto& by_name = table().by_name;
  const auto it = by_name.find(std::string(full_name.data(), full_name.size()));
  return it == by_name.end() ? nullptr : it->second;
}

const OpInfo& op(absl::string_view full_name) {
  const OpInfo* info = find_op(full_name);
  if (info == nullptr) {
    die("no row of " + std::string(full_name.data(), full_name.size()));
  }
  return *info;
}

const std::vector<const OpInfo*>& all_ops() { return table().sorted; }

}  // namespace petrel::exir
