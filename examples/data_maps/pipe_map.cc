// SPDX-License-Identifier: Apache-2.0
//
// Weights from a pipe: standard input is read to its end into memory, which a
// BufferDataLoader makes a data file of. So they can come from a decompressor,
// a network connection or another process.
//
//   zstd -dc model.ptd.zst | ./bazelw run //examples/data_maps:pipe_map -- model.pte
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "examples/data_maps/run_on_ones.h"
#include "extension/data_loader/buffer_data_loader.h"
#include "extension/flat_data/flat_data_map.h"

namespace {

bool read_all(int fd, std::vector<char>* out) {
  char part[1 << 16];
  while (true) {
    const ssize_t got = read(fd, part, sizeof(part));
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) out->insert(out->end(), part, part + got);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: an example
  if (argc != 2) return std::fprintf(stderr, "usage: pipe_map MODEL.pte < DATA.ptd\n"), 2;
  std::vector<char> bytes;
  if (!read_all(STDIN_FILENO, &bytes)) {
    return std::fprintf(stderr, "pipe_map: standard input: %s\n", std::strerror(errno)), 1;
  }
  extension::BufferDataLoader loader(bytes.data(), bytes.size());
  const auto weights = extension::FlatDataMap::load(&loader);
  if (!weights.ok()) return 1;
  return examples::run_on_ones(argv[1], *weights);
}
