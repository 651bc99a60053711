// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/sum_convolutions.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/passes/batch_norm.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// A convolution whose filters are constants, and what is said of its windows in each dim.
struct Convolution {
  Node* node;
  Value* x;
  const Constant* weight;
  const Constant* bias;  // or null
  Ints kernel, stride, padding, dilation;
  int64_t groups;
};

// What a term adds to a convolution: elements of filters, and numbers for all places of a
// channel. Places repeat: element i is added to the filters' element
//
//   i / places.size() * step + places[i % places.size()]
struct Term {
  std::vector<size_t> places;
  size_t step = 0;
  Blob elements;                     // of the type of the weights
  Doubles shift;                     // none where nothing is added
  const Constant* weight = nullptr;  // that elements are those of
  std::vector<std::string> sources;
};

std::optional<Convolution> convolution_of(Value* value) {
  Node* node = value->producer();
  if (node == nullptr || !node->is(aten::convolution) || !value->has_single_user()) return {};
  const Value* weight = tensor_at(*node, arg::weight);
  const Value* bias = tensor_at(*node, arg::bias);
  // Filters of no channels have as many places and biases as they like, without a byte.
  if (node->argument(arg::transposed) != Argument(false) || !is_fixed(weight) ||
      weight->tensor().numel() == 0) {
    return {};
  }
  if (bias != nullptr && !is_fixed(bias)) return {};
  const Sizes& sizes = weight->tensor().sizes;
  const size_t dims = sizes.size() - 2;
  const auto stride = literal_ints_at(*node, arg::stride, dims);
  const auto padding = literal_ints_at(*node, arg::padding, dims);
  const auto dilation = literal_ints_at(*node, arg::dilation, dims);
  if (!stride || !padding || !dilation || !node->argument(arg::groups).is_int()) return {};
  Convolution found = {node,
                       tensor_at(*node, arg::input),
                       weight->constant().get(),
                       bias == nullptr ? nullptr : bias->constant().get(),
                       Ints(sizes.begin() + 2, sizes.end()),
                       *stride,
                       *padding,
                       *dilation,
                       node->argument(arg::groups).as_int()};
  const ScalarType dtype = found.weight->type.dtype;
  const bool is_plain = is_floating_point(dtype) && value->tensor().dtype == dtype &&
                        value->tensor().rank() == sizes.size() &&
                        (bias == nullptr || (bias->tensor().dtype == dtype &&
                                             bias->tensor().sizes == Sizes{sizes[0]}));
  if (!is_plain || found.stride.size() != dims || found.padding.size() != dims ||
      found.dilation.size() != dims) {
    return {};
  }
  return found;
}

// Where each element of a window of `kernel` taps lies in that of `wide`, when it begins
// `padding` before the place of an output; none where it is not within it.
std::optional<std::vector<size_t>> taps_in(const Convolution& wide, const Ints& kernel,
                                           const Ints& padding, const Ints& dilation) {
  std::vector<size_t> taps = {0};
  for (size_t d = 0; d < kernel.size(); ++d) {
    std::vector<size_t> longer;
    for (const size_t tap : taps) {
      for (int64_t k = 0; k < kernel[d]; ++k) {
        const int64_t at = wide.padding[d] - padding[d] + k * dilation[d];
        if (at < 0 || at % wide.dilation[d] != 0 || at / wide.dilation[d] >= wide.kernel[d]) {
          return {};
        }
        longer.push_back(tap * static_cast<size_t>(wide.kernel[d]) +
                         static_cast<size_t>(at / wide.dilation[d]));
      }
    }
    taps = std::move(longer);
  }
  return taps;
}

size_t area_of(const Ints& kernel) {
  return static_cast<size_t>(product(Sizes(kernel.begin(), kernel.end())));
}

// Whether `wide` may take `places` more of a term: it keeps them for its new filters, and has a
// new bias.
bool may_add(const Convolution& wide, size_t places, FoldCounts& counts) {
  const Value& weight = *tensor_at(*wide.node, arg::weight);
  const auto biases = static_cast<size_t>(wide.weight->type.sizes[0]);
  return counts.take((places > 0 ? FoldCounts::bytes_beside(weight) : 0) +
                     static_cast<double>((places + biases) * 2 * sizeof(double)));
}

