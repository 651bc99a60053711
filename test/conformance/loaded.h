// SPDX-License-Identifier: Apache-2.0
//
// Compiled files, loaded with the watched backend and the portable kernels.
//
//   LoadedProgram program(compiled->files);
//   LoadedMethod method(program, "forward");
//   ASSERT_EQ(method.error(), Error::Ok);
//   ASSERT_EQ(method.run(inputs, &outputs), Error::Ok);
#ifndef PETREL_TEST_CONFORMANCE_LOADED_H_
#define PETREL_TEST_CONFORMANCE_LOADED_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/executor/program.h"
#include "test/conformance/compiled.h"

namespace petrel::conformance {

class LoadedProgram {
 public:
  // With the data file among `files`, if there is one and `with_data`.
  // `registry` null: the watched backend and the portable kernels.
  explicit LoadedProgram(const Files& files, bool with_data = true,
                         const runtime::Registry* registry = nullptr);
  ~LoadedProgram();

  runtime::Error error() const;
  const runtime::Program& program() const;
  const runtime::NamedDataMap* data() const;  // null without data files

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What one load may get.
struct LoadSettings {
  int64_t fail_allocation = -1;  // of the method's memory, counted from 0
  size_t temp_bytes = size_t{1} << 20;
  const runtime::LoadBackendOptionsMap* options = nullptr;
};

class LoadedMethod {
 public:
  // `program` must outlive this.
  LoadedMethod(const LoadedProgram& program, const std::string& name,
               const LoadSettings& settings = {});
  ~LoadedMethod();

  runtime::Error error() const;
  // Allocations of the method's memory.
  int64_t allocations() const;
  // Tensors that vary have as many rows as their elements make.
  runtime::Error run(const std::vector<Elements>& inputs, std::vector<Elements>* outputs);
  // With inputs of these sizes instead of those that the method declares, and
  // the sizes of the outputs.
  runtime::Error run(const std::vector<Elements>& inputs, const std::vector<exir::Sizes>& sizes,
                     std::vector<Elements>* outputs, std::vector<exir::Sizes>* output_sizes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The whole way; an error fails the running test and gives no outputs.
std::vector<Elements> load_and_run(const Files& files, const std::string& method,
                                   const std::vector<Elements>& inputs);

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_LOADED_H_
