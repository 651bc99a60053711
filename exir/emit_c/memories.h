// SPDX-License-Identifier: Apache-2.0
//
// The memories that a package asks its caller for, with all that the files call them:
//
//   without pools     arena, and state where several methods share some
//   with pools        one for each, of a type of its own, and state
//
//   struct kws_pools {
//     struct kws_pool_sram *sram;   member "sram", type "struct kws_pool_sram"
//     size_t sram_bytes;
//   };
//   context->pool_sram + 64         variable "pool_sram"
//   KWS_POOL_SRAM_BYTES             macro "KWS_POOL_SRAM"
//
// Invariant: names of members, variables and macros differ from one another.
#ifndef PETREL_EXIR_EMIT_C_MEMORIES_H_
#define PETREL_EXIR_EMIT_C_MEMORIES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/blob.h"
#include "exir/memory/planned_program.h"
#include "exir/plan/formats/memory_pool.h"

namespace petrel::exir::emit_c {

class KernelChoices;

// The pool of this name holds what outlives a call, and nothing else.
inline constexpr char kStatePool[] = "state";

// Where inputs and outputs lie.
enum class Io {
  kArena,   // in the memory of the model; what the caller has elsewhere is copied
  kCaller,  // where the caller has them
};

// How parameters are written.
enum class ConstantForm {
  kAuto,    // as text up to 1 MiB
  kText,    // NAME_params.c
  kIncbin,  // NAME_params.bin, which NAME_params.S includes
};

// Another package, as far as it shares pools.
struct CSharer {
  std::string name;
  std::set<std::string> pools;     // of activations, that it uses
  std::set<std::string> prefixes;  // that names of its methods begin with
};

// Where a parameter may be.
struct ParameterChoice {
  bool is_external = false;   // the files do not have its bytes
  bool is_by_name = false;    // a rule names it
  std::vector<size_t> pools;  // best first; none: where the compiler or the caller puts it
};

// What backends have stored beside their payloads.
struct CNamedBlob {
  std::string key;
  Blob data;
  int64_t alignment = 1;
  std::set<std::string> backends;    // ids
  std::vector<std::string> sources;  // names of parameters that it was made of
};

// What integers at the border of a method stand for: scale * (level - zero_point).
struct CLevels {
  double scale = 1;
  int64_t zero_point = 0;
};

// The memories that the user describes.
struct CPools {
  // Variants of kernels; null: each node has the one that the runtime has. (optional)
  const KernelChoices* kernels = nullptr;
  Io io = Io::kArena;
  ConstantForm form = ConstantForm::kAuto;
  // Sums of floats may be floats, and fused.
  bool fast_math = false;
  // Files for a host that drives the model.
  bool has_device_rpc = false;
  // The functions of struct petrel_model_metadata are there, and not NULL.
  bool has_packed = true;
  std::vector<CSharer> group;
  bool group_together = false;                // all are alive at one time
  std::vector<plan::MemoryPool> activations;  // in the order of the plan's
  std::optional<plan::MemoryPool> state;
  // Of parameters: linked in read-only ones, loaded into read-write ones.
  std::vector<plan::MemoryPool> constants;
  // (optional)
  std::function<ParameterChoice(const std::string& name)> of_parameter;
  // By method, and "input NAME" or "output NAME".
  std::map<std::string, std::map<std::string, CLevels>> levels;
  bool has_backends = false;  // some are asked, whatever they take
  std::vector<CNamedBlob> blobs;
  // Those that the archives have, for telling which of them are folded away.
  std::map<std::string, int64_t> archived;  // bytes by name
};

struct CMemory {
  std::string variable;
  std::string member;
  std::string type;
  std::string bytes_macro;
  std::string align_macro;
  int64_t bytes = 0;
  int64_t alignment = 0;
  bool keeps_state = false;
  bool keeps_parameters = false;         // that are loaded, and nothing else
  std::optional<plan::MemoryPool> pool;  // of its own type; none: bare bytes

  // Nothing lies in others; their pointers may be NULL.
  bool is_used() const { return bytes > 0; }
  // Steps write their results there.
  bool is_arena() const { return is_used() && !keeps_state && !keeps_parameters; }
};

// InvalidArgument for names that C cannot have, known before anything is compiled.
absl::Status check_pool_names(const std::vector<plan::MemoryPool>& pools);

// In the order of `pools`, state last; those of loaded parameters have no bytes yet.
// Says in `shortages` when state is larger than its pool.
std::vector<CMemory> make_memories(const PlannedProgram& planned, const CPools& pools,
                                   const std::string& package, std::vector<std::string>* shortages);

// ".rodata.kws_flash": where what lies there is put; "" where a compiler decides.
std::string section_of(const plan::MemoryPool& pool, const std::string& package);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_MEMORIES_H_
