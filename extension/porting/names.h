// SPDX-License-Identifier: Apache-2.0
//
// The names of ExecuTorch's C++ interface, in its namespaces:
//
//   namespace executorch = petrel::porting;
//
//   executorch::runtime     Program, Method, MethodMeta, Error, Result, EValue, ...
//   executorch::aten        Tensor, TensorImpl, ScalarType, SizesType, ...
//   executorch::extension   Module, TensorPtr and what makes one, data loaders, ...
//
// All but Module (module.h) are Petrel's own classes, so what comes from here can be
// used with the rest of Petrel. docs/porting.md says what differs.
#ifndef PETREL_EXTENSION_PORTING_NAMES_H_
#define PETREL_EXTENSION_PORTING_NAMES_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "extension/data_loader/file_descriptor_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/heap_allocator.h"
#include "extension/porting/data_loaders.h"
#include "extension/porting/device.h"
#include "extension/porting/half.h"
#include "extension/porting/types.h"
#include "extension/tensor/filled.h"
#include "extension/tensor/tensor_ptr.h"
#include "runtime/executor/program.h"

namespace petrel::porting::aten {

using ::petrel::runtime::Scalar;
using ::petrel::runtime::ScalarType;
using ::petrel::runtime::Tensor;
using ::petrel::runtime::TensorImpl;
using ::petrel::runtime::TensorShapeDynamism;
using SizesType = Tensor::SizesType;
using DimOrderType = Tensor::DimOrderType;
using StridesType = Tensor::StridesType;
using std::nullopt;
using std::optional;
using std::string_view;
template <typename T>
using ArrayRef = ::petrel::runtime::Span<const T>;
using IntArrayRef = ArrayRef<int64_t>;
using TensorList = ArrayRef<Tensor>;

}  // namespace petrel::porting::aten

namespace petrel::porting::runtime {

using aten::ArrayRef;
using aten::IntArrayRef;
using ::petrel::runtime::Backend;
using ::petrel::runtime::BackendExecutionContext;
using ::petrel::runtime::BackendInitContext;
using ::petrel::runtime::BackendInterface;
using ::petrel::runtime::BackendOption;
using ::petrel::runtime::BackendOptions;
using ::petrel::runtime::CompileSpec;
using ::petrel::runtime::DataLoader;
using ::petrel::runtime::DelegateHandle;
using ::petrel::runtime::Error;
using ::petrel::runtime::EValue;
using ::petrel::runtime::EventTracer;
using ::petrel::runtime::FreeableBuffer;
using ::petrel::runtime::HierarchicalAllocator;
using ::petrel::runtime::Kernel;
using ::petrel::runtime::KernelRuntimeContext;
using ::petrel::runtime::LoadBackendOptionsMap;
using ::petrel::runtime::MemoryAllocator;
using ::petrel::runtime::MemoryManager;
using ::petrel::runtime::Method;
using ::petrel::runtime::MethodMeta;
using ::petrel::runtime::NamedDataMap;
using ::petrel::runtime::OpFunction;
using ::petrel::runtime::Program;
using ::petrel::runtime::resize_tensor;
using ::petrel::runtime::Result;
using ::petrel::runtime::Span;
using ::petrel::runtime::Tag;
using ::petrel::runtime::Tensor;
using ::petrel::runtime::TensorInfo;
using ::petrel::runtime::TensorLayout;
using ::petrel::runtime::to_string;

namespace etensor = ::petrel::porting::aten;

template <typename T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
template <typename Container>
ArrayRef<typename Container::value_type> makeArrayRef(const Container& container) {
  return {container.data(), container.size()};
}

// There is nothing to start.
inline void runtime_init() {}

}  // namespace petrel::porting::runtime

namespace petrel::porting::extension {

// Their other names.
using ::petrel::runtime::Kernel;
using ::petrel::runtime::LoadBackendOptionsMap;
using ::petrel::runtime::Method;
using ::petrel::runtime::MethodMeta;
using ::petrel::runtime::NamedDataMap;
using ::petrel::runtime::Program;

using ::petrel::extension::BufferDataLoader;
using ::petrel::extension::clone_tensor_ptr;
using ::petrel::extension::empty;
using ::petrel::extension::FileDescriptorDataLoader;
using FlatTensorDataMap = ::petrel::extension::FlatDataMap;
using ::petrel::extension::from_blob;
using ::petrel::extension::full;
using ::petrel::extension::make_tensor_ptr;
using MallocMemoryAllocator = ::petrel::extension::HeapAllocator;
using ::petrel::extension::ones;
using ::petrel::extension::resize_tensor_ptr;
using ::petrel::extension::scalar_tensor;
using ::petrel::extension::TensorPtr;
using ::petrel::extension::zeros;

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_NAMES_H_
