// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/tile_table.h"

#include <cpuinfo.h>
#include <errno.h>
#include <string.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/platform/file.h"
#include "runtime/platform/isa_level.h"
#include "runtime/platform/private_file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace petrel::backends::xnnpack {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char kFormat[] = "petrel tiles";
// Of every table that is written here.
constexpr char kBegin[] = "{\n  \"format\": \"petrel tiles\"";
constexpr char kTooLarge[] = "has more bytes than a table of tiles";

uint64_t size_of(const cpuinfo_cache* cache) { return cache == nullptr ? 0 : cache->size; }

#if defined(__x86_64__)
// As the processor's manuals add them up.
void find_processor(TileMachine* machine) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) != 0) {
    for (const unsigned word : {b, d, c}) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        const char letter = static_cast<char>(word >> shift);
        // A virtual machine may say anything.
        if (letter > ' ' && letter < 127) machine->vendor += letter;
      }
    }
  }
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return;
  const unsigned family = a >> 8 & 15, model = a >> 4 & 15;
  const bool is_extended = family == 15;
  machine->family = family + (is_extended ? a >> 20 & 255 : 0);
  machine->model = model + (is_extended || family == 6 ? (a >> 16 & 15) << 4 : 0);
}
#else
void find_processor(TileMachine*) {}
#endif

bool has_text(const json& object, const char* key, std::string_view text) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  const auto* const value = found->get_ptr<const std::string*>();
  return value != nullptr && *value == text;
}

bool has_number(const json& object, const char* key, uint64_t number) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  const auto* const value = found->get_ptr<const json::number_unsigned_t*>();
  return value != nullptr && *value == number;
}

bool are_rates(const json& classes) {
  if (!classes.is_object()) return false;
  for (const json& rates : classes) {
    if (!rates.is_object()) return false;
    for (const json& rate : rates) {
      if (!rate.is_number() || !(rate.get<double>() >= 0)) return false;
    }
  }
  return true;
}

bool has_types(const json& table) {
  static constexpr struct {
    const char* name;
    json::value_t type;
  } kMembers[] = {{"processor", json::value_t::object},
                  {"caches", json::value_t::object},
                  {"level", json::value_t::string},
                  {"tile", json::value_t::string},
                  {"multiply_adds_per_ns", json::value_t::object}};
  for (const auto& member : kMembers) {
    const auto found = table.find(member.name);
    if (found == table.end() || found->type() != member.type) return false;
  }
  return are_rates(*table.find("multiply_adds_per_ns"));
}

// Null with the reason; `*out_text` of the whole file otherwise.
const char* read_text(int fd, std::string* out_text) {
  runtime::FileState state;
  if (!runtime::read_state(fd, &state)) return strerror(errno);
  if (!state.is_regular) return "is not a regular file";
  if (state.size > kMaxTableBytes) return kTooLarge;
  out_text->resize(state.size);
  size_t done = 0;
  while (done < out_text->size()) {
    const int64_t got = runtime::read_at(fd, &(*out_text)[done], out_text->size() - done, done);
    if (got < 0) return "cannot be read";
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  out_text->resize(done);
  return nullptr;
}

}  // namespace

TileMachine this_machine() {
  TileMachine machine;
  machine.level = runtime::isa_level().name;
  find_processor(&machine);
  if (!cpuinfo_initialize()) return machine;
  machine.l1d = size_of(cpuinfo_get_l1d_cache(0));
  machine.l2 = size_of(cpuinfo_get_l2_cache(0));
  machine.l3 = size_of(cpuinfo_get_l3_cache(0));
  return machine;
}

std::string format_tile_table(const TileMachine& machine, const Trial& trial) {
  ordered_json classes = ordered_json::object();
  for (size_t i = 0; i < third_party::xnnpack::kShapeClasses; ++i) {
    ordered_json rates = ordered_json::object();
    for (const auto& figures : trial.figures) {
      rates[figures.tile->name] = std::round(figures.rates[i] * 100) / 100;
    }
    classes[third_party::xnnpack::kTrialClasses[i].name] = std::move(rates);
  }
  const ordered_json table = {
      {"format", kFormat},
      {"version", kTableVersion},
      {"processor",
       {{"vendor", machine.vendor}, {"family", machine.family}, {"model", machine.model}}},
      {"level", machine.level},
      {"caches", {{"l1d", machine.l1d}, {"l2", machine.l2}, {"l3", machine.l3}}},
      {"tile", trial.best->name},
      {"multiply_adds_per_ns", std::move(classes)}};
  return table.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

TableReading parse_tile_table(std::string_view text, const TileMachine& machine) {
  const bool is_foreign =
      text.substr(0, sizeof(kBegin) - 1) != std::string_view(kBegin).substr(0, text.size());
  const auto no = [&](const char* reason) { return TableReading{nullptr, reason, is_foreign}; };
  if (text.size() > kMaxTableBytes) return no(kTooLarge);
  const json table = json::parse(text.begin(), text.end(), nullptr, false);
  if (table.is_discarded()) return no("is not JSON");
  if (!table.is_object() || !has_text(table, "format", kFormat)) return no("is no table of tiles");
  if (!has_number(table, "version", kTableVersion)) return no("is of another version");
  if (!has_types(table)) return no("is a damaged table of tiles");
  const json& processor = *table.find("processor");
  if (!has_text(processor, "vendor", machine.vendor) ||
      !has_number(processor, "family", machine.family) ||
      !has_number(processor, "model", machine.model)) {
    return no("was made on another processor");
  }
  const json& caches = *table.find("caches");
  if (!has_number(caches, "l1d", machine.l1d) || !has_number(caches, "l2", machine.l2) ||
      !has_number(caches, "l3", machine.l3)) {
    return no("was made on a processor with other caches");
  }
  if (!has_text(table, "level", machine.level)) return no("was made at another level of --isa");
  const auto& name = *table.find("tile")->get_ptr<const std::string*>();
  const petrel_tile* const tile = petrel_find_tile(name.c_str());
  if (tile == nullptr || name != tile->name) return no("chooses a tile that is not known");
  if (!petrel_tile_is_possible(tile)) return no("chooses a tile that is not allowed here");
  return {tile, nullptr, false};
}

TableReading read_tile_table(const std::string& path, TableOwner owner,
                             const TileMachine& machine) {
  TableReading none;
  none.is_foreign = true;
  int fd = -1;
  if (owner == TableOwner::kUser) {
    fd = runtime::open_private(path.c_str(), &none.reason);
  } else {
    fd = runtime::open_to_read(path.c_str());
    if (fd < 0 && errno != ENOENT) none.reason = strerror(errno);
  }
  if (fd < 0) return none;
  std::string text;
  none.reason = read_text(fd, &text);
  runtime::close_file(fd);
  return none.reason != nullptr ? none : parse_tile_table(text, machine);
}

bool write_tile_table(const std::string& path, const std::string& text) {
  runtime::NewPrivateFile file(path);
  return file.is_open() && file.write(text.data(), text.size()) && file.put_in_place();
}

}  // namespace petrel::backends::xnnpack
