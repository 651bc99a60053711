// SPDX-License-Identifier: Apache-2.0
//
// Weights that were computed from others, such as the bias of a quantised layer from its
// scales: those of one training go together, and data that has a part of them would give
// wrong results without a word.
//
//   program        fc.weight_scale   fc.bias@made_int32   (made of fc.weight_scale)
//   other.ptd      fc.weight_scale                        refused: the bias is missing
//
// Which weights belong together is what the program remembers (schema/additions.md).
#ifndef PETREL_EXTENSION_MODULE_RELATED_WEIGHTS_H_
#define PETREL_EXTENSION_MODULE_RELATED_WEIGHTS_H_

#include <set>
#include <string>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/span.h"
#include "runtime/program/program_additions.h"

namespace petrel::extension {

using Keys = std::set<std::string, std::less<>>;

// InvalidExternalData naming a weight that was made of one that changes and is not `given`.
runtime::Error check_given_together(const runtime::ProgramAdditions& additions, const Keys& changed,
                                    const Keys& given);

// Of `maps` the first that has a key counts. InvalidExternalData naming a weight that comes
// from a map whose own value for what it was made of, other bytes, does not count.
runtime::Error check_sources(const runtime::ProgramAdditions& additions,
                             runtime::Span<const runtime::NamedDataMap* const> maps);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_RELATED_WEIGHTS_H_
