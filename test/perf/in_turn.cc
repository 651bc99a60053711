// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of one input of varying length in turn with several lengths, so that each run
// has another length than the one before, and then with each length alone:
//
//   in_turn MODEL.pte THREADS SECONDS 8 24 50
//
//   {"8": [96.1, 88.0], "24": [190.3, 181.2], "50": [402.5, 391.7]}
//
// These are microseconds of the run in the middle, in turn and alone. The input is [1, length] of
// tokens that count up from 1.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/filled.h"
#include "test/perf/middle.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using extension::Module;
using Clock = std::chrono::steady_clock;

struct Length {
  int tokens;
  extension::TensorPtr input;
  std::vector<double> in_turn, alone;
};

bool run(Module* module, Length* length, std::vector<double>* times) {
  const auto before = Clock::now();
  const bool is_done = module->forward({runtime::EValue(*length->input)}).ok();
  times->push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
  return is_done;
}

bool make(int tokens, Length* length) {
  length->tokens = tokens;
  length->input = extension::ones({1, tokens}, runtime::ScalarType::Long);
  if (length->input == nullptr) return false;
  for (int i = 0; i < tokens; ++i) length->input->mutable_data_ptr<int64_t>()[i] = 1 + i;
  return true;
}

// Times of the first round count for nobody: memory is touched there.
bool measure(Module* module, double seconds, std::vector<Length>* lengths) {
  const auto part = std::chrono::duration<double>(seconds / 2);
  const auto begin = Clock::now();
  do {
    for (Length& length : *lengths) {
      if (!run(module, &length, &length.in_turn)) return false;
    }
  } while (Clock::now() - begin < part || lengths->front().in_turn.size() < 10);
  for (Length& length : *lengths) {
    length.in_turn.erase(length.in_turn.begin());
    const auto from = Clock::now();
    do {
      if (!run(module, &length, &length.alone)) return false;
    } while (Clock::now() - from < part / lengths->size() || length.alone.size() < 10);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: in_turn MODEL.pte THREADS SECONDS LENGTH...\n");
    return 2;
  }
  Module::Options options;
  options.num_threads = std::atoi(argv[2]);
  auto loaded = Module::load(argv[1], options);
  if (!loaded.ok()) return 1;
  std::vector<Length> lengths(static_cast<size_t>(argc - 4));
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (!make(std::atoi(argv[4 + i]), &lengths[i])) return 2;
  }
  if (!measure(loaded->get(), std::atof(argv[3]), &lengths)) return 1;
  const char* before = "{";
  for (const Length& length : lengths) {
    std::printf("%s\"%d\": [%.2f, %.2f]", before, length.tokens, middle(length.in_turn),
                middle(length.alone));
    before = ", ";
  }
  std::printf("}\n");
  return 0;
}
