// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/tiles.h"

#include <errno.h>
#include <string.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/tile_table.h"
#include "runtime/core/log.h"
#include "runtime/platform/process_mutex.h"
#include "third_party/xnnpack/tile_choice/candidates.h"
#include "third_party/xnnpack/tile_choice/trial.h"

namespace petrel::backends::xnnpack {
namespace {

namespace tiles = ::petrel::third_party::xnnpack;

// Of a trial at load.
constexpr uint64_t kTrialNanoseconds = 20'000'000;

const petrel_tile* read_table(const std::string& path) {
  const TableReading table = read_tile_table(path, TableOwner::kAnyone, this_machine());
  if (table.tile == nullptr) {
    PETREL_LOG(Warning, "tiles '%s' %s; the rule chooses", path.c_str(),
               table.reason == nullptr ? "is not there" : table.reason);
  }
  return table.tile;
}

const petrel_tile* read_or_try(const std::string& kept, const petrel_tile* usual) {
  const TileMachine machine = this_machine();
  TableReading table;
  if (!kept.empty()) table = read_tile_table(kept, TableOwner::kUser, machine);
  if (table.tile != nullptr) return table.tile;
  if (table.reason != nullptr) {
    PETREL_LOG(Warning, "tiles '%s' %s; they are measured again", kept.c_str(), table.reason);
  }
  const tiles::Trial trial =
      tiles::try_tiles(tiles::possible_tiles(), usual, kTrialNanoseconds, tiles::trial_clock);
  const bool is_kept = !kept.empty() && (table.reason == nullptr || !table.is_foreign);
  if (is_kept && !write_tile_table(kept, format_tile_table(machine, trial))) {
    PETREL_LOG(Warning, "tiles '%s' cannot be written: %s", kept.c_str(), strerror(errno));
  }
  return trial.best;
}

SettledTiles settle(const TileRequest& request) {
  SettledTiles settled;
  settled.way = "rule";
  if (start_xnnpack() != xnn_status_success) return settled;
  const petrel_tile* const usual = petrel_usual_tile();
  if (usual == nullptr) return settled;
  const petrel_tile* tile = nullptr;
  if (request.kind == TileRequest::Kind::kTable) {
    tile = read_table(request.file);
    if (tile != nullptr) settled.way = "table " + request.file;
  } else if (request.kind == TileRequest::Kind::kTrial) {
    tile = read_or_try(request.file, usual);
    settled.way = "trial";
  }
  if (tile == nullptr) tile = usual;
  settled.name = tile->name;
  if (tile == usual) return settled;
  settled.layout = tile->name;
  petrel_choose_tile(tile);
  return settled;
}

bool are_equal(const TileRequest& a, const TileRequest& b) {
  // A trial is the same whichever file keeps it.
  return a.kind == b.kind && (a.kind != TileRequest::Kind::kTable || a.file == b.file);
}

// The last request that something else had answered.
class LateRequests {
 public:
  // Whether it was not told.
  bool is_new(const TileRequest& request) {
    const std::lock_guard<runtime::ProcessMutex> lock(mutex_);
    if (are_equal(last_, request)) return false;
    last_ = request;
    return true;
  }

 private:
  runtime::ProcessMutex mutex_;
  TileRequest last_;
};

// Those that come too late are told, once each in turn.
void tell_late(const TileRequest& first, const SettledTiles& settled, const TileRequest& request) {
  static auto* const late = new LateRequests;
  using Kind = TileRequest::Kind;
  const bool has_rule = settled.layout.empty();
  if (request.kind == Kind::kAny || are_equal(first, request) ||
      (request.kind == Kind::kRule && has_rule) || settled.name.empty() || !late->is_new(request)) {
    return;
  }
  const std::string what = request.kind == Kind::kRule    ? "rule"
                           : request.kind == Kind::kTrial ? "trial"
                                                          : request.file;
  PETREL_LOG(Warning, "tiles '%s' is asked for too late: this process computes in %s", what.c_str(),
             settled.text().c_str());
}

struct First {
  TileRequest request;
  SettledTiles settled;
};

std::atomic<const First*> known{nullptr};

const First* settle_first(const TileRequest& request) {
  // Never destroyed: methods may outlive static objects.
  const auto* const first = new First{request, settle(request)};
  known = first;
  return first;
}

}  // namespace

const SettledTiles& settle_tiles(const TileRequest& request) {
  static const First* const first = settle_first(request);
  tell_late(first->request, first->settled, request);
  return first->settled;
}

const SettledTiles* settled_tiles() {
  const First* const first = known;
  return first == nullptr ? nullptr : &first->settled;
}

}  // namespace petrel::backends::xnnpack
