// SPDX-License-Identifier: Apache-2.0
//
// Weights for a program from tensors alone, without the model's archive: its keys say
// how a weight was made of a tensor of the model, and that is done again.
//
//   fc.weight                  the tensor
//   conv.weight#0231           with its axes permuted
//   fc.weight@permute_1_0      the same
//   w#2x3:1,2                  its elements so far apart, in these sizes
//   w@view_4_16                in another shape
//   conv.weight@bn1            needs other tensors and the graph: only the archive has them
//
//   PETREL_ASSIGN_OR_RETURN(NamedBlobStore data,
//                           derived_weights(additions, options, "adapter.ptd"));
#ifndef PETREL_EXTENSION_RELINK_DERIVED_WEIGHTS_H_
#define PETREL_EXTENSION_RELINK_DERIVED_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "exir/backend/named_blob_store.h"
#include "exir/emit/additions.h"
#include "extension/relink/data_build.h"

namespace petrel::extension {

// The weights whose names options.keys matches, from the tensors of the file `tensors`,
// renamed by options.renames, for the data file `file`. FailedPrecondition naming all
// weights that cannot be made and why, and tensors that are no weight of the program.
absl::StatusOr<exir::NamedBlobStore> derived_weights(const exir::Additions& additions,
                                                     const BuildOptions& options,
                                                     const std::string& tensors,
                                                     const std::string& file);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_DERIVED_WEIGHTS_H_
