// SPDX-License-Identifier: Apache-2.0
//
// Which arenas the methods of a program have in common, and their memory.
//
//   method   arena 0            arena 1
//   prefill  [ activations ]    [ keys | values ]     one memory for both,
//   decode   [ activations ]    [ keys | values ]     so that state is shared
//
// An arena behind the first is shared by all methods that have it when they give
// it one size and do not disagree about where states of one name lie in it.
// (Not all programs name their states.) The first arena, which holds what does
// not outlive a call, is shared only when asked for, and only where no method is
// known to keep state in it.
//
// Memory is made when the first method needs it and given back with the last:
// state lives as long as any method that can see it is loaded. The Program must
// outlive the object.
#ifndef PETREL_EXTENSION_MODULE_SHARED_ARENAS_H_
#define PETREL_EXTENSION_MODULE_SHARED_ARENAS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "extension/module/arena.h"
#include "runtime/core/budget.h"
#include "runtime/core/result.h"
#include "runtime/executor/program.h"

namespace petrel::extension {

class SharedArenas {
 public:
  SharedArenas() = default;  // none

  static runtime::Result<SharedArenas> find(const runtime::Program& program, bool share_first);

  bool is_shared(size_t index) const { return index < arenas_.size() && arenas_[index].is_shared; }
  // The memory of arena `index`: that of the other methods if it is shared, else
  // new memory of `size` bytes.
  runtime::Result<std::shared_ptr<Arena>> get(size_t index, size_t size);

 private:
  struct Slot {
    bool is_shared = false;
    size_t size = 0;  // the largest that a method wants
    std::weak_ptr<Arena> memory;
  };
  std::vector<Slot> arenas_;
};

// Loading a method writes the initial values of its state. The states of methods
// that are loaded already must survive that, however it ends: what this object saw when it was
// made is put back when it goes, the whole arena where states have no names.
class KeptState {
 public:
  KeptState(KeptState&&) = default;
  KeptState& operator=(KeptState&&) = delete;
  ~KeptState();

  // `loading` is about to be loaded into `arenas`, `loaded` are in use. OutOfResources where
  // arenas and what is kept of them take more than `max_arena_bytes`.
  static runtime::Result<KeptState> of(const SharedArenas& shared,
                                       const runtime::MethodMeta& loading,
                                       const std::vector<std::shared_ptr<Arena>>& arenas,
                                       const std::vector<runtime::MethodMeta>& loaded,
                                       uint64_t max_arena_bytes);

 private:
  struct Piece {
    uint8_t* at;
    std::vector<uint8_t> bytes;
  };
  explicit KeptState(uint64_t max_arena_bytes) : bytes_("max_arena_bytes", max_arena_bytes) {}
  runtime::Error keep(const Arena& arena, size_t begin, size_t size);

  runtime::Budget bytes_;
  std::vector<Piece> pieces_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_SHARED_ARENAS_H_
