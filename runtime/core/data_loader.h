// SPDX-License-Identifier: Apache-2.0
//
// DataLoader: where the bytes of a program or data file come from. The runtime
// never opens a file itself; it asks a loader for ranges and frees what it got.
//
// What an implementation promises:
//   - load() returns exactly `size` bytes, or an error.
//   - Memory is aligned to kDataAlignment when `offset` is; a range of 0 bytes
//     may have any pointer, null included.
//   - Segments of type Program hold structures that are verified once and
//     trusted from then on: their memory must be private, so that nobody
//     (another process with the file mapped, say) can change them until they
//     are freed. A mapping loader reads these into memory of its own. Other
//     segments are plain data and may be mapped.
//   - Calls may come from several threads at once.
//
// The loader outlives every Program and data map made from it, and every
// buffer it returned.

#ifndef PETREL_RUNTIME_CORE_DATA_LOADER_H_
#define PETREL_RUNTIME_CORE_DATA_LOADER_H_

#include <cstddef>

#include "runtime/core/byte_place.h"
#include "runtime/core/error.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/result.h"
#include "schema/formats.h"

namespace petrel::runtime {

// Alignment of loaded data, and of every tensor stored in a file.
inline constexpr size_t kDataAlignment = schema::kDataAlignment;

class DataLoader {
 public:
  // What a range is for; loaders may choose how to hold it by this.
  struct SegmentInfo {
    enum class Type {
      Program,   // header and flatbuffer of a program or data file
      Constant,  // constants that kernels read
      Backend,   // payload of a delegate
      Mutable,   // initial values, copied once
      External,  // named data
    };

    SegmentInfo() = default;
    explicit SegmentInfo(Type type, size_t index = 0, const char* descriptor = nullptr)
        : segment_type(type), segment_index(index), descriptor(descriptor) {}

    Type segment_type = Type::Program;
    size_t segment_index = 0;
    // For Backend: the backend's name.
    const char* descriptor = nullptr;
  };

  virtual ~DataLoader() = default;

  // The bytes [offset, offset + size). InvalidArgument when they are not all
  // inside the file.
  virtual Result<FreeableBuffer> load(size_t offset, size_t size,
                                      const SegmentInfo& segment_info) const = 0;

  // The same into memory of the caller (optional: NotImplemented).
  virtual Error load_into(size_t /*offset*/, size_t /*size*/, const SegmentInfo& /*segment_info*/,
                          void* /*buffer*/) const {
    return Error::NotImplemented;
  }

  // Where the bytes [offset, offset + size) come from, without loading them (optional).
  // An error where that is not sure.
  virtual Result<BytePlace> find_place(size_t /*offset*/, size_t /*size*/) const {
    return Error::NotImplemented;
  }

  // Whether load() gives the bytes of such segments where they lie, and takes no memory for
  // them: those of a mapped file, or of memory that somebody keeps (optional).
  virtual bool is_in_place(const SegmentInfo& /*segment_info*/) const { return false; }

  // Size of the file.
  virtual Result<size_t> size() const = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_DATA_LOADER_H_
