// SPDX-License-Identifier: Apache-2.0
//
// clamp.Tensor_out(Tensor self, Tensor? min, Tensor? max, *, out): bounds per
// element, broadcast. Where min > max the result is max; NaN in any wins.
#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {

void clamp_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<Tensor> min = args.optional_tensor(1);
  const std::optional<Tensor> max = args.optional_tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_arithmetic(context, self) || !check_arithmetic(context, out) ||
      (min && !check_arithmetic(context, *min)) || (max && !check_arithmetic(context, *max)) ||
      !check(context, min || max, "min or max must be given")) {
    return;
  }
  SizeArray sizes(self.sizes());
  if (!check(context,
             (!min || broadcast_sizes(&sizes, min->sizes())) &&
                 (!max || broadcast_sizes(&sizes, max->sizes())),
             "sizes of the operands do not broadcast") ||
      !resize_out(context, out, sizes.span()) || !check_in_place(context, out, self) ||
      (min && !check_in_place(context, out, *min)) ||
      (max && !check_in_place(context, out, *max))) {
    return;
  }
  StridedLoop<4> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, self);
  if (min) loop.operand(2, *min);
  if (max) loop.operand(3, *max);
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    const auto load = loader<C>(self.scalar_type());
    const auto load_min = min ? loader<C>(min->scalar_type()) : nullptr;
    const auto load_max = max ? loader<C>(max->scalar_type()) : nullptr;
    const auto store = storer<C>(out.scalar_type());
    loop.run([&](const int64_t* at) {
      C x = load(self.const_data_ptr(), static_cast<size_t>(at[1]));
      // Of x and a bound, x stays unless the bound is better or NaN.
      if (min) {
        const C low = load_min(min->const_data_ptr(), static_cast<size_t>(at[2]));
        if (x < low || low != low) x = low;
      }
      if (max) {
        const C high = load_max(max->const_data_ptr(), static_cast<size_t>(at[3]));
        if (x > high || high != high) x = high;
      }
      store(out.mutable_data_ptr(), static_cast<size_t>(at[0]), x);
    });
  };
  if (is_floating(out.scalar_type())) {
    run(double{0});
  } else {
    run(int64_t{0});
  }
}

}  // namespace petrel::runtime::portable
