// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/equalise_graph.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/group_scheme.h"
#include "exir/quantize/product_shape.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// f(x / k) = f(x) / k for positive k, channel by channel, and f is computed with what comes
// before it: leaky_relu has numbers of its own before it, which the factors do not know of. A
// pool takes the last two dims together, so channels must not lie there.
bool is_homogeneous(const Node& node, size_t channel_dim) {
  if (node.is(aten::relu)) return true;
  return node.is(aten::max_pool2d, aten::avg_pool2d, aten::adaptive_avg_pool2d) &&
         channel_dim + 2 < node.result()->tensor().rank();
}

// Null where there is none. Precondition: a product that has_bias_argument().
Value* bias_of(const Node& product) {
  const Argument& bias =
      product.is(aten::addmm) ? product.argument(arg::self) : product.argument(arg::bias);
  return bias.is_value() ? bias.value() : nullptr;
}

// Why the numbers of `value` cannot be scaled; "" when they can.
std::string why_fixed(const Value& value, const SharedConstants& shared) {
  const std::string& name = value.constant()->fqn;
  if (!value.has_single_user()) return absl::StrCat("'", name, "' has other readers");
  if (shared.count(value.constant().get()) == 0) return "";
  return absl::StrCat("other methods read '", name, "'");
}

std::string why_bias_fixed(const Node& product, size_t channels, const SharedConstants& shared) {
  if (product.is(aten::mm)) return "";
  const Value* bias = bias_of(product);
  if (bias == nullptr) return "";
  const bool is_plain = bias->is_constant() && !bias->constant()->is_mutable() &&
                        bias->tensor().dtype == ScalarType::kFloat && bias->tensor().rank() == 1 &&
                        bias->tensor().sizes[0] == static_cast<int64_t>(channels);
  return is_plain ? why_fixed(*bias, shared) : "its bias is not a number for each channel";
}

// From `pair->first` on; "" or why there is no pair.
std::string find_second(const SharedConstants& shared, ChannelPair* pair) {
  const Node& first = *pair->first;
  const ProductShape shape(first);
  pair->dim = shape.channel_dim();
  pair->channels = shape.outputs();
  std::string why = why_fixed(*product_weight(first), shared);
  if (why.empty()) why = why_bias_fixed(first, pair->channels, shared);
  if (!why.empty()) return why;
  Value* value = pair->first->result();
  while (true) {
    pair->between.push_back(value);
    if (value->output_uses() > 0) return absl::StrCat("'", value->name(), "' is an output");
    if (value->users().size() != 1) {
      return absl::StrCat(value->users().size(), " nodes read '", value->name(), "'");
    }
    Node* const user = value->users()[0];
    if (Value* weight = product_weight(*user); weight != nullptr && product_input(*user) == value) {
      pair->second = user;
      const ProductShape next(*user);
      if (next.inputs() != pair->channels || next.channel_dim() != pair->dim) {
        return absl::StrCat("'", user->result()->name(), "' does not read its channels");
      }
      return why_fixed(*weight, shared);
    }
    if (user->num_results() != 1 || !is_homogeneous(*user, pair->dim)) {
      return absl::StrCat(user->op().name, " stands behind it");
    }
    value = user->result();
  }
}

// What scaling a constant makes of it: each element times `factor` of its place.
template <typename FactorFn>
absl::StatusOr<ConstantPtr> scaled(const Constant& constant, const FactorFn& factor) {
  PETREL_ASSIGN_OR_RETURN(std::vector<double> values, decode_constant(constant));
  for (size_t i = 0; i < values.size(); ++i) values[i] *= factor(i);
  auto made = std::make_shared<Constant>(constant);
  made->fqn = absl::StrCat(constant.fqn, "@equalised");
  made->made_of = constant.sources();
  PETREL_ASSIGN_OR_RETURN(made->data, encode_constant(values, ScalarType::kFloat));
  return ConstantPtr(std::move(made));
}

