// SPDX-License-Identifier: Apache-2.0
#include "exir/board/board.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/board/fields.h"
#include "exir/board/shipped.h"
#include "exir/input/file_content.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr int64_t kFormat = 1;
constexpr uint64_t kMaxFileBytes = 1 << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr int64_t kMaxHz = 100'000'000'000;
constexpr int64_t kMaxSeconds = 3600;

// Names become parts of file names, symbols and words of a shell.
bool is_name(absl::string_view name, absl::string_view marks) {
  return !name.empty() && name.size() <= 60 && absl::ascii_isalnum(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(marks, c);
         });
}

std::string name_of(Fields& fields, const char* key, absl::string_view marks) {
  std::string name = fields.text(key);
  if (!name.empty() && !is_name(name, marks)) {
    fields.note(
        key, absl::StrCat("is '", name, "', must be at most 60 letters, digits and any of '", marks,
                          "', the first a letter or digit"));
  }
  return name;
}

// What make and a linker script would read as more than a word.
void check_words(Fields& fields, const char* key, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (is_name(absl::StrCat("x", word), "_-=.,+:/")) continue;
    fields.note(key,
                absl::StrCat("holds '", word, "', must be letters, digits and any of '_-=.,+:/'"));
  }
}

BoardProcessor read_processor(Fields& fields) {
  BoardProcessor processor;
  processor.name = name_of(fields, "name", "_-");
  processor.cpu = fields.text_or("cpu", "");
  processor.extensions = fields.texts("extensions");
  fields.note(fields.finish());
  return processor;
}

BoardMemory read_memory(Fields& fields) {
  BoardMemory memory;
  memory.name = name_of(fields, "name", "_");
  const std::string kind = fields.text("kind");
  if (!kind.empty() && kind != "ro" && kind != "rw") {
    fields.note("kind", absl::StrCat("is '", kind, "', must be ro or rw"));
  }
  memory.kind = kind == "ro" ? plan::PoolKind::kReadOnly : plan::PoolKind::kReadWrite;
  memory.address = static_cast<uint64_t>(fields.bytes("address", 0, INT64_MAX - kMaxBytes));
  memory.size = fields.bytes("size", 1, kMaxBytes);
  if (fields.has("reserved")) memory.reserved = fields.bytes("reserved", 0, memory.size);
  memory.section = fields.text_or("section", "");
  if (!memory.section.empty() && !is_name(absl::StrCat("x", memory.section), "._")) {
    fields.note("section",
                absl::StrCat("is '", memory.section, "', must be letters, digits, '.' and '_'"));
  }
  memory.reached_by = fields.texts("reached_by");
  memory.cacheable = fields.flag("cacheable");
  memory.needs_flush = fields.flag("needs_flush");
  memory.needs_prefetch = fields.flag("needs_prefetch");
  fields.note(fields.finish());
  return memory;
}

BoardTimer read_timer(Fields& fields) {
  BoardTimer timer;
  timer.name = fields.text("name");
  timer.width = static_cast<int>(fields.number("width", 8, 64));
  timer.hz = fields.number("hz", 1, kMaxHz);
  timer.stops_in_sleep = fields.flag("stops_in_sleep");
  fields.note(fields.finish());
  return timer;
}

// Names of all that computes and of all memories differ, and those that are referred to exist.
absl::Status check_names(const Board& board) {
  std::set<std::string> processors, memories;
  for (const auto* list : {&board.cores, &board.accelerators}) {
    for (const BoardProcessor& one : *list) {
      if (processors.insert(one.name).second) continue;
      return absl::InvalidArgumentError(absl::StrCat("two cores are called '", one.name, "'"));
    }
  }
  bool is_first = true;
  for (const BoardMemory& memory : board.memories) {
    if (!memories.insert(memory.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two memories are called '", memory.name, "'"));
    }
    for (const std::string& name : memory.reached_by) {
      if (processors.count(name) > 0) continue;
      return absl::InvalidArgumentError(absl::StrCat("memory '", memory.name, "' is reached by '",
                                                     name, "', which is no core or accelerator"));
    }
    if (memory.kind == plan::PoolKind::kReadOnly) continue;
    if (!is_first && memory.section.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("memory '", memory.name,
                       "' has no section, so nothing would lie there; only "
                       "the first one of kind rw needs none"));
    }
    is_first = false;
  }
  return absl::OkStatus();
}

