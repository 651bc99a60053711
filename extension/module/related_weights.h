// SPDX-License-Identifier: Apache-2.0
//
// Weights that were computed from others, such as the bias of a quantised layer from its
// scales: those of one training go together, and data that has a part of them would give
// wrong results without a word.
//
//   program        s    b@made_int32  (of b and s)    w@permute_1_0  (of w)
//   other.ptd      s                                  refused: b@made_int32 is missing
//   model.safetensors   w                             refused: w@permute_1_0 is missing
//
// What a weight was computed from is what the program remembers (schema/additions.md).
#ifndef PETREL_EXTENSION_MODULE_RELATED_WEIGHTS_H_
#define PETREL_EXTENSION_MODULE_RELATED_WEIGHTS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/span.h"
#include "runtime/program/program_additions.h"

namespace petrel::extension {

using Keys = std::set<std::string, std::less<>>;

// InvalidExternalData naming a weight that is not `given`, or keeps its bytes there, and
// that was computed from one that changes. `changed` and `given` are keys of data; a key
// that is a name in the model only stands for what was computed from it.
runtime::Error check_given_together(const runtime::ProgramAdditions& additions, const Keys& changed,
                                    const Keys& given);

// Those of `keys` that the weights `changed` were computed from.
Keys sources_among(const runtime::ProgramAdditions& additions,
                   const std::vector<std::string>& changed, const Keys& keys);

// Of `maps` the first that has a key counts. InvalidExternalData naming a weight behind
// the map that has other bytes for what it was computed from.
runtime::Error check_sources(const runtime::ProgramAdditions& additions,
                             runtime::Span<const runtime::NamedDataMap* const> maps);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_RELATED_WEIGHTS_H_
