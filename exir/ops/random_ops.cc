// SPDX-License-Identifier: Apache-2.0
//
// Draws. Uniform and normal ones have kernels; all others are computed from those.
#include <string>
#include <utility>

#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

Inferred of_size(const BoundArguments& in) {
  return one(in.dtype("dtype").value_or(ScalarType::kFloat), in.ints("size"));
}

Inferred like(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  return one(in.dtype("dtype").value_or(self.dtype), self.sizes);
}

// What is written is a tensor of floats.
Inferred same_floats(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  return one(in.tensor("self"));
}

Inferred exponential(const BoundArguments& in) {
  if (!(in.number("lambd") > 0)) {
    return invalid("argument 'lambd' is ", in.number("lambd"), ", must be above 0");
  }
  return same_floats(in);
}

Inferred geometric(const BoundArguments& in) {
  if (!(in.number("p") > 0 && in.number("p") < 1)) {
    return invalid("argument 'p' is ", in.number("p"), ", must be between 0 and 1");
  }
  return same_as_self(in);
}

// A chance for each element.
Inferred bernoulli_of(const BoundArguments& in) {
  if (const ScalarType dtype = in.tensor("p").dtype; !is_floating_point(dtype)) {
    return invalid("argument 'p' is ", std::string(scalar_type_name(dtype)), ", must be of floats");
  }
  PETREL_ASSIGN_OR_RETURN(const Sizes sizes,
                          broadcast_sizes({in.tensor("self").sizes, in.tensor("p").sizes}));
  if (sizes != in.tensor("self").sizes) {
    return invalid("argument 'p' does not fit the tensor that is written");
  }
  return one(in.tensor("self"));
}

Inferred bernoulli_at(const BoundArguments& in) {
  const double p = in.number("p");
  if (!(p >= 0 && p <= 1)) return invalid("argument 'p' is ", p, ", must be in [0, 1]");
  return one(in.tensor("self"));
}

Inferred normal(const BoundArguments& in) {
  for (const TensorType* type : in.all_tensors()) {
    if (is_floating_point(type->dtype)) continue;
    return invalid("mean or deviation is ", std::string(scalar_type_name(type->dtype)),
                   ", must be of floats");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return one(in.all_tensors()[0]->dtype, std::move(sizes));
}

Inferred normal_of_size(const BoundArguments& in) {
  const ScalarType dtype = in.dtype("dtype").value_or(ScalarType::kFloat);
  if (!is_floating_point(dtype)) {
    return invalid("argument 'dtype' is ", std::string(scalar_type_name(dtype)),
                   ", must be of floats");
  }
  return of_size(in);
}

Inferred randperm(const BoundArguments& in) {
  if (in.integer("n") < 0) return invalid("argument 'n' is ", in.integer("n"));
  return one(in.dtype("dtype").value_or(ScalarType::kLong), {in.integer("n")});
}

Inferred multinomial(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_RETURN_IF_ERROR(check_floats(in));
  if (self.rank() < 1 || self.rank() > 2) {
    return invalid("argument 'self' has rank ", self.rank(), ", must be 1 or 2");
  }
  const Size count = in.integer("num_samples");
  if (count < 1 || (!in.flag("replacement") && count > self.sizes.back())) {
    return invalid("argument 'num_samples' is ", count, ", must be in [1, ", self.sizes.back(),
                   "]");
  }
  Sizes sizes = self.sizes;
  sizes.back() = count;
  return one(ScalarType::kLong, std::move(sizes));
}

constexpr OpRow kRows[] = {
    {"aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "aten::rand.out", kRandom, infer<of_size>},
    {"aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     "aten::randn.out", kRandom, infer<of_size>},
    {"aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     "", kRandom, infer<like>},
    {"aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     "", kRandom, infer<like>},
    {"aten::uniform(Tensor self, float from=0., float to=1., *, Generator? "
     "generator=None) -> Tensor",
     "", kRandom, infer<same_floats>},
    {"aten::uniform_(Tensor(a!) self, float from=0., float to=1., *, "
     "Generator? generator=None) -> Tensor(a!)",
     "", kInPlace, infer<same_floats>, "aten::uniform"},
    {"aten::normal_functional(Tensor self, float mean=0., float std=1., *, "
     "Generator? generator=None) -> Tensor",
     "", kRandom, infer<same_floats>},
    {"aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, "
     "Generator? generator=None) -> Tensor(a!)",
     "", kInPlace, infer<same_floats>, "aten::normal_functional"},
    {"aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? "
     "generator=None) -> Tensor",
     "", kRandom, infer<normal>},
    {"aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? "
     "generator=None) -> Tensor",
     "", kRandom, infer<normal>},
    {"aten::normal.float_Tensor(float mean, Tensor std, *, Generator? "
     "generator=None) -> Tensor",
     "", kRandom, infer<normal>},
    {"aten::normal.float_float(float mean, float std, SymInt[] size, *, "
     "Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kRandom, infer<normal_of_size>},
    {"aten::exponential(Tensor self, float lambd=1., *, Generator? "
     "generator=None) -> Tensor",
     "", kRandom, infer<exponential>},
    {"aten::exponential_(Tensor(a!) self, float lambd=1., *, Generator? "
     "generator=None) -> Tensor(a!)",
     "", kInPlace, infer<exponential>, "aten::exponential"},
    {"aten::log_normal(Tensor self, float mean=1., float std=2., *, "
     "Generator? generator=None) -> Tensor",
     "", kRandom, infer<same_floats>},
    {"aten::log_normal_(Tensor(a!) self, float mean=1., float std=2., *, "
     "Generator? generator=None) -> Tensor(a!)",
     "", kInPlace, infer<same_floats>, "aten::log_normal"},
    {"aten::cauchy(Tensor self, float median=0., float sigma=1., *, "
     "Generator? generator=None) -> Tensor",
     "", kRandom, infer<same_floats>},
    {"aten::cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, "
     "Generator? generator=None) -> Tensor(a!)",
     "", kInPlace, infer<same_floats>, "aten::cauchy"},
    {"aten::geometric(Tensor self, float p, *, Generator? generator=None) -> "
     "Tensor",
     "", kRandom, infer<geometric>},
    {"aten::geometric_(Tensor(a!) self, float p, *, Generator? "
     "generator=None) -> Tensor(a!)",
     "", kInPlace, infer<geometric>, "aten::geometric"},
    {"aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", "", kRandom,
     infer<same_floats>},
    {"aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) "
     "-> Tensor",
     "", kRandom, infer<bernoulli_at>},
    {"aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? "
     "generator=None) -> Tensor(a!)",
     "", kInPlace, infer<bernoulli_at>, "aten::bernoulli.p"},
    {"aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? "
     "generator=None) -> Tensor",
     "", kRandom, infer<bernoulli_of>},
    {"aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? "
     "generator=None) -> Tensor(a!)",
     "", kInPlace, infer<bernoulli_of>, "aten::bernoulli.Tensor"},
    {"aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "", kRandom, infer<of_size>},
    {"aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, "
     "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kRandom, infer<of_size>},
    {"aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
     "MemoryFormat? memory_format=None) -> Tensor",
     "", kRandom, infer<like>},
    {"aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     "", kRandom, infer<like>},
    {"aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "", kRandom, infer<randperm>},
    {"aten::multinomial(Tensor self, SymInt num_samples, bool "
     "replacement=False, *, Generator? generator=None) -> Tensor",
     "", kRandom, infer<multinomial>},
};

}  // namespace

absl::Span<const OpRow> random_ops() { return kRows; }

}  // namespace petrel::exir::rules