template <typename FactorFn>
absl::Status scale(Node& node, Value* value, const FactorFn& factor) {
  PETREL_ASSIGN_OR_RETURN(ConstantPtr made, scaled(*value->constant(), factor));
  Value* const by = node.graph().add_constant(std::move(made));
  for (size_t i = 0; i < node.arguments().size(); ++i) {
    Argument argument = node.arguments()[i];
    argument.replace(value, by);
    node.set_argument(i, std::move(argument));
  }
  if (!value->is_used()) node.graph().erase_constant(value);
  return absl::OkStatus();
}

absl::Status equalise(const ChannelPair& pair, const std::vector<float>& factors) {
  const ProductShape first(*pair.first), second(*pair.second);
  const auto factor = [&](size_t channel) { return static_cast<double>(factors[channel]); };
  PETREL_RETURN_IF_ERROR(scale(*pair.first, product_weight(*pair.first),
                               [&](size_t place) { return 1 / factor(first.output_of(place)); }));
  if (!pair.first->is(aten::mm) && bias_of(*pair.first) != nullptr) {
    PETREL_RETURN_IF_ERROR(
        scale(*pair.first, bias_of(*pair.first), [&](size_t place) { return 1 / factor(place); }));
  }
  return scale(*pair.second, product_weight(*pair.second),
               [&](size_t place) { return factor(second.input_of(place)); });
}

// How far integers are off in what `second` makes, by an estimate: levels of what it reads
// and of its weights, errors spread evenly over a level.
class Estimate {
 public:
  struct Noise {
    double shares = 0;  // sum over outputs of noise to signal
    double total = 0;   // of all noise to all signal
  };

  Estimate(const ChannelPair& pair, const ChannelStats& seen)
      : seen_(seen),
        shape_(*pair.second),
        links_(shape_.outputs() * shape_.inputs_per_output()),
        peaks_(pair.channels, 0) {
    const auto weight = decode_constant(*product_weight(*pair.second)->constant());
    if (!weight.ok()) return;
    for (size_t place = 0; place < weight->size(); ++place) {
      const double w = (*weight)[place];
      const size_t output = shape_.output_of(place), input = shape_.input_of(place);
      Link& link = links_[output * shape_.inputs_per_output() + input - shape_.first_input(output)];
      link.squares += static_cast<float>(w * w);
      link.peak = std::max(link.peak, static_cast<float>(std::fabs(w)));
      peaks_[input] = std::max(peaks_[input], std::fabs(w));
    }
  }

  // Largest weight that reads a channel.
  double peak(size_t channel) const { return peaks_[channel]; }

  Noise of(const std::vector<float>& factors) const {
    Range range = seen_.divided_by(factors);
    range.include({0, 0});
    const double step = (static_cast<double>(range.max) - static_cast<double>(range.min)) /
                        static_cast<double>(kMostLevel - kLeastLevel);
    Noise noise;
    double all_noise = 0, all_signal = 0;
    for (size_t output = 0; output < shape_.outputs(); ++output) {
      double signal = 0, of_levels = 0, of_weights = 0, peak = 0;
      for (size_t i = 0; i < shape_.inputs_per_output(); ++i) {
        const Link& link = links_[output * shape_.inputs_per_output() + i];
        const size_t c = shape_.first_input(output) + i;
        const auto factor = static_cast<double>(factors[c]);
        const auto squares = static_cast<double>(link.squares);
        const double power = seen_.mean_square(c);
        signal += squares * power;
        of_levels += squares * factor * factor;
        of_weights += static_cast<double>(shape_.kernel()) * power / (factor * factor);
        peak = std::max(peak, static_cast<double>(link.peak) * factor);
      }
      const double weight_step = peak / static_cast<double>(kMostLevel);
      const double sum = (step * step * of_levels + weight_step * weight_step * of_weights) / 12;
      if (signal > 0) noise.shares += sum / signal;
      all_noise += sum;
      all_signal += signal;
    }
    noise.total = all_signal > 0 ? all_noise / all_signal : 0;
    return noise;
  }

 private:
  // The weights between an output and an input.
  struct Link {
    float squares = 0, peak = 0;
  };

