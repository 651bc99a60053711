// SPDX-License-Identifier: Apache-2.0
//
// All that an app written for ExecuTorch's C++ interface includes, in one header. An
// app changes its includes to this one and says
//
//   namespace executorch = petrel::porting;
//
// or changes the namespaces. macros.h has the ET_ macros. docs/porting.md tells the rest.
#ifndef PETREL_EXTENSION_PORTING_EXECUTORCH_H_
#define PETREL_EXTENSION_PORTING_EXECUTORCH_H_

#include "extension/porting/filled.h"
#include "extension/porting/module.h"
#include "extension/porting/names.h"
#include "extension/porting/tensor_accessor.h"
#include "extension/porting/tensor_ptr_maker.h"
#include "extension/porting/tensors.h"
#include "extension/porting/threadpool.h"

#endif  // PETREL_EXTENSION_PORTING_EXECUTORCH_H_
