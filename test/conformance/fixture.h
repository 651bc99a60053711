// SPDX-License-Identifier: Apache-2.0
//
// What a backend author gives the conformance suite: both halves of the backend
// and how to make graphs that it takes. The suite composes programs from them,
// compiles and runs them with the backend and with kernels alone, and then does
// to the backend whatever a bad file, a full memory or many threads may do.
//
//   // my_fixture.cc
//   namespace petrel::conformance {
//   Fixture backend_under_test() {
//     Fixture fixture;
//     fixture.compiler = my_backend();
//     fixture.runtime = my_runtime_backend();
//     fixture.type = "f32[2,3]";
//     fixture.step = "aten.mul.Tensor($x, $w)";
//     fixture.varying_methods = {...};
//     return fixture;
//   }
//   }
//
//   # BUILD.bazel
//   load("//test/conformance:conformance.bzl", "petrel_conformance_test")
//   petrel_conformance_test(name = "my_conformance_test", fixture = ":my_fixture")
//
// docs/backend.md goes through all of it.
#ifndef PETREL_TEST_CONFORMANCE_FIXTURE_H_
#define PETREL_TEST_CONFORMANCE_FIXTURE_H_

#include <string>
#include <vector>

#include "exir/backend/backend.h"
#include "runtime/backend/interface.h"

namespace petrel::conformance {

struct Fixture {
  const exir::Backend* compiler = nullptr;
  runtime::Backend runtime = {nullptr, nullptr};

  // The type of a step's argument and result; float.
  std::string type;
  // An operator that the backend takes, of a tensor $x and a constant $w.
  std::string step;
  // The type of $w; "" for that of the step.
  std::string weight_type;

  // An operator of $x that the backend does not take, and kernels have.
  std::string barrier = "aten.erf.default($x)";

  // Further whole methods in text IR, inputs of type float: with every operator
  // that the backend takes, and with some that it takes in part.
  std::vector<std::string> methods;

  // Partitions may have sizes that vary from call to call; as the partitioner says.
  // Where false, the suite checks that they are refused ahead of time.
  bool takes_varying_sizes = false;
  // Whole methods whose inputs are float and vary, of operators that the backend
  // takes where sizes are fixed, and some that it does not take. What varies are
  // whole sizes: method @forward<n: 1..6>(%x: f32[n,8]) (exir/ir/text.h).
  std::vector<std::string> varying_methods;

  // Most difference from the kernels, relative to the largest magnitude; 0 for
  // bit-equal results.
  double tolerance = 0;

  // Constants go to the store by add_weight or add_derived, so that methods share them, the
  // export says where they go, and others can take their place. False when they are in the
  // payload.
  bool stores_weights = true;
  // By add_derived, the weights of a partition or of more in one blob, which then go to one
  // file.
  bool packs_weights = false;

  // A payload byte is damaged at every `mutation_stride`-th position; more than
  // 1 where payloads are long and init is slow.
  size_t mutation_stride = 1;
};

// Defined by the author, once per test binary.
Fixture backend_under_test();

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_FIXTURE_H_
