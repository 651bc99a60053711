// SPDX-License-Identifier: Apache-2.0
//
// A planned program as generated C is written from it: everything has its C name, every
// step its calls, every function its text. What the files look like is decided by those
// who write them (header_text.h, source_text.h, ...).
//
//   PETREL_ASSIGN_OR_RETURN(const Package package, make_package(planned, pools, "kws"));
//   package.methods[0].inputs[0].c_name;   "image"
//
// Refers to the planned program and to the pools, which must outlive it.
#ifndef PETREL_EXIR_EMIT_C_PACKAGE_H_
#define PETREL_EXIR_EMIT_C_PACKAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/backend/backend.h"
#include "exir/emit_c/memories.h"
#include "exir/emit_c/method_sizes.h"
#include "exir/ir/graph.h"
#include "exir/memory/planned_program.h"
#include "exir/memory/reach.h"

namespace petrel::exir::emit_c {

struct CTensor {
  std::string name;  // the user's
  std::string c_name;
  TensorType type;
  std::string place;  // "arena + 64"; "in_image + 0" where that is the caller's
  std::optional<CLevels> levels;

  bool varies() const { return type.is_dynamic(); }
};

// A loop over rows counts its rounds in the context, from 0 on, and never to as many as there are
// rows: what reads or writes that row stays in its memory.
struct CRounds {
  size_t counter = 0;      // index
  std::string count;       // of rows; "" before the first round, where there is one
  bool is_before = false;  // the first round, and jumps if there is none; else jumps to the next
};

// Goes on at another step: where a branch that is not taken ends, behind the other one, or at
// the next round of a loop.
struct CJump {
  // "arena + 64": a bool, jumps when that is false; "": always.
  std::string unless;
  size_t to = 0;  // index of the step
  std::optional<CRounds> rounds = std::nullopt;
};

// A tensor that a step reads or writes, for programs that look into the memory of a model.
struct CPlanTensor {
  std::string name;
  TensorType type;
  std::string place;       // as of inputs
  size_t written_by = 0;   // a step, counted from 1; 0 for what is there before the first
  size_t alive_until = 0;  // the last step that reads it
};

// One of the nodes of a step that runs several, row by row.
struct CStage {
  std::string node, kernel, variant;  // as of steps
};

// An operand that the result of its step lies over, in part or as a whole.
struct CShared {
  std::string operand;
  std::string place;  // of the operand, as of inputs
  int64_t bytes = 0;  // of it
  int64_t lead = 0;   // the result begins so many bytes before it
};

// A function, or a jump.
struct CStep {
  std::optional<CJump> jump;
  std::string function;                      // without the prefix
  std::string kernel;                        // "aten::add.out": what it is in a .pte
  std::string node;                          // the name of its result
  std::string variant;                       // "im2col-smlad"; "" where there is one only
  std::vector<std::string> variants;         // that it may have, the one of the target first
  std::string product;                       // product_text() of nodes with variants
  std::string comment;                       // lines
  std::string source;                        // "model.py:12, in forward", or ""
  std::string body;                          // statements
  std::vector<std::string> memories;         // the variables that it uses, borrowed ones too
  std::vector<size_t> parameters;            // those of its arguments that are pointers
  bool sizes = false;                        // takes those of the call
  bool can_fail = false;                     // returns a status
  std::vector<size_t> reads, writes;         // tensors of the plan
  std::optional<size_t> delegate;            // that it runs: takes the handle
  std::optional<size_t> round;               // takes the count of this loop
  std::string finds;                         // the member of sizes that it sets
  bool finds_number = false;                 // which is a double
  bool counts = false;                       // `number` in its body is how many data tell
  std::vector<CStage> together;              // the nodes that run row by row; empty for one alone
  int64_t ring_bytes = 0;                    // of the rows between those
  std::optional<int64_t> more_instructions;  // of those than one by one; none: not known
  std::vector<CShared> shared;
};

// State takes a value that does not lie there already.
struct CWrite {
  std::string to;
  std::string from;
  std::optional<size_t> parameter;  // `from` is the pointer of this one
  int64_t bytes = 0;
};

struct CMethod {
  std::string name;
  // What its names begin with: "kws", or "kws_decode" where there are several methods.
  std::string prefix;
  std::vector<CTensor> inputs, outputs;
  std::vector<MethodSize> sizes;
  std::string sizes_member;   // of the context, where there are sizes
  std::string rounds_member;  // of the context, where there are loops over rows
  size_t loops = 0;           // over rows
  std::vector<CStep> steps;
  std::vector<CPlanTensor> tensors;
  std::vector<CWrite> writes;
  int64_t arena_bytes = 0;  // of all pools together
  std::vector<int64_t> pool_bytes;
  int64_t lower_bound_bytes = 0;
  bool proven_optimal = false;
};

struct CParameter {
  std::string name;      // "conv.weight"
  std::string symbol;    // "kws_param_conv_weight"
  std::string variable;  // "param_conv_weight": of the context, where it is one
  const Constant* constant = nullptr;
  const plan::MemoryPool* pool = nullptr;        // null: where the compiler puts it
  bool is_external = false;                      // there is no symbol
  std::string room;                              // "pool_tcm + 64": where it is loaded; else ""
  int64_t file_offset = -1;                      // in NAME_params.bin; -1: it is not there
  std::set<std::string> targets = {kProcessor};  // who reads it
  // What its elements stand for where they are levels: of one scale, or of one for each index of
  // an axis, which are another parameter.
  std::optional<CLevels> levels;
  std::optional<size_t> scales;  // index
  int64_t axis = 0;
  // Of payloads and named blobs of delegates: what the bytes are aligned to, and the parameters
  // of the model that they were made of. They are linked wherever other parameters are.
  bool is_of_delegates = false;
  int64_t alignment = 1;
  std::vector<std::string> sources;

