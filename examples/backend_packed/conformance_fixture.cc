// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_packed/aot/packed_backend.h"
#include "examples/backend_packed/runtime/packed_backend.h"
#include "test/conformance/fixture.h"

namespace petrel::conformance {

Fixture backend_under_test() {
  Fixture fixture;
  fixture.compiler = backends::packed::aot::packed_backend();
  fixture.runtime = backends::packed::packed_backend();
  fixture.type = "f32[2,3]";
  fixture.step = "aten.mul.Tensor($x, $w)";
  fixture.methods = {
      // Every operator it takes.
      R"(method @forward(%x: f32[2,3], %y: f32[2,3]) {
           %w = constant @w : f32[2,3]
           %a = aten.add.Tensor(%x, %y, 1) : f32[2,3]
           %b = aten.mul.Tensor(%a, %w) : f32[2,3]
           %c = aten.add.Tensor(%b, %b, 1) : f32[2,3]
           return %c, %a
         })",
      // Some that it leaves in the middle, and sizes that differ.
      R"(method @forward(%x: f32[4], %y: f32[2,4]) {
           %a = aten.mul.Tensor(%x, %x) : f32[4]
           %b = aten.add.Tensor(%a, %y, 1) : f32[2,4]
           %c = aten.relu.default(%b) : f32[2,4]
           %d = aten.add.Tensor(%c, %y, 1) : f32[2,4]
           %e = aten.add.Tensor(%d, %c, 2) : f32[2,4]
           return %e
         })",
      // Tensors without elements.
      R"(method @forward(%x: f32[0,3]) {
           %a = aten.add.Tensor(%x, %x, 1) : f32[0,3]
           return %a
         })",
  };
  // They stay with the kernels: its payloads say how many elements there are.
  fixture.varying_methods = {
      R"(method @forward<n: 1..6>(%x: f32[n,3]) {
           %a = aten.mul.Tensor(%x, %x)
           %b = aten.add.Tensor(%a, %x, 1)
           return %b
         })",
  };
  fixture.packs_weights = true;
  return fixture;
}

}  // namespace petrel::conformance
