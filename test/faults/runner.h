// SPDX-License-Identifier: Apache-2.0
//
// Runs a program the way the fault tests need it: from memory, with every piece
// of memory a block of its own of exactly the size asked for (so that a
// sanitizer sees the first byte beyond), and with faults on demand.
//
//   Faults faults;
//   faults.fail_allocation = 3;
//   const Report report = run_program(golden.bytes, golden, &faults);

#ifndef PETREL_TEST_FAULTS_RUNNER_H_
#define PETREL_TEST_FAULTS_RUNNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/memory_allocator.h"
#include "runtime/core/named_data_map.h"
#include "test/faults/golden.h"

namespace petrel::faults {

// What goes wrong, counted from 0; -1: never.
struct Faults {
  int64_t fail_allocation = -1;
  // Every allocation from fail_allocation on.
  bool keep_failing = false;

  int64_t fail_load = -1;
  enum class LoadFault { Error, ShortRead, Misaligned, OtherBytes } load_fault = LoadFault::Error;
  // Added to the size that the loader tells.
  int64_t size_error = 0;

  // How many there were.
  int64_t allocations = 0;
  int64_t loads = 0;
};

struct Report {
  // Of Program::load.
  runtime::Error load = runtime::Error::Ok;
  // Per method: of load_method, or of the inputs, or of execute.
  std::vector<runtime::Error> methods;
  // Differences from the expected outputs; empty if all is as expected.
  std::vector<std::string> differences;
  // Buffers of the loader that were never freed.
  int64_t leaked_buffers = 0;

  bool all_ok() const;
};

// Loads `bytes` and runs every method, with the golden inputs where they fit
// and with ones elsewhere. Outputs are compared with the golden ones if
// `compare`.
Report run_program(const std::vector<uint8_t>& bytes, const Golden& golden, Faults* faults,
                   bool compare = false);

// Messages of the runtime go nowhere, and the last is kept, while this lives.
class QuietLog final {
 public:
  QuietLog();
  ~QuietLog();
  static const std::string& last();
  static void clear();
};

// Memory from the heap in blocks of exactly the sizes asked for.
class BlockAllocator final : public runtime::MemoryAllocator {
 public:
  // `faults` may be null.
  explicit BlockAllocator(Faults* faults) : MemoryAllocator(0, nullptr), faults_(faults) {}
  ~BlockAllocator() override { free_all(); }

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override;
  void reset() override { free_all(); }

 private:
  void free_all();

  Faults* faults_;
  std::vector<void*> blocks_;
};

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_RUNNER_H_
