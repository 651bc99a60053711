// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/ways.h"

#include <string>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/images.h"
#include "backends/xnnpack/format/split_products.h"
#include "backends/xnnpack/format/unpacked.h"
#include "backends/xnnpack/format/winograd.h"
#include "backends/xnnpack/runtime/tile_table.h"
#include "backends/xnnpack/runtime/tiles.h"
#include "third_party/xnnpack/image/flag.h"
#include "third_party/xnnpack/split/flag.h"
#include "third_party/xnnpack/unpacked/flag.h"

namespace petrel::backends::xnnpack {

namespace {

uint64_t last_cache_bytes() {
  const TileMachine machine = this_machine();
  return machine.l3 != 0 ? machine.l3 : machine.l2;
}

}  // namespace

void choose_ways(Graph* graph, const ConstantSource& constants, uint32_t threads,
                 const AllowedWays& allowed) {
  // Some ask XNNPACK for its kernels, which it chooses then.
  settle_tiles();
  if (allowed.winograd) choose_winograd(graph, threads);
  if (allowed.split && split_is_available()) choose_split_products(graph);
  choose_images(graph, threads, &petrel_takes_images);
  choose_attention_blocks(graph, threads, this_machine().l2);
  if (allowed.unpacked && petrel_takes_unpacked()) {
    choose_unpacked(graph, allowed.cache_bytes ? *allowed.cache_bytes : last_cache_bytes(),
                    [&](const std::string& key) { return constants.is_in_place(key); });
  }
}

}  // namespace petrel::backends::xnnpack
