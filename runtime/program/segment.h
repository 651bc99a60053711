// SPDX-License-Identifier: Apache-2.0
//
// Reads segments of a verified program through its loader.

#ifndef PETREL_RUNTIME_PROGRAM_SEGMENT_H_
#define PETREL_RUNTIME_PROGRAM_SEGMENT_H_

#include <cstdint>

#include "runtime/core/data_loader.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/result.h"
#include "runtime/program/program_view.h"

namespace petrel::runtime {

// The whole segment. What the loader returns is checked: AccessFailed if it
// has another size or is not aligned to kDataAlignment.
Error load_segment(const DataLoader& loader, uint64_t segment_base, const SegmentView& segment,
                   const DataLoader::SegmentInfo& info, FreeableBuffer* to);

// `size` bytes at `offset` of the file, with the same checks, the second one
// only when `offset` is aligned.
Error load_range(const DataLoader& loader, uint64_t offset, uint64_t size,
                 const DataLoader::SegmentInfo& info, FreeableBuffer* to);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_SEGMENT_H_
