// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: verified, loaded and executed with the optimized and with
// the portable kernels.

#include "runtime/executor/registry.h"
#include "test/fuzz/flatbuffer_mutator.h"
#include "test/fuzz/oracle.h"
#include "test/fuzz/program_run.h"
#include "test/fuzz/schemas.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  const runtime::Registry& all = runtime::default_registry();
  const fuzz::ProgramResult result = fuzz::run_program(data, size, all, fuzz::small_limits());
  if (result.load == runtime::Error::Ok) {
    bool is_executed = false;
    for (const fuzz::Call& call : result.calls) {
      is_executed = is_executed || call.error == runtime::Error::Ok;
    }
    fuzz::whole_executions += is_executed ? 1 : 0;
    fuzz::run_program(data, size, fuzz::reference_registry(all), fuzz::small_limits());
  }
  return 0;
}

petrel::fuzz::Layout petrel::fuzz::layout_of(const uint8_t*, size_t) {
  return {program_schema(), 0, &additions_schema()};
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace petrel::fuzz;
  return mutate_flatbuffer(layout_of(data, size), data, size, max_size, seed);
}
