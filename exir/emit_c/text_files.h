// SPDX-License-Identifier: Apache-2.0
//
// The files of a package as text: equal packages give equal bytes.
//
//   kws.h            what an app includes
//   kws.c            the kernels, a function per step, and what runs them
//   kws_params.h/.c  one symbol per parameter, and the lookup of them by id
//   kws_params.S     the symbols of a large model, whose bytes are in kws_params.bin
//                    (constant_file.h); the lookup is in kws.c then
//   kws_metadata.c   the model as a struct, of the types in petrel_model.h
//   kws_memory.c     with pools: their memory as arrays
//   kws.ld           with pools that have an address: where the linker puts them
//   kws_group.h      what it shares with other packages (group.h)
//   kws_plan.c       for a host that drives the steps, with petrel_rpc.c and what it includes
//   kws_selftest.c   an input, and what the interpreter computes from it
//   kws.mk, .cmake   how to compile them
//   manifest.json    all of it for programs
//
// A shared library of the model has the manifest as data (module_text).
#ifndef PETREL_EXIR_EMIT_C_TEXT_FILES_H_
#define PETREL_EXIR_EMIT_C_TEXT_FILES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/emit_c/package.h"
#include "exir/ir/blob.h"

namespace petrel::exir::emit_c {

// The first call of a method: its inputs, and its outputs as the interpreter computes
// them with the reference kernels. Where no inputs are known that it takes there are neither.
struct GoldenCall {
  bool known = true;
  std::vector<Blob> inputs, outputs;
};

std::string header_text(const Package& package);
std::string source_text(const Package& package);
// Of the source: a function for each step of a method, and the entries that run them.
std::string steps_text(const Package& package, const CMethod& method);
std::string runs_text(const Package& package, const CMethod& method);
// What entries call a place: "context->arena + 64" of "arena + 64".
std::string at_run(const std::string& place);
bool has_arena(const Package& package);  // one that steps write
std::string parameter_header_text(const Package& package);
// Precondition: !package.includes_binary.
std::string parameter_source_text(const Package& package);
// The function that finds parameters by id.
std::string lookup_text(const Package& package);
// Of parameters whose address is known at run time only: macros, what sets the pointers of
// external ones, and the hook that loads others before their first use.
std::string pointer_header_text(const Package& package);
std::string pointer_text(const Package& package);
// "status = kws_need_conv_weight(context);...": before a step that uses parameters.
std::string need_text(const Package& package, const std::vector<size_t>& parameters);
// What run() says when pointers are missing that `method` uses.
std::string missing_pointers_text(const Package& package, const CMethod& method);
// Partitions of backends (delegate_text.cc); "" where there is none. The types and functions
// that the header declares, the members of the context, what steps call, and what opens them.
std::string delegate_types_text(const Package& package);
std::string delegate_functions_text(const Package& package);
std::string delegate_members_text(const Package& package);
std::string delegate_source_text(const Package& package);
std::string delegate_open_text(const Package& package);
std::string delegate_header_text();                        // petrel_delegate.h
std::set<std::string> devices_of(const Package& package);  // members of the struct of devices
// Name and kernel of each step, the copies before and after them included.
std::vector<std::pair<std::string, std::string>> step_infos(const CMethod& method);
size_t room_words(const CDelegateCall& call);  // of 8 bytes
// "context == NULL || context->arena == NULL": init() has not been called.
std::string no_context(const Package& package);
// `calls` are in the order of the methods.
std::string self_test_text(const Package& package, const std::vector<GoldenCall>& calls);
// What an app compiles and links.
std::vector<std::string> sources_of(const Package& package);
std::string make_text(const Package& package);
std::string cmake_text(const Package& package);
// Precondition: package.has_pools().
std::string memory_text(const Package& package);
// "" when no pool has an address.
std::string linker_text(const Package& package);

int64_t constant_bytes(const Package& package);  // of parameters that are linked
int64_t io_bytes(const CMethod& method);         // of all inputs and outputs
// Sizes that vary: the struct of a method's, what the header declares and the source defines,
// what init() sets, and the variable that the texts of extents name. "" where none varies.
std::string sizes_struct_text(const CMethod& method);
std::string sizes_header_text(const Package& package, const CMethod& method);
std::string sizes_source_text(const Package& package, const CMethod& method);
std::string sizes_init_text(const CMethod& method);
std::string sizes_pointer_text(const CMethod& method);
// A size_t: "64u", or "(size_t)(32 * sizes->s31)".
std::string bytes_text(const TensorType& type);

// Sources of the user's kernels, each once, and the header that declares them.
struct CUserFile {
  std::string name;
  std::string text;
};
std::vector<CUserFile> user_files(const Package& package);
// Those of them that are compiled already.
std::vector<std::string> archives_of(const Package& package);
// What the others are compiled with.
std::vector<std::string> user_flags(const Package& package);
std::string user_header_text(const Package& package);

// Whether a memory holds something between calls.
bool is_kept(const Package& package, const CMemory& memory);

// The struct that tells of a model and runs it, and its type, which is the same for all
// models. `sha256` is of the files that compute.
std::string metadata_text(const Package& package, const std::string& sha256);
std::string model_header_text();
std::string model_view_text();  // the same for C++
// The steps and tensors of all methods, for a host that drives them, and the files of the device's
// side by name. Unimplemented for methods that are too long.
absl::StatusOr<std::string> plan_text(const Package& package);
std::string plan_header_text(const Package& package);
std::vector<std::pair<std::string, std::string>> device_texts();
// `digests` are of the other files, by name.
std::string manifest_text(const Package& package, const std::string& sha256,
                          const std::map<std::string, std::string>& digests);

// "static const float kws_x[3] = {1.0f, 2.0f, 3.0f};", in short lines; `declaration` ends
// before the size. Bytes that are no elements make C99's smallest array, {0}.
std::string array_text(const std::string& declaration, const TensorType& type, const Blob& data);

// Made of the name, so that it stays when other parameters come and go.
uint32_t parameter_id(const CParameter& parameter);

// Whether the array of a parameter begins with a line of the cache of x86-64.
bool begins_line(const CParameter& parameter);
inline constexpr int64_t kCacheLine = 64;

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_TEXT_FILES_H_
