// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/runtime/xnnpack_delegate.h"
#include "test/conformance/fixture.h"

namespace petrel::conformance {

Fixture backend_under_test() {
  Fixture fixture;
  fixture.compiler = backends::xnnpack::aot::xnnpack_backend();
  fixture.runtime = backends::xnnpack::xnnpack_backend();
  fixture.type = "f32[2,8]";
  fixture.step = "aten.linear.default($x, $w, none)";
  fixture.weight_type = "f32[8,8]";
  fixture.tolerance = 1e-6;
  fixture.mutation_stride = 3;
  fixture.methods = {
      R"(method @forward(%x: f32[2,8], %y: f32[2,8]) {
           %w = constant @w : f32[8]
           %a = aten.add.Tensor(%x, %y, 1) : f32[2,8]
           %b = aten.mul.Tensor(%a, %w) : f32[2,8]
           %c = aten.sigmoid.default(%b) : f32[2,8]
           %d = aten.erf.default(%c) : f32[2,8]
           %e = aten.sub.Tensor(%d, %a, 1) : f32[2,8]
           return %e, %c
         })",
      R"(method @forward(%x: f32[1,3,6,6]) {
           %w = constant @w : f32[4,3,3,3]
           %b = constant @b : f32[4]
           %a = aten.convolution.default(%x, %w, %b, [1,1], [1,1], [1,1], false, [0,0], 1)
               : f32[1,4,6,6]
           %r = aten.relu.default(%a) : f32[1,4,6,6]
           %p = aten.permute.default(%r, [0,2,3,1]) : f32[1,6,6,4]
           return %p
         })",
  };
  fixture.takes_varying_sizes = true;
  fixture.varying_methods = {
      R"(method @forward<n: 1..6>(%x: f32[n,8]) {
           %w = constant @w : f32[4,8]
           %b = constant @b : f32[4]
           %a = aten.linear.default(%x, %w, %b)
           %c = aten.sigmoid.default(%a)
           %d = aten.erf.default(%c)
           %e = aten.mul.Tensor(%d, %a)
           return %e, %c
         })",
      // Both sides of images, with windows over them.
      R"(method @forward<h: 4..12, w: 4..11>(%x: f32[1,3,h,w]) {
           %w = constant @w : f32[4,3,3,3]
           %a = aten.convolution.default(%x, %w, none, [2,2], [1,1], [1,1], false, [0,0], 1)
           %r = aten.relu.default(%a)
           return %r
         })",
      // In branches and bodies.
      R"(method @forward<n: 1..6>(%x: f32[n,8], %f: f32[]) {
           %p = aten.gt.Scalar(%f, 0)
           %y = petrel.cond.default(%p, [%x]) : f32[n,8] do {
             method @true(%t: f32[n,8]) {
               %w = constant @w : f32[8,8]
               %a = aten.linear.default(%t, %w, none)
               return %a
             }
             method @false(%t: f32[n,8]) {
               %a = aten.sigmoid.default(%t)
               %b = aten.mul.Tensor(%a, %t)
               return %b
             }
           }
           %z = petrel.map.default([%y], []) : f32[n,8] do {
             method @row(%t: f32[8]) {
               %v = constant @v : f32[8]
               %a = aten.add.Tensor(%t, %v, 1)
               return %a
             }
           }
           return %z
         })",
  };
  return fixture;
}

}  // namespace petrel::conformance
