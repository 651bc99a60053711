// SPDX-License-Identifier: Apache-2.0
//
// The facts of the file formats that no schema can state: what files begin with,
// how their data is aligned, and how long names may be. Readers and writers take
// them from here, so that what is written is what is read. The specifications
// beside this header say where each stands.
//
//   if (std::memcmp(file + kIdentifierOffset, kProgramIdentifier, kMagicBytes) != 0) ...
#ifndef PETREL_SCHEMA_FORMATS_H_
#define PETREL_SCHEMA_FORMATS_H_

#include <cstddef>
#include <cstdint>

namespace petrel::schema {

// A flatbuffer's identifier follows the offset of its root table; the header of
// a container follows that.
inline constexpr size_t kMagicBytes = 4;
inline constexpr size_t kIdentifierOffset = 4;
inline constexpr size_t kHeaderOffset = 8;

// Programs, `.pte`.
inline constexpr char kProgramIdentifier[] = "ET12";
inline constexpr char kProgramHeaderMagic[] = "eh00";

// Data files, `.ptd`.
inline constexpr char kDataFileIdentifier[] = "FT01";
inline constexpr char kDataFileHeaderMagic[] = "FH01";

// Payloads of the XNNPACK backend. The older identifier is read and not written.
inline constexpr char kXnnpackHeaderMagic[] = "XH00";
inline constexpr char kXnnpackIdentifier[] = "XN01";
inline constexpr char kXnnpackOldIdentifier[] = "XN00";

// Files of packed weights.
inline constexpr char kPackedWeightsMagic[] = "PTLPACK1";
inline constexpr size_t kPackedWeightsMagicBytes = 8;

// The key of named data with what this project adds to a program (additions.md).
inline constexpr char kAdditionsKey[] = "petrel.program";

// Names. Written keys are as long as every reader of the format takes; readers
// here take longer ones.
inline constexpr size_t kMaxMethodNameBytes = 1023;
inline constexpr size_t kMaxOperatorNameBytes = 255;
inline constexpr size_t kMaxWrittenKeyBytes = 1023;
inline constexpr size_t kMaxKeyBytes = 4096;
inline constexpr size_t kMaxTensorNameBytes = 4096;

// How many methods a program has at most: readers compare their names.
inline constexpr size_t kMaxMethods = 1024;

// Tensors.
inline constexpr size_t kMaxRank = 16;

// Data. Flatbuffers, constants, payloads and the values of an arena start at
// multiples of kDataAlignment; what asks for more may ask for kMaxAlignment.
inline constexpr uint64_t kDataAlignment = 16;
inline constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;

// An arena of a method that calls a backend has this many bytes after its last
// value, because backends may read past the end of a tensor.
inline constexpr uint64_t kArenaSlack = 64;

}  // namespace petrel::schema

#endif  // PETREL_SCHEMA_FORMATS_H_
