// SPDX-License-Identifier: Apache-2.0
//
// What a build of the runtime answers to damaged programs: loads and runs each golden program,
// whole, cut off everywhere and with each byte changed, and prints one line for each:
//
//   damaged_answers
//   add 16 ^80 35                  byte 16 with bit 7 turned: InvalidProgram
//   add 12 = 0 0                   the byte that was there: loads, and its method runs
//
// The last line says how many messages there were.
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/core/log.h"
#include "test/faults/golden.h"
#include "test/faults/runner.h"

namespace petrel::faults {
namespace {

size_t num_messages = 0;

void count(void*, runtime::LogLevel, const char*) { ++num_messages; }

void answer(const Golden& golden, const std::vector<uint8_t>& bytes, size_t place,
            const char* change) {
  Faults faults;
  const Report report = run_program(bytes, golden, &faults, /*compare=*/true);
  std::printf("%s %zu %s %u", golden.name.c_str(), place, change,
              static_cast<unsigned>(report.load));
  for (const runtime::Error method : report.methods) {
    std::printf(" %u", static_cast<unsigned>(method));
  }
  std::printf(report.differences.empty() ? "\n" : " other outputs\n");
}

void damage(const Golden& golden) {
  answer(golden, golden.bytes, 0, "=");
  std::vector<uint8_t> bytes = golden.bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t before = bytes[i];
    for (const uint8_t turned : {0x01, 0x04, 0x80, 0xff}) {
      bytes[i] = before ^ turned;
      char change[8];
      std::snprintf(change, sizeof(change), "^%02x", unsigned{turned});
      answer(golden, bytes, i, change);
    }
    bytes[i] = before;
  }
  while (!bytes.empty()) {
    bytes.pop_back();
    answer(golden, bytes, bytes.size(), "end");
  }
}

}  // namespace
}  // namespace petrel::faults

int main() {
  using namespace petrel;  // NOLINT: a test program
  runtime::set_log_hook({&faults::count, nullptr});
  for (const std::string& name : faults::golden_names()) {
    faults::damage(faults::load_golden(name));
  }
  std::printf("%zu messages\n", faults::num_messages);
  return 0;
}
