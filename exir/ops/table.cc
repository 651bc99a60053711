// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "exir/ops/families.h"

namespace petrel::exir {
namespace {

struct Table {
  std::vector<const OpInfo*> sorted;
  std::unordered_map<std::string, OpInfo*> by_name;
  std::vector<std::string> arg_names;
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
  const std::string out = row.out;
  const size_t dot = out.find('.');
  info->out_name = out.substr(0, dot);
  if (dot != std::string::npos) info->out_overload = out.substr(dot + 1);
  if (!table->by_name.emplace(info->full_name(), info).second) {
    die("two rows of " + info->full_name());
  }
  table->sorted.push_back(info);
}

// "aten::add.Tensor", "aten::relu" -> "aten.add.Tensor", "aten.relu.default".
std::string full_name_of(const std::string& name) {
  const std::string full = absl::StrReplaceAll(name, {{"::", "."}});
  return absl::StrContains(name, '.') ? full : absl::StrCat(full, ".default");
}

void link_twin(const OpRow& row, Table* table) {
  const std::string schema = row.schema;
  OpInfo* info = table->by_name.at(full_name_of(schema.substr(0, schema.find('('))));
  if (*row.twin == '\0') return;
  const auto twin = table->by_name.find(full_name_of(row.twin));
  if (twin == table->by_name.end()) {
    die(absl::StrCat("no row of ", row.twin, ", the twin of ", info->full_name()));
  }
  info->twin = twin->second;
}

// Numbers rows and names of arguments in the order of the alphabet.
void give_handles(Table* table) {
  std::sort(table->sorted.begin(), table->sorted.end(),
            [](const OpInfo* a, const OpInfo* b) { return a->full_name() < b->full_name(); });
  std::map<std::string, uint16_t> names;
  for (const OpInfo* info : table->sorted) {
    for (const ArgSpec& spec : info->args) names[spec.name];
  }
  for (auto& [name, number] : names) {
    number = static_cast<uint16_t>(table->arg_names.size());
    table->arg_names.push_back(name);
  }
  for (size_t row = 0; row < table->sorted.size(); ++row) {
    OpInfo* info = table->by_name.at(table->sorted[row]->full_name());
    info->handle.row = static_cast<uint16_t>(row);
    for (ArgSpec& spec : info->args) {
      spec.handle = {names.at(spec.name), spec.name.c_str()};
    }
  }
}

const Table& table() {
  static const Table* const kTable = [] {
    auto* made = new Table();
    const std::vector<absl::Span<const OpRow>> families = {
        rules::activation_ops(),   rules::binary_ops(),    rules::compare_ops(),
        rules::complex_ops(),      rules::composite_ops(), rules::conv_ops(),
        rules::copy_ops(),         rules::delegate_ops(),  rules::effect_ops(),
        rules::factory_ops(),      rules::index_ops(),     rules::loss_ops(),
        rules::matmul_ops(),       rules::norm_ops(),      rules::pad_ops(),
        rules::pool_ops(),         rules::quantized_ops(), rules::torchao_ops(),
        rules::recurrent_ops(),    rules::reduction_ops(), rules::resample_ops(),
        rules::scalar_ops(),       rules::scatter_ops(),   rules::shape_ops(),
        rules::unary_ops(),        rules::view_ops(),      rules::int8_ops(),
        rules::decoder_ops(),      rules::random_ops(),    rules::combine_ops(),
        rules::linalg_ops(),       rules::calculus_ops(),  rules::grouped_ops(),
        rules::fake_quantize_ops()};
    for (absl::Span<const OpRow> rows : families) {
      for (const OpRow& row : rows) add_row(row, made);
    }
    for (absl::Span<const OpRow> rows : families) {
      for (const OpRow& row : rows) link_twin(row, made);
    }
    give_handles(made);
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

const OpInfo& op(OpHandle handle) { return *table().sorted[handle.row]; }

const std::vector<const OpInfo*>& all_ops() { return table().sorted; }

const std::vector<std::string>& all_arg_names() { return table().arg_names; }

}  // namespace petrel::exir
