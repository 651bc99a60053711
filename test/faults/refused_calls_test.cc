// SPDX-License-Identifier: Apache-2.0
//
// Calls of Program, Method and their data that are refused, each with its words.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using runtime::BytePlace;

// The file of an app that knows where its bytes lie.
class PlacedLoader final : public DataLoader {
 public:
  explicit PlacedLoader(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)), loader_(bytes_) {}

  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    if (loads_++ > 0 || !changes_) return loader_.load(offset, size, info);
    // At the first look, which is at the header, its last byte was another one.
    first_.assign(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    first_.back() ^= 1;
    return FreeableBuffer(first_.data(), size, nullptr);
  }
  Result<size_t> size() const override { return bytes_.size(); }
  Result<BytePlace> find_place(size_t offset, size_t) const override {
    return BytePlace{1, offset};
  }
  void change_while_it_is_read() { changes_ = true; }

 private:
  const std::vector<uint8_t> bytes_;
  const AlignedLoader loader_;
  bool changes_ = false;
  mutable int loads_ = 0;
  mutable std::vector<uint8_t> first_;
};

ProgramOptions options() {
  ProgramOptions options;
  options.registry = &test_registry();
  return options;
}

TEST(RefusedCalls, OfLoad) {
  QuietLog quiet;
  EXPECT_EQ(Program::load(nullptr, options()).error(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "Program::load was given no data loader");
  PlacedLoader loader(build(Recipe()));
  EXPECT_EQ(Program::load(&loader, options()).error(), Error::Ok);
  PlacedLoader changing(build(Recipe()));
  changing.change_while_it_is_read();
  EXPECT_EQ(Program::load(&changing, options()).error(), Error::AccessFailed);
  EXPECT_EQ(QuietLog::last(), "the file changed while it was read");
}

TEST(RefusedCalls, OfLoadMethod) {
  QuietLog quiet;
  Loaded loaded{Recipe()};
  EXPECT_EQ(loaded.program().load_method("forward", nullptr).error(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "load_method was given no memory for the method");
  QuietLog::clear();
  HierarchicalAllocator planned{{}};
  MemoryManager nothing(nullptr, &planned, nullptr);
  EXPECT_EQ(loaded.program().load_method("forward", &nothing).error(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "load_method was given no memory for the method");
}

TEST(RefusedCalls, OfMethodMeta) {
  QuietLog quiet;
  Loaded loaded{Recipe()};
  const auto meta = loaded.program().method_meta("forward");
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->get_backend_name(0).error(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "backend 0 of method \"forward\" is asked for, but there are 0");
  EXPECT_EQ(meta->memory_planned_buffer_size(1).error(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "arena 1 of method \"forward\" is asked for, but there are 1");
  EXPECT_EQ(loaded.program().get_output_flattening_encoding("forward").error(), Error::NotFound);
}

TEST(RefusedCalls, OfSetInput) {
  QuietLog quiet;
  Loaded loaded{Recipe()};
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  int32_t sizes[] = {2, 3};
  TensorImpl nowhere(ScalarType::Float, 2, sizes);
  EXPECT_EQ(method->set_input(Tensor(&nowhere), 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 has no data");
}

// Bytes of the program itself, which a backend may know by their place.
TEST(RefusedCalls, OfFindPlace) {
  Recipe recipe;
  recipe.named_data = {{"a", 1}, {"petrel.progran", 1}};
  recipe.segments.push_back({1, 2, 3, 4});
  PlacedLoader loader(build(recipe));
  const Result<Program> program = Program::load(&loader, options());
  ASSERT_TRUE(program.ok());
  const NamedDataMap& map = **program->get_named_data_map();
  const Result<BytePlace> found = map.find_place("a", 4);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->offset % runtime::kDataAlignment, 0u);
  EXPECT_TRUE(map.find_place("petrel.progran", 4).ok());
  EXPECT_EQ(map.find_place("a", 3).error(), Error::NotSupported);
  EXPECT_EQ(map.find_place("a", 5).error(), Error::NotSupported);
  EXPECT_EQ(map.find_place("b", 4).error(), Error::NotFound);
  EXPECT_EQ(map.find_place("", 4).error(), Error::NotFound);
}

}  // namespace
}  // namespace petrel::faults