  bool is_loaded() const { return !room.empty(); }
  // Its address is known at run time only.
  bool is_pointer() const { return is_external || is_loaded(); }
};

// A partition that a device runs, or C that its backend wrote.
struct CDelegateCall {
  std::string name;  // "forward, partition 0"
  const LoweredPartition* partition = nullptr;
  std::string target;
  std::string device;     // member of the struct of devices
  std::string functions;  // begins the names of what init, execute and destroy it
  CDelegate code;
  size_t payload = 0;  // index of the parameter
  std::vector<int64_t> input_bytes, output_bytes;
};

// A blob by the key that payloads know.
struct CBlob {
  std::string key;
  size_t parameter = 0;  // index
};

// A parameter of the archives that is part of others now.
struct CFolded {
  std::string name;
  int64_t bytes = 0;
};

struct CState {
  std::string name;
  std::string symbol;  // of its initial value
  std::string place;   // "arena + 64"
  const Constant* constant = nullptr;
  int64_t file_offset = -1;  // as of parameters
};

struct Package {
  std::string name;
  std::string capitals;  // "KWS"
  std::vector<CMemory> memories;
  const CPools* pools = nullptr;
  std::vector<CMethod> methods;
  std::vector<CParameter> parameters;
  std::vector<CFolded> folded;
  std::vector<CState> states;
  std::vector<CDelegateCall> delegates;
  std::vector<CBlob> blobs;                            // in byte order of keys
  std::vector<std::shared_ptr<const Constant>> owned;  // payloads and blobs
  std::set<std::string> includes;                      // of the kernels
  std::string kernels;                                 // their text
  int64_t arena_bytes = 0;                             // the largest method's
  int64_t state_bytes = 0;                             // 0 where state lies in the arena

  bool includes_binary = false;      // constants are bytes, not text
  std::string conditional_includes;  // lines, as KernelLibrary has them

  bool has_pools() const;     // memories of types of their own
  bool has_loaded() const;    // parameters that the hook gives
  bool has_external() const;  // parameters whose pointers the caller sets
  bool has_cached() const;    // memories whose caches devices do not see
  // Inputs and outputs lie where the caller has them, and nowhere else.
  bool borrows() const { return pools->io == Io::kCaller; }
};

// Unimplemented lists every node that cannot be C yet, with its source line.
// FailedPrecondition where parameters or state exceed a pool.
absl::StatusOr<Package> make_package(const PlannedProgram& planned, const CPools& pools,
                                     const std::string& name);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PACKAGE_H_