absl::Status check_overlaps(std::vector<BoardMemory> memories) {
  std::sort(memories.begin(), memories.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (size_t i = 1; i < memories.size(); ++i) {
    const BoardMemory& before = memories[i - 1];
    if (before.address + static_cast<uint64_t>(before.size) <= memories[i].address) continue;
    return absl::InvalidArgumentError(absl::StrCat("memories '", before.name, "' and '",
                                                   memories[i].name, "' overlap at 0x",
                                                   absl::Hex(memories[i].address)));
  }
  return absl::OkStatus();
}

void read_code(Fields& fields, Board* board) {
  Fields toolchain = fields.object("toolchain");
  board->toolchain.prefix = toolchain.text_or("prefix", "");
  board->toolchain.flags = toolchain.texts("flags");
  board->toolchain.install = toolchain.text_or("install", "");
  check_words(toolchain, "prefix", {board->toolchain.prefix});
  check_words(toolchain, "flags", board->toolchain.flags);
  fields.note(toolchain.finish());
  board->flash = fields.texts("flash");
  board->server = fields.texts("server");
  if (fields.has("server_seconds")) {
    board->server_seconds = fields.number("server_seconds", 1, kMaxSeconds);
  }
  board->usb = fields.texts("usb");
  if (!fields.has("emulator")) return;
  Fields emulator = fields.object("emulator");
  board->emulator.program = emulator.text("program");
  board->emulator.machine = emulator.text("machine");
  board->emulator.flags = emulator.texts("flags");
  board->emulator.install = emulator.text_or("install", "");
  check_words(emulator, "machine", {board->emulator.machine});
  fields.note(emulator.finish());
}

absl::StatusOr<Board> board_of(const Fields::Json& json) {
  Board board;
  Fields fields(json, "");
  fields.text_or("license", "");
  fields.number("format", kFormat, kFormat);
  board.name = name_of(fields, "name", "_-.");
  board.description = fields.text_or("description", "");
  board.family = name_of(fields, "family", "_");
  for (Fields& one : fields.list("cores")) {
    board.cores.push_back(read_processor(one));
    fields.note(one.finish());
  }
  for (Fields& one : fields.list("accelerators")) {
    board.accelerators.push_back(read_processor(one));
    fields.note(one.finish());
  }
  for (Fields& one : fields.list("memories")) {
    board.memories.push_back(read_memory(one));
    fields.note(one.finish());
  }
  if (fields.has("timer")) {
    Fields timer = fields.object("timer");
    board.timer = read_timer(timer);
    fields.note(timer.finish());
  }
  if (fields.has("clock")) {
    Fields clock = fields.object("clock");
    board.clock = clock.text("configuration");
    if (clock.has("core_hz")) board.core_hz = clock.number("core_hz", 1, kMaxHz);
    fields.note(clock.finish());
  }
  read_code(fields, &board);
  PETREL_RETURN_IF_ERROR(fields.finish());
  if (board.cores.empty()) return absl::InvalidArgumentError("cores: is missing or empty");
  PETREL_RETURN_IF_ERROR(check_names(board));
  PETREL_RETURN_IF_ERROR(check_overlaps(board.memories));
  return board;
}

}  // namespace

bool BoardProcessor::has(absl::string_view extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

absl::StatusOr<Board> parse_board(absl::string_view text, const std::string& origin) {
  const std::string place = absl::StrCat("board ", origin);
  const auto json = parse_json(text);
  if (!json.ok()) return annotate(json.status(), place);
  auto board = board_of(*json);
  if (!board.ok()) return annotate(board.status(), place);
  board->text = std::string(text);
  return board;
}

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const ShippedBoard& board : shipped_boards()) names.emplace_back(board.name);
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Board> read_board(const std::string& word) {
  if (absl::StrContains(word, '/') || absl::EndsWith(word, ".json")) {
    const auto text = read_file_content(word, kMaxFileBytes);
    if (!text.ok()) return annotate(text.status(), absl::StrCat("board ", word));
    return parse_board(*text, word);
  }
  for (const ShippedBoard& board : shipped_boards()) {
    if (board.name == word) return parse_board(board.text, word);
  }
  return absl::NotFoundError(absl::StrCat("there is no board '", word, "'; there are ",
                                          absl::StrJoin(board_names(), ", "),
                                          ", and files whose names end with .json"));
}

}  // namespace petrel::exir
