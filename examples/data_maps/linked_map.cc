// SPDX-License-Identifier: Apache-2.0
//
// Weights that are linked into the binary: the build puts a data file into a
// section of it (linked_weights.S), and the table of a LinkedDataMap is made of
// what the file holds. In an app without files that table is written by hand or
// by a generator, one row per symbol.
//
//   ./bazelw run //examples/data_maps:linked_map -- digits.pte
#include <cstdint>
#include <cstdio>
#include <vector>

#include "examples/data_maps/run_on_ones.h"
#include "extension/data_loader/buffer_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/named_data_map/linked_data_map.h"

extern "C" {
extern const uint8_t linked_weights[];
extern const uint8_t linked_weights_end[];
}

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: an example
  if (argc != 2) return std::fprintf(stderr, "usage: linked_map MODEL.pte\n"), 2;
  extension::BufferDataLoader section(linked_weights,
                                      static_cast<size_t>(linked_weights_end - linked_weights));
  const auto file = extension::FlatDataMap::load(&section);
  if (!file.ok()) return 1;
  std::vector<extension::LinkedData> table;
  for (uint32_t i = 0; i < *file->get_num_keys(); ++i) {
    const char* key = *file->get_key(i);
    const auto data = file->get_data(key);
    if (!data.ok()) return 1;
    table.push_back({key, data->data(), data->size()});
  }
  const auto weights = extension::LinkedDataMap::create(
      runtime::Span<const extension::LinkedData>(table.data(), table.size()));
  if (!weights.ok()) return 1;
  return examples::run_on_ones(argv[1], *weights);
}