// A convolution of the same input whose windows lie within those of `wide`.
absl::StatusOr<std::optional<Term>> narrower(const Convolution& wide, const Convolution& other,
                                             FoldCounts& counts) {
  if (wide.x != other.x || wide.stride != other.stride || wide.groups != other.groups ||
      wide.weight->type.dtype != other.weight->type.dtype ||
      wide.kernel.size() != other.kernel.size() || !counts.takes_more(*other.weight) ||
      !may_add(wide, area_of(other.kernel), counts)) {
    return std::optional<Term>();
  }
  auto taps = taps_in(wide, other.kernel, other.padding, other.dilation);
  if (!taps) return std::optional<Term>();
  Term term;
  term.places = *std::move(taps);
  term.step = area_of(wide.kernel);
  term.elements = other.weight->data;
  if (other.bias != nullptr) {
    PETREL_ASSIGN_OR_RETURN(term.shift, decode_constant(*other.bias));
  }
  term.weight = other.weight;
  term.sources = other.weight->sources();
  return term;
}

// The input itself, each channel times a number, with a number added.
absl::StatusOr<std::optional<Term>> of_input(const Convolution& wide, ChannelAffine affine) {
  const Sizes& sizes = wide.weight->type.sizes;
  const size_t dims = wide.kernel.size();
  const bool keeps_places = wide.stride == Ints(dims, 1) && wide.groups > 0 &&
                            sizes[0] == sizes[1] * wide.groups &&
                            static_cast<size_t>(sizes[0]) == affine.scale.size();
  if (!keeps_places) return std::optional<Term>();
  const auto tap = taps_in(wide, Ints(dims, 1), Ints(dims, 0), Ints(dims, 1));
  if (!tap) return std::optional<Term>();
  Term term;
  const size_t per_group = static_cast<size_t>(sizes[1]);
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    term.places.push_back((c * per_group + c % per_group) * area_of(wide.kernel) + tap->front());
  }
  PETREL_ASSIGN_OR_RETURN(term.elements, encode_constant(affine.scale, wide.weight->type.dtype));
  term.shift = std::move(affine.shift);
  return term;
}

// What `value` adds to `wide`, of which it is summed with the result.
absl::StatusOr<std::optional<Term>> term_of(const Convolution& wide, Value* value,
                                            FoldCounts& counts) {
  if (const auto other = convolution_of(value)) return narrower(wide, *other, counts);
  const auto channels = static_cast<size_t>(wide.weight->type.sizes[0]);
  if (value == wide.x) {
    if (!may_add(wide, channels, counts)) return std::optional<Term>();
    return of_input(wide, {Doubles(channels, 1), {}, ""});
  }
  const Node* node = value->producer();
  if (node == nullptr || !is_fixed_batch_norm(*node) || !value->has_single_user() ||
      tensor_at(*node, arg::input) != wide.x || !may_add(wide, channels, counts)) {
    return std::optional<Term>();
  }
  PETREL_ASSIGN_OR_RETURN(ChannelAffine affine, affine_of(*node));
  return of_input(wide, std::move(affine));
}

Blob summed(const Constant& weight, const Term& term) {
  const ScalarType dtype = weight.type.dtype;
  return Blob::produced(
      weight.data.size(), [wide = weight.data, term, dtype](absl::Span<uint8_t> out) {
        // Dropped at once: sums of sums are read within one another.
        std::memcpy(out.data(), wide.bytes().data(), out.size());
        const Blob::Bytes added = term.elements.bytes();
        const size_t item = item_size(dtype);
        const size_t round = term.places.size();
        for (size_t i = 0; i < added.size() / item; ++i) {
          uint8_t* to = out.data() + (i / round * term.step + term.places[i % round]) * item;
          const double element = decode_element(added.data() + i * item, dtype);
          encode_element(decode_element(to, dtype) + element, dtype, to);
        }
      });
}

