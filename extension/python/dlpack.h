// SPDX-License-Identifier: Apache-2.0
//
// The structs by which array libraries of Python hand tensors to each other in
// memory (the DLPack protocol). A capsule named kCapsule holds a ManagedTensor, of
// version 0.8 of the binary interface, or a VersionedTensor, of version 1, which can
// say that elements are read-only; who takes it renames the capsule to kTaken and
// calls the deleter when done.
#ifndef PETREL_EXTENSION_PYTHON_DLPACK_H_
#define PETREL_EXTENSION_PYTHON_DLPACK_H_

#include <cstdint>

namespace petrel::extension::python::dlpack {

inline constexpr int32_t kCpu = 1;
inline constexpr int32_t kCudaHost = 3;  // memory of the host as well

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null for contiguous
  uint64_t byte_offset;
};

struct ManagedTensor {
  static constexpr const char* kCapsule = "dltensor";
  static constexpr const char* kTaken = "used_dltensor";

  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);
};

inline constexpr uint32_t kMajor = 1;
inline constexpr uint64_t kReadOnly = 1;  // of the flags

struct VersionedTensor {
  static constexpr const char* kCapsule = "dltensor_versioned";
  static constexpr const char* kTaken = "used_dltensor_versioned";

  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(VersionedTensor* self);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace petrel::extension::python::dlpack

#endif  // PETREL_EXTENSION_PYTHON_DLPACK_H_
