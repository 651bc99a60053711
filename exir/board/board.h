// SPDX-License-Identifier: Apache-2.0
//
// A board as its file describes it: what computes, which memories there are, what it counts
// time with, how it is clocked, and with what code for it is compiled and run.
//
//   PETREL_ASSIGN_OR_RETURN(const Board board, read_board("qemu-microbit"));
//   PETREL_ASSIGN_OR_RETURN(const Board mine, read_board("boards/mine.json"));
//   board.memories[1].size   16384
//
// docs/device.md has the table of all keys. Invariant of what read_board() returns: names
// differ, every name that is referred to is there, sizes are in [1, 2^40], memories do not
// overlap. Owns all that it holds.
#ifndef PETREL_EXIR_BOARD_BOARD_H_
#define PETREL_EXIR_BOARD_BOARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/plan/formats/memory_pool.h"

namespace petrel::exir {

// What computes: a core of the processor, or an accelerator.
struct BoardProcessor {
  std::string name;                     // "cpu0"
  std::string cpu;                      // "cortex-m4"
  std::vector<std::string> extensions;  // "dsp", "mve", "fpu", ...

  bool has(absl::string_view extension) const;
};

struct BoardMemory {
  std::string name;
  plan::PoolKind kind = plan::PoolKind::kReadWrite;  // read-only: code and constants
  uint64_t address = 0;
  int64_t size = 0;
  int64_t reserved = 0;  // of these bytes, for the stack and what is not the model's
  std::string section;   // of arrays of the model; "": the linker's own
  // Names of cores and accelerators; empty: all.
  std::vector<std::string> reached_by;
  bool cacheable = false;
  // What one processor wrote others see after a flush only, and read after a prefetch only.
  bool needs_flush = false;
  bool needs_prefetch = false;

  int64_t free_bytes() const { return size - reserved; }
};

struct BoardTimer {
  std::string name;
  int width = 0;   // bits; 0: there is no timer
  int64_t hz = 0;  // ticks a second
  bool stops_in_sleep = false;
};

// With what code is compiled. `install` is the command that installs it.
struct BoardToolchain {
  std::string prefix;              // "arm-none-eabi-"
  std::vector<std::string> flags;  // of the compiler and the linker
  std::string install;
};

// What runs it on the machine of the user; `program` is "" for boards to hold in hands.
struct BoardEmulator {
  std::string program;  // "qemu-system-arm"
  std::string machine;  // "mps2-an386"
  std::vector<std::string> flags;
  std::string install;
};

struct Board {
  std::string name;
  std::string description;
  std::string family;                 // the folder of its firmware
  std::vector<BoardProcessor> cores;  // the first runs the generated C
  std::vector<BoardProcessor> accelerators;
  std::vector<BoardMemory> memories;  // preferred ones first
  BoardTimer timer;
  std::string clock;    // the name of the configuration of its clocks
  int64_t core_hz = 0;  // 0: not said
  BoardToolchain toolchain;
  BoardEmulator emulator;
  std::vector<std::string> flash;   // a command, "{image}" and "{port}" are replaced
  std::vector<std::string> server;  // a command that speaks the project API; empty: ours
  int64_t server_seconds = 30;      // how long it may be silent
  std::vector<std::string> usb;     // "0d28:0204": what its serial port is found by
  std::string text;                 // of its file
};

// `word` is a name of board_names(), or the path of a file: it holds a '/' or ends with
// ".json". NotFound for a name that there is not, with those that there are; InvalidArgument
// names the key, its value and what it must be.
absl::StatusOr<Board> read_board(const std::string& word);

// The same from the text of a file; errors begin with `origin`.
absl::StatusOr<Board> parse_board(absl::string_view text, const std::string& origin);

// Of the boards that are shipped, sorted.
std::vector<std::string> board_names();

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BOARD_BOARD_H_
