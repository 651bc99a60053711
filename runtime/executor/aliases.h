// SPDX-License-Identifier: Apache-2.0
//
// Aliases: which values of a method may lie in the same memory, known before it
// runs. Kernels check what they are given, then compute; were an output to lie
// over an index, a file would choose what is written where. So a call may write
// a tensor only if no other argument shares a byte with it, or where the kernel's
// row says so (kernel.h) and the two are the very same bytes: elements of one width in
// one order, of which each is read before it is written.
//
//   planned          arena 1, bytes 64 to 127                     as the file says
//   view             what it is made of, and where it was planned
//   moved            all that it may be moved from or to
//   input, output    memory of the caller, apart from all else: checked when bound
//
// An input that is not planned is the caller's to write, not the program's, unless
// ProgramOptions::writable_inputs says otherwise.
//
// Invariant: knows every value that a view or a move can make another of, however
// the instructions are jumped through. Its lists lie in the allocator of the
// method.

#ifndef PETREL_RUNTIME_EXECUTOR_ALIASES_H_
#define PETREL_RUNTIME_EXECUTOR_ALIASES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/core/memory_allocator.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/kernel/kernel.h"
#include "runtime/program/program_additions.h"
#include "runtime/program/program_view.h"

namespace petrel::runtime {

class Aliases final {
 public:
  // One call, for messages and for the check.
  struct Call {
    uint32_t chain;
    uint32_t instruction;
    const char* name;
    Span<const int32_t> args;
  };

  // What the memory of a value may be, by itself or as a view of another: a constant, the
  // caller's of an input, the caller's of an output.
  struct Roles {
    bool constant, input, output;
  };

  // Knows nothing before find().
  explicit Aliases(const MethodView& declared) : declared_(declared) {}

  // `kernels` are by operator. InvalidProgram when a view makes an input, or what is moved
  // to, another value, or is one of two values; NotSupported when a list of tensors is moved, or
  // too many values are moved to one another.
  Error find(Span<const Kernel* const> kernels, bool writable_inputs, MemoryAllocator* allocator);

  // InvalidProgram, with a message that names the call and both arguments.
  // `scratch` may have 0 bytes.
  Error check_kernel(const Call& call, const KernelOutputs& outputs, const ScratchView& scratch);
  // The last `num_outputs` arguments are written.
  Error check_delegate(const Call& call, size_t num_outputs);

  // Made by a view.
  bool is_view(uint32_t value) const { return !bases_.empty() && bases_[value] != kNone; }
  // Moved, or moved to.
  bool is_moved(uint32_t value) const { return !rings_.empty() && rings_[value] != value; }
  // A tensor of the method's inputs or outputs whose memory the caller gives.
  bool is_callers(uint32_t value) const;
  // All of them where too many values share it, which are refused where they are used.
  Roles roles_of(uint32_t value) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Most values that may share one memory by views and moves.
  static constexpr size_t kMostShared = 32;
  // What may be compared for one method: pairs of tensors, each with all that they may be, and
  // whatever else is gone through on the way.
  static constexpr uint64_t kMostPairs = uint64_t{1} << 23;

  struct Place {
    enum class Kind : uint8_t { None, Constant, Arena, Caller };
    Kind kind = Kind::None;
    uint32_t id = 0;  // arena, or value
    uint64_t begin = 0, end = 0;
  };
  // Values whose memory one value may have.
  struct Shared {
    bool add(uint32_t value);
    uint32_t values[kMostShared];
    size_t size = 0;
  };
  // The call that is checked: how many arguments count, and which are written.
  struct Checked {
    const Call& call;
    uint32_t num_arguments;
    uint32_t first, count;
    bool in_place;
    bool and_last = false;  // argument num_arguments - 1 is written, too
  };

  // A tensor that the call writes, or its scratch memory, which is none; and where it may be.
  struct Written {
    uint32_t argument, item;
    uint32_t value;
    Span<const Place> places;
  };

  // In aliases_find.cc.
  Error make_room(bool has_views, bool has_moves, MemoryAllocator* allocator);
  Error add_view(const Call& call);
  Error add_move(const Call& call, uint32_t from, uint32_t to);
  Error check_views();
  bool is_input(uint32_t value) const { return !io_.empty() && (io_[value] & kInput) != 0; }

  std::optional<TensorView> tensor(uint32_t value) const {
    return declared_.value(value).as_tensor();
  }
  bool is_tensor(uint32_t value) const { return declared_.value(value).tag() == Tag::Tensor; }
  Place place_of(uint32_t value) const;
  bool find_shared(uint32_t value, Shared* out) const;
  // Elements of one width, in one order of the same sizes, leading ones aside.
  bool has_elements_of(uint32_t a, uint32_t b) const;
  // OutOfResources when there has been too much to compare.
  Error pay(uint64_t pairs);
  Error pay_for_pair(size_t a, size_t b);

  static bool is_written(const Checked& checked, uint32_t argument);
  Checked find_returned(const Call& call) const;
  Error check(const Checked& checked, const ScratchView& scratch);
  Error check_output(const Checked& checked, uint32_t argument, uint32_t item, uint32_t value);
  Error check_apart(const Checked& checked, const Written& written);
  Error check_pair(const Checked& checked, const Written& written, uint32_t other,
                   uint32_t other_value);
  void report(const Checked& checked, const Written& written, uint32_t other,
              uint32_t other_value) const;
  static bool overlap(const Place& a, const Place& b);

  // The tensors that arguments are or list, one after the other.
  struct Tensors {
    explicit Tensors(Span<const int32_t> all) : arguments(all) {}

    Span<const int32_t> arguments;
    // The one that next() came to: which argument, which entry of it if it is a list, which value.
    uint32_t argument = 0, item = 0, value = 0;
    uint32_t next_argument = 0, next_item = 0;
    Span<const int32_t> items;
  };
  // To the first or next tensor; false if there is none. Pays for all that is none, as whoever
  // looks at a tensor does for that.
  Result<bool> next(Tensors* at);

  MethodView declared_;
  bool writable_inputs_ = false;
  uint64_t pairs_ = 0;
  // By value, any of these.
  static constexpr uint8_t kInput = 1, kOutput = 2, kMovedTo = 4;
  Span<uint8_t> io_;
  // By value: what a view is made of, or kNone. Empty without views.
  Span<uint32_t> bases_;
  // By value: the next of those that are moved to one another, itself if there is
  // none. Empty without moves.
  Span<uint32_t> rings_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_ALIASES_H_