// "conv.weight@sum2" of what "conv.weight" was, with two terms.
std::string name_of_sum(const Constant& weight, const FoldCounts& counts) {
  absl::string_view name = weight.fqn;
  const size_t before = counts.of(weight);
  if (before > 0) absl::ConsumeSuffix(&name, absl::StrCat("@sum", before));
  return absl::StrCat(name, "@sum", before + 1);
}

// Adds `shift` to what all places of a channel get.
absl::Status add_shift(Graph& graph, const Convolution& wide, const Doubles& shift,
                       const std::string& weight_name) {
  Doubles bias = shift;
  if (wide.bias != nullptr) {
    PETREL_ASSIGN_OR_RETURN(bias, decode_constant(*wide.bias));
    for (size_t c = 0; c < shift.size(); ++c) bias[c] += shift[c];
  }
  const ScalarType dtype = wide.weight->type.dtype;
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(bias, dtype));
  Value* made = add_unique_constant(graph, absl::StrReplaceAll(weight_name, {{"weight", "bias"}}),
                                    TensorType::contiguous(dtype, {wide.weight->type.sizes[0]}),
                                    std::move(data), wide.weight->kind);
  wide.node->set_argument(2, Argument(made));
  return absl::OkStatus();
}

// Makes `wide` the whole sum.
absl::Status add_term(Graph& graph, const Convolution& wide, const Term& term, FoldCounts& counts) {
  const Constant& weight = *wide.weight;
  const std::string name = name_of_sum(weight, counts);
  if (!term.shift.empty()) {
    PETREL_RETURN_IF_ERROR(add_shift(graph, wide, term.shift, name));
  }
  std::vector<std::string> sources = weight.sources();
  sources.insert(sources.end(), term.sources.begin(), term.sources.end());
  Value* sum = add_unique_constant(graph, name, weight.type, summed(weight, term), weight.kind,
                                   std::move(sources));
  counts.note(weight, *sum->constant());
  if (term.weight != nullptr) counts.note(*term.weight, *sum->constant());
  wide.node->set_argument(1, Argument(sum));
  return absl::OkStatus();
}

Rewritten add_number(Builder& b, Node& sum, Value* x, FoldCounts& counts) {
  const Argument& number = sum.argument(arg::other);
  const auto wide = convolution_of(x);
  if (!wide || !number.is_number() || !counts.takes_more(*wide->weight) ||
      !may_add(*wide, 0, counts)) {
    return false;
  }
  const Doubles shift(static_cast<size_t>(wide->weight->type.sizes[0]), fixed_number(number));
  PETREL_RETURN_IF_ERROR(add_shift(b.graph(), *wide, shift, name_of_sum(*wide->weight, counts)));
  counts.note(*wide->weight, *wide->weight);
  return done(b, sum, x);
}

}  // namespace

absl::StatusOr<bool> sum_convolutions(Builder& b, Node& sum, FoldCounts& counts) {
  if (!(sum.argument(arg::alpha).is_number() && fixed_number(sum.argument(arg::alpha)) == 1)) {
    return false;
  }
  Value* a = tensor_at(sum, arg::self);
  if (a == nullptr || a->type() != sum.result()->type()) return false;
  if (sum.is(aten::add_Scalar)) return add_number(b, sum, a, counts);
  Value* c = tensor_at(sum, arg::other);
  if (c == nullptr || c->type() != sum.result()->type()) return false;
  for (const auto& [one, other] : {std::pair(a, c), std::pair(c, a)}) {
    const auto wide = convolution_of(one);
    if (!wide || !counts.takes_more(*wide->weight)) continue;
    PETREL_ASSIGN_OR_RETURN(const std::optional<Term> term, term_of(*wide, other, counts));
    if (!term) continue;
    PETREL_RETURN_IF_ERROR(add_term(b.graph(), *wide, *term, counts));
    PETREL_RETURN_IF_ERROR(b.replace(sum, one));
    return true;
  }
  return false;
}

}  // namespace petrel::exir
