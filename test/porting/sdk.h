// SPDX-License-Identifier: Apache-2.0
//
// What the apps beside it include: the interface of ExecuTorch, from its own SDK with
// -DEXECUTORCH_SDK or else from Petrel. They are the same but for the alias here.
//
//   #include "sdk.h"
//   executorch::extension::Module module("model.pte");
#ifndef PETREL_TEST_PORTING_SDK_H_
#define PETREL_TEST_PORTING_SDK_H_

#ifdef EXECUTORCH_SDK

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/data_loader/shared_ptr_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/tensor/tensor_accessor.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/runtime.h>

#else

#include "extension/porting/executorch.h"
#include "extension/porting/macros.h"

namespace executorch = petrel::porting;

#endif

#endif  // PETREL_TEST_PORTING_SDK_H_
