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
  fixture.takes_varying_sizes = true;
  fixture.varying_methods = {
      // More than a block, and less.
      R"(method @forward<n: 1..6>(%x: f32[n,50], %y: f32[n,50]) {
           %a = aten.mul.Tensor(%x, %y)
           %b = aten.erf.default(%a)
           %c = aten.sub.Tensor(%b, %a, 0.5)
           %d = aten.relu.default(%c)
           %e = aten.add.Scalar(%d, 3, 1)
           return %e, %a
         })",
      // Two sizes, and one that is computed from both.
      R"(method @forward<m: 0..9 at 9|0|7|1|2|4|8|3, n: 1..6>(%x: f32[n,1], %y: f32[m]) {
           %a = aten.relu.default(%x)
           %b = aten.mul.Tensor(%y, %y)
           %c = aten.add.Tensor(%a, %b, 1)
           %d = aten.mul.Scalar(%c, -0.25)
           return %d
         })",
      // In branches and bodies.
      R"(method @forward<n: 1..6>(%x: f32[n,4], %f: f32[]) {
           %p = aten.gt.Scalar(%f, 0)
           %y = petrel.cond.default(%p, [%x]) : f32[n,4] do {
             method @true(%t: f32[n,4]) {
               %a = aten.mul.Tensor(%t, %t)
               return %a
             }
             method @false(%t: f32[n,4]) {
               %a = aten.sub.Tensor(%t, %t, 3)
               %b = aten.relu.default(%a)
               return %b
             }
           }
           %z = petrel.map.default([%y], []) : f32[n,4] do {
             method @row(%t: f32[4]) {
               %w = constant @w : f32[4]
               %a = aten.add.Tensor(%t, %w, 1)
               return %a
             }
           }
           return %z
         })",
  };
  return fixture;
}

}  // namespace petrel::conformance
