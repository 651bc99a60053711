// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_bytecode/aot/bytecode_backend.h"
#include "examples/backend_bytecode/runtime/bytecode_backend.h"
#include "test/conformance/fixture.h"

namespace petrel::conformance {

Fixture backend_under_test() {
  Fixture fixture;
  fixture.compiler = backends::bytecode::aot::bytecode_backend();
  fixture.runtime = backends::bytecode::bytecode_backend();
  fixture.type = "f32[3,50]";
  fixture.step = "aten.add.Tensor($x, $w, 2)";
  fixture.methods = {
      // Every operator it takes, with tensors and with numbers.
      R"(method @forward(%x: f32[3,50], %y: f32[3,50]) {
           %w = constant @w : f32[3,50]
           %a = aten.add.Tensor(%x, %y, 1) : f32[3,50]
           %b = aten.sub.Tensor(%a, %w, 0.5) : f32[3,50]
           %c = aten.mul.Tensor(%b, %a) : f32[3,50]
           %d = aten.relu.default(%c) : f32[3,50]
           %e = aten.mul.Scalar(%d, -0.25) : f32[3,50]
           %f = aten.add.Scalar(%e, 3, 1) : f32[3,50]
           return %f, %b
         })",
      // Two shapes are two parts.
      R"(method @forward(%x: f32[4], %y: f32[2,4]) {
           %a = aten.mul.Tensor(%x, %x) : f32[4]
           %b = aten.mul.Tensor(%y, %y) : f32[2,4]
           %c = aten.add.Tensor(%b, %a, 1) : f32[2,4]
           %d = aten.relu.default(%c) : f32[2,4]
           return %d
         })",
  };
  return fixture;
}

}  // namespace petrel::conformance
