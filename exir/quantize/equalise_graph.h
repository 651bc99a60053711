// SPDX-License-Identifier: Apache-2.0
//
// One scale shows all channels of a value, however far their ranges are apart. Between two
// products they can be brought together without a change to what the model computes:
//
//   before  %a = convolution(%x, constant @w, constant @b)
//           %r = relu(%a)                              channel c of %r is up to max[c]
//           %y = convolution(%r, constant @v, ...)
//   after   w[c] / factor[c], b[c] / factor[c], v[:, c] * factor[c]
//                                                      channel c of %r is up to max[c] / factor[c]
//
// Names of values stay. What stands between must be homogeneous, f(x / k) = f(x) / k for
// positive k, keep channels apart, and have no other readers. Factors are numbers of
// bfloat16, as records have them.
#ifndef PETREL_EXIR_QUANTIZE_EQUALISE_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_EQUALISE_GRAPH_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/program.h"
#include "exir/quantize/channel_stats.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

struct ChannelPair {
  Node* first = nullptr;
  Node* second = nullptr;
  std::vector<Value*> between;  // what `first` makes, ..., what `second` reads
  size_t dim = 0;               // of the channels in all of these
  size_t channels = 0;
};

struct ChannelPairs {
  std::vector<ChannelPair> pairs;  // in the order of the graph
  // Products that are first of no pair, by name of the result, with the reason.
  std::map<std::string, std::string> why_not;
};

// Constants that several methods read: factors of one would be those of all.
using SharedConstants = std::set<const Constant*>;
SharedConstants shared_constants(const Program& program);

ChannelPairs channel_pairs(const Graph& graph, const SharedConstants& shared);

// Factors with which integers err less between the products, where `seen` is what `second`
// reads; empty where none gains 6 dB.
std::vector<float> choose_factors(const ChannelPair& pair, const ChannelStats& seen);

// InvalidArgument naming factors of what is no pair, or of another number of channels.
absl::Status equalise_graph(Graph& graph, const ChannelFactors& factors,
                            const SharedConstants& shared);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_EQUALISE_GRAPH_H_
