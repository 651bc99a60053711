// SPDX-License-Identifier: Apache-2.0
//
// What a program says in its additions besides scratch memory: the names of the
// weights in it, what data for them must be, and the least sizes of its inputs.
//
//   additions.weights = remembered_weights(store, options.bind_data);
//   additions.methods[i].least_sizes = least_sizes(graph);
//   name_weights({writer.weights(), ...}, store, &additions.methods);
#ifndef PETREL_EXIR_EMIT_WEIGHT_NAMES_H_
#define PETREL_EXIR_EMIT_WEIGHT_NAMES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "exir/backend/named_blob_store.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/emit/additions.h"
#include "exir/ir/constant.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Of every dim of the inputs whose sizes vary: no call is smaller. 0 is left out,
// and so is what no range tells. A dim that does not vary has its only size.
std::vector<LeastSize> least_sizes(const Graph& graph);

// Names the weights of each method, given by entry. A name that means two things
// in the program is given to none of them, because data under it could replace
// only one.
void name_weights(const std::vector<std::map<uint32_t, const Constant*>>& weights,
                  const NamedBlobStore& store, std::vector<MethodAdditions>* out);

// What the program has to remember of weights: all of them where names count,
// so that others can be made, and those outside where it is bound to them.
std::vector<WeightAddition> remembered_weights(const RoutedBlobStore& store, bool binds_data);

// Those whose digests remembered_weights() will ask for.
std::vector<Blob> bound_blobs(const RoutedBlobStore& store, bool binds_data);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_WEIGHT_NAMES_H_
