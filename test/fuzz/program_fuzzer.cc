// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: verified, loaded and executed with the optimized and with
// the portable kernels.

#include "runtime/executor/registry.h"
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
