// SPDX-License-Identifier: Apache-2.0
//
// The NamedDataMap of a petrel_data_map: keys and callbacks of an app.
//
//   PETREL_ASSIGN_OR_RETURN(std::shared_ptr<const runtime::NamedDataMap> map,
//                           make_data_map(&given));
//
// Copies the struct and its keys; calls destroy when the last owner is gone.
#ifndef PETREL_EXTENSION_C_API_DATA_MAP_H_
#define PETREL_EXTENSION_C_API_DATA_MAP_H_

#include <memory>

#include "extension/c_api/petrel.h"
#include "runtime/core/named_data_map.h"

namespace petrel::extension::c_api {

// InvalidArgument for a struct that is null, too small or without functions and keys.
// destroy is not called then.
runtime::Result<std::shared_ptr<const runtime::NamedDataMap>> make_data_map(
    const petrel_data_map* given);

}  // namespace petrel::extension::c_api

#endif  // PETREL_EXTENSION_C_API_DATA_MAP_H_
