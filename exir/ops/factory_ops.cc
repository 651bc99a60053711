// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>

#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// The dtype a Python number makes a tensor of.
ScalarType number_dtype(const Argument& number) {
  if (number.is_float()) return ScalarType::kFloat;
  return number.is_bool() ? ScalarType::kBool : ScalarType::kLong;
}

// The number of integers that `start`, `end` and `step` count.
absl::StatusOr<Size> counted(const Size& start, const Size& end, const Size& step) {
  const bool is_up = step > 0 && end >= start;
  if (is_up || (step < 0 && end <= start)) {
    const Size length = is_up ? end - start : start - end;
    const Size each = is_up ? step : 0 - step;
    // What wraps around is farther than any tensor is long.
    Size rounded_up;
    if (length >= 0 && each > 0 && !add_overflows(length, each - 1, &rounded_up)) {
      return rounded_up / each;
    }
  }
  return invalid("counts from ", start, " to ", end, " in steps of ", step);
}

Inferred arange(const BoundArguments& in) {
  const bool has_start = in.given("start");
  const bool has_step = in.given("step");
  const bool is_float =
      in.at("end").is_float() || in.at("start").is_float() || in.at("step").is_float();
  const ScalarType natural = is_float ? ScalarType::kFloat : ScalarType::kLong;
  const ScalarType dtype = in.dtype("dtype").value_or(natural);
  if (!is_float) {
    PETREL_ASSIGN_OR_RETURN(const Size count, counted(in.integer("start"), in.integer("end"),
                                                      has_step ? in.integer("step") : Size(1)));
    return one(dtype, {count});
  }
  const double start = has_start ? in.number("start") : 0.0;
  const double step = has_step ? in.number("step") : 1.0;
  const double count = std::ceil((in.number("end") - start) / step);
  if (!(count >= 0.0 && count < 2147483648.0)) {
    return invalid("counts from ", start, " to ", in.number("end"), " in steps of ", step);
  }
  return one(dtype, {static_cast<int64_t>(count)});
}

Inferred full(const BoundArguments& in) {
  return one(in.dtype("dtype").value_or(number_dtype(in.at("fill_value"))), in.ints("size"));
}

Inferred filled(const BoundArguments& in) {
  return one(in.dtype("dtype").value_or(ScalarType::kFloat), in.ints("size"));
}

Inferred like(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  return one(in.dtype("dtype").value_or(self.dtype), self.sizes);
}

Inferred new_filled(const BoundArguments& in) {
  return one(in.dtype("dtype").value_or(in.tensor("self").dtype), in.ints("size"));
}

Inferred eye(const BoundArguments& in) {
  const Size rows = in.integer("n");
  const Size columns = in.has("m") ? in.integer("m") : rows;
  return one(in.dtype("dtype").value_or(ScalarType::kFloat), {rows, columns});
}

Inferred linspace(const BoundArguments& in) {
  for (const TensorType* end : in.all_tensors()) {
    if (end->rank() != 0) {
      return invalid("an end of the range has rank ", end->rank(), ", must be 0");
    }
  }
  return one(in.dtype("dtype").value_or(ScalarType::kFloat), {in.integer("steps")});
}

Inferred scalar_tensor(const BoundArguments& in) {
  return one(in.dtype("dtype").value_or(ScalarType::kFloat), {});
}

// As many as the spectrum has of n samples, or of n real ones.
Inferred frequencies(const BoundArguments& in) {
  const ScalarType dtype = in.dtype("dtype").value_or(ScalarType::kFloat);
  if (!is_floating_point(dtype)) {
    return invalid("argument 'dtype' is ", std::string(scalar_type_name(dtype)),
                   ", must be of floats");
  }
  const Size n = in.integer("n");
  if (n < 1) return invalid("argument 'n' is ", n, ", must be at least 1");
  return one(dtype, {in.op().name == "aten::fft_rfftfreq" ? floor_divide(n, 2) + 1 : n});
}

// torch fills the places whose indices are all equal: those of a matrix or of a cube.
Inferred with_diagonal(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() < 2) {
    return invalid("argument 'self' has rank ", self.rank(), ", must be at least 2");
  }
  for (size_t i = 1; i < self.rank() && self.rank() > 2; ++i) {
    if (self.sizes[i] != self.sizes[0]) return invalid("argument 'self' has dims of unequal sizes");
  }
  return one(self);
}

Inferred window(const BoundArguments& in) {
  return one(in.dtype("dtype").value_or(ScalarType::kFloat), {in.integer("window_length")});
}

Inferred filled_by_tensor(const BoundArguments& in) {
  const Size elements = in.tensor("value").numel();
  if (elements == 1) return one(in.tensor("self"));
  return invalid("argument 'value' has ", elements, " elements, must have one");
}

constexpr OpRow kRows[] = {
    {"aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "aten::arange.out", kPure, infer<arange>},
    {"aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kPure, infer<arange>},
    {"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "aten::arange.start_out", kPure, infer<arange>},
    {"aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "aten::full.out", kPure, infer<full>},
    {"aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     "aten::full_like.out", kPure, infer<like>},
    {"aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "aten::zeros.out", kPure, infer<filled>},
    {"aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     "", kPure, infer<like>},
    {"aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "aten::ones.out", kPure, infer<filled>},
    {"aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     "", kPure, infer<like>},
    {"aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
     "MemoryFormat? memory_format=None) -> Tensor",
     "aten::empty.out", kPure, infer<filled>},
    {"aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     "", kPure, infer<like>},
    {"aten::empty_permuted(SymInt[] size, int[] physical_layout, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kPure, infer<filled>},
    {"aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kPure, infer<new_filled>},
    {"aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kPure, infer<new_filled>},
    {"aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kPure, infer<new_filled>},
    {"aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kPure, infer<new_filled>},
    {"aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<eye>},
    {"aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<eye>},
    {"aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "aten::scalar_tensor.out", kPure, infer<scalar_tensor>},
    {"aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", "aten::fill.Scalar_out",
     kPure | kElementwise, infer<same_as_self>},
    {"aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", "aten::fill.Tensor_out",
     kPure | kElementwise, infer<filled_by_tensor>},
    {"aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", "", kInPlace,
     infer<same_as_self>, "aten::fill.Scalar"},
    {"aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", "", kInPlace,
     infer<filled_by_tensor>, "aten::fill.Tensor"},
    {"aten::zero(Tensor self) -> Tensor", "", kPure | kElementwise, infer<same_as_self>},
    {"aten::zero_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<same_as_self>, "aten::zero"},
    {"aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::hamming_window(int window_length, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kPure, infer<window>},
    {"aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kPure, infer<window>},
    {"aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, "
     "float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, "
     "ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, "
     "ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, "
     "ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<linspace>},
    {"aten::bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? "
     "dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<window>},
    {"aten::fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<frequencies>},
    {"aten::fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kPure, infer<frequencies>},
    {"aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)", "",
     kInPlace, infer<with_diagonal>},
};

}  // namespace

absl::Span<const OpRow> factory_ops() { return kRows; }

}  // namespace petrel::exir::rules
