// SPDX-License-Identifier: Apache-2.0
//
// Data files for tests, given to a module in every way that there is.
//
//   Given given(Way::Descriptor, altered("swap.ptd", {{"score.bias", 2.5f}}));
//   given.add_to(&options);                    // lives as long as what is loaded from it
#ifndef PETREL_EXTENSION_MODULE_GIVEN_DATA_H_
#define PETREL_EXTENSION_MODULE_GIVEN_DATA_H_

#include <map>
#include <memory>
#include <string>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/data_sources.h"
#include "gtest/gtest.h"

namespace petrel::extension {

std::string read_file(const std::string& path);

enum class Way { Mapped, File, Buffer, Descriptor, Map };
inline constexpr Way kWays[] = {Way::Mapped, Way::File, Way::Buffer, Way::Descriptor, Way::Map};
std::string name_of_way(const testing::TestParamInfo<Way>& info);

// The bytes of a data file, given in one way; they live as long as this.
class Given {
 public:
  Given(Way way, std::string bytes);
  void add_to(DataSources* sources);

 private:
  Way way_;
  std::string bytes_;
  std::string path_;
  std::unique_ptr<BufferDataLoader> loader_;
  std::unique_ptr<FlatDataMap> map_;
};

// The data file of a program, with one number for all elements, floats, of some keys.
std::string altered(const std::string& path, const std::map<std::string, float>& elements);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_GIVEN_DATA_H_
