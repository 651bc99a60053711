// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: verified, loaded and executed with the optimized and with
// the portable kernels.

#include "runtime/executor/registry.h"
#include "test/fuzz/flatbuffer_mutator.h"
#include "test/fuzz/schemas.h"
#include "test/fuzz/program_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  const runtime::Registry& all = runtime::default_registry();
  const fuzz::ProgramResult result = fuzz::run_program(data, size, all, fuzz::small_limits());
  if (result.load == runtime::Error::Ok) {
    fuzz::run_program(data, size, fuzz::reference_registry(all), fuzz::small_limits());
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return petrel::fuzz::mutate_flatbuffer(petrel::fuzz::program_schema(), 0, data, size, max_size,
                                         seed);
}
