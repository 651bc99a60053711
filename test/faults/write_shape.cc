// SPDX-License-Identifier: Apache-2.0
//
// write_shape            prints the name of each shape, and whether it is refused
// write_shape NAME UNITS FILE   writes one

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "test/faults/shapes.h"

int main(int count, char** words) {
  using petrel::faults::Shape;
  for (const Shape& shape : petrel::faults::shapes()) {
    if (count == 1) {
      std::printf("%s %s\n", shape.name, shape.is_refused ? "refused" : "accepted");
    } else if (count == 4 && std::string_view(words[1]) == shape.name) {
      const std::vector<uint8_t> bytes =
          build_shape(shape, static_cast<size_t>(std::strtoull(words[2], nullptr, 10)));
      std::FILE* const file = std::fopen(words[3], "wb");
      const bool written = file != nullptr &&
                           std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                           std::fclose(file) == 0;
      return written ? 0 : 1;
    }
  }
  return count == 1 ? 0 : 1;
}
