// SPDX-License-Identifier: Apache-2.0
//
// How long each instruction of a method takes, and each step that a delegate tells of. The method
// is loaded with it as its tracer:
//
//   MethodProfile profile;
//   options.event_tracer = &profile;
//   ... load, run a few times ...
//   profile.begin_counting();
//   ... run ...
//   profile.print_text();
//
// Taking the time takes some itself: what is told is slower than a run without a tracer.
#ifndef PETREL_EXTENSION_CLI_METHOD_PROFILE_H_
#define PETREL_EXTENSION_CLI_METHOD_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/core/event_tracer.h"

namespace petrel::extension {

class MethodProfile final : public runtime::EventTracer {
 public:
  void create_event_block(const char* name) override;
  runtime::EventTracerEntry start_profiling(const char* name, uint32_t chain,
                                            uint32_t instruction) override;
  void end_profiling(runtime::EventTracerEntry entry) override;
  runtime::EventTracerEntry start_profiling_delegate(const char* name,
                                                     uint32_t debug_index) override;
  void end_profiling_delegate(runtime::EventTracerEntry entry, const void* metadata,
                              size_t metadata_size) override;

  // What was told until now does not count.
  void begin_counting();

  // The median over runs of what each takes in a run, in the order of their first time. Shares
  // are of all instructions.
  void print_text() const;
  nlohmann::ordered_json json() const;

 private:
  // Chain, instruction, and step of its delegate; kNoInstruction of the instruction itself. What
  // a loop repeats is added up.
  using Place = std::tuple<uint32_t, uint32_t, uint32_t>;

  struct Row {
    std::string name;
    size_t order = 0;
    std::vector<double> seconds;  // by run
  };

  runtime::EventTracerEntry start(const char* name, const Place& place);
  void end(runtime::EventTracerEntry entry);
  std::vector<std::pair<Place, const Row*>> in_order() const;
  double median(const Row& row) const;
  double sum_of_instructions() const;

  std::map<Place, Row> rows_;
  std::vector<Row*> open_;  // by EventTracerEntry::id
  uint32_t chain_ = 0, instruction_ = kNoInstruction;
  size_t runs_ = 0;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_METHOD_PROFILE_H_
