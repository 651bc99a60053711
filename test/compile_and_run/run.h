// SPDX-License-Identifier: Apache-2.0
//
// Runs emitted programs in memory, with the portable kernels and the null
// backend.
//
//   LoadedMethod method(files, "forward");
//   ASSERT_EQ(method.error(), runtime::Error::Ok);
//   auto outputs = method.run({{1, 2}, {3, 4}});
#ifndef PETREL_TEST_COMPILE_AND_RUN_RUN_H_
#define PETREL_TEST_COMPILE_AND_RUN_RUN_H_

#include <memory>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/core/error.h"

namespace petrel::compile_and_run {

// By destination, "" the program.
using Files = std::map<std::string, std::string>;

class LoadedMethod {
 public:
  // `files` must outlive this; one external file at most.
  LoadedMethod(const Files& files, const std::string& name);
  ~LoadedMethod();

  // Of loading.
  runtime::Error error() const;
  // Fills the arenas. Only for a method without state, which lies there, too.
  void fill(uint8_t byte);
  // Elements of every output for elements of every input, all of type float.
  // Fails the running test on any error.
  std::vector<std::vector<float>> run(const std::vector<std::vector<float>>& inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace petrel::compile_and_run

#endif  // PETREL_TEST_COMPILE_AND_RUN_RUN_H_