  const ChannelStats& seen_;
  ProductShape shape_;
  std::vector<Link> links_;    // by output, then by the inputs that it reads
  std::vector<double> peaks_;  // by input
};

// Numbers of bfloat16 around 1 whose logarithms are as `logs`; 1 for channels that are silent.
std::vector<float> factors_of(const std::vector<double>& logs) {
  const double most_log = std::log2(static_cast<double>(kMostFactor));
  double sum = 0, count = 0;
  for (const double log : logs) {
    if (!std::isfinite(log)) continue;
    sum += log;
    count += 1;
  }
  std::vector<float> factors(logs.size(), 1);
  for (size_t c = 0; c < logs.size(); ++c) {
    if (!std::isfinite(logs[c])) continue;
    const double log = std::clamp(logs[c] - sum / count, -most_log, most_log);
    factors[c] = to_bfloat16(static_cast<float>(std::exp2(log)));
  }
  return factors;
}

}  // namespace

SharedConstants shared_constants(const Program& program) {
  SharedConstants shared;
  std::set<const Constant*> seen;
  for (const auto& [name, method] : program.methods) {
    for (const Value* value : method.graph->constants()) {
      if (!seen.insert(value->constant().get()).second) shared.insert(value->constant().get());
    }
  }
  return shared;
}

ChannelPairs channel_pairs(const Graph& graph, const SharedConstants& shared) {
  ChannelPairs found;
  for (const auto& node : graph.nodes()) {
    if (product_weight(*node) == nullptr) continue;
    ChannelPair pair;
    pair.first = node.get();
    const std::string why = find_second(shared, &pair);
    if (why.empty()) {
      found.pairs.push_back(std::move(pair));
    } else {
      found.why_not[node->result()->name()] = why;
    }
  }
  return found;
}

std::vector<float> choose_factors(const ChannelPair& pair, const ChannelStats& seen) {
  // 6 dB: less is within what the estimate does not know, such as shifts, and networks whose
  // channels are about as loud lost as much as they gained.
  constexpr double kGain = 4;
  constexpr double kMostLoss = 1.05;  // of the outputs together
  constexpr double kParts[] = {0.25, 0.5, 0.75, 1};
  const Estimate estimate(pair, seen);
  const Estimate::Noise before = estimate.of(std::vector<float>(pair.channels, 1));
  std::vector<float> best;
  double least = before.shares / kGain;
  for (const double part : kParts) {
    std::vector<double> logs;
    for (size_t c = 0; c < pair.channels; ++c) {
      const Range& range = seen.ranges[c];
      const double peak = static_cast<double>(std::max(std::fabs(range.min), std::fabs(range.max)));
      logs.push_back(part * std::log2(peak) - (1 - part) * std::log2(estimate.peak(c)));
    }
    std::vector<float> factors = factors_of(logs);
    const Estimate::Noise after = estimate.of(factors);
    if (after.shares >= least || after.total > before.total * kMostLoss) continue;
    least = after.shares;
    best = std::move(factors);
  }
  return best;
}

absl::Status equalise_graph(Graph& graph, const ChannelFactors& factors,
                            const SharedConstants& shared) {
  if (factors.empty()) return absl::OkStatus();
  const ChannelPairs found = channel_pairs(graph, shared);
  std::map<std::string, const ChannelPair*> by_name;
  for (const ChannelPair& pair : found.pairs) by_name[pair.first->result()->name()] = &pair;
  for (const auto& [name, of_channels] : factors) {
    const auto pair = by_name.find(name);
    if (pair == by_name.end()) {
      const auto why = found.why_not.find(name);
      return absl::InvalidArgumentError(absl::StrCat(
          "the record equalises '", name, "', whose channels cannot be scaled: ",
          why == found.why_not.end() ? "it is not a product with a constant weight" : why->second));
    }
    if (of_channels.size() != pair->second->channels) {
      return absl::InvalidArgumentError(absl::StrCat("the record has ", of_channels.size(),
                                                     " factors for '", name, "', which has ",
                                                     pair->second->channels, " channels"));
    }
    PETREL_RETURN_IF_ERROR(equalise(*pair->second, of_channels));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
