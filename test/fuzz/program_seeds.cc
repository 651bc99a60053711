// SPDX-License-Identifier: Apache-2.0
//
// Seeds of the fuzz target program: program_seeds FOLDER. Most are one of the kinds of
// errors that others have published of their loaders (docs/fuzzing.md), as a program
// that is right but for that; the others are right.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "schema/additions_generated.h"
#include "test/faults/attack.h"
#include "test/faults/recipe.h"

namespace petrel::faults {
namespace {

namespace add = schema::additions;

struct Seed {
  const char* name;
  void (*change)(Recipe&);
};

void add_number(Recipe& r, double value) { add_value(r, number_value(Types::Int, value)); }

// All that petrel.program may hold, for the recipe as it is but for a larger arena.
void add_additions(Recipe& r) {
  plan(r).arenas[1] = 128;
  flatbuffers::FlatBufferBuilder b;
  const auto scratch = b.CreateVectorOfStructs(std::vector<add::ScratchPlace>{{64, 64, 0, 0, 1}});
  const auto least = b.CreateVectorOfStructs(std::vector<add::LeastSize>{{0, 0, 1}});
  const auto values = b.CreateVector(std::vector<uint32_t>{1});
  const auto names = b.CreateVectorOfStrings(std::vector<std::string>{"weight"});
  const auto method = add::CreateMethodAdditions(b, scratch, least, values, names);
  const auto methods =
      b.CreateVector(std::vector<flatbuffers::Offset<add::MethodAdditions>>{method});
  std::vector<flatbuffers::Offset<add::Weight>> all;
  for (const char* key : {"v", "w"}) {
    const auto text = b.CreateString(key);
    const auto sizes = b.CreateVector(std::vector<int32_t>{2, 3});
    const auto order = b.CreateVector(std::vector<uint8_t>{0, 1});
    const auto digest = b.CreateVector(std::vector<uint8_t>(32));
    const auto made_of = b.CreateVectorOfStrings(std::vector<std::string>{"a", "b"});
    all.push_back(add::CreateWeight(b, text, static_cast<int8_t>(fb::ScalarType::FLOAT), sizes,
                                    order, 24, digest, made_of));
  }
  const auto weights = b.CreateVector(all);
  const auto structure = b.CreateVector(std::vector<uint8_t>(32));
  const auto recipe = b.CreateVectorOfStrings(std::vector<std::string>{"--backend none"});
  add::FinishAdditionsBuffer(b, add::CreateAdditions(b, 0, methods, weights, structure, recipe));
  r.named_data.emplace_back("petrel.program", static_cast<uint32_t>(r.segments.size()));
  r.segments.emplace_back(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
}

const Seed kSeeds[] = {
    {"petrel_program", &add_additions},
    {"lists_of_every_kind",
     [](Recipe& r) {
       add_value(r, list_value(Types::IntList, {2, 2}));
       add_value(r, list_value(Types::BoolList, {1, 0}));
       add_value(r, list_value(Types::DoubleList, {1, 2}));
       add_value(r, list_value(Types::TensorList, {0, 3}));
       add_value(r, list_value(Types::OptionalTensorList, {0, -1}));
       ValueRecipe text = number_value(Types::String, 0);
       text.text = "floor";
       add_value(r, text);
     }},
    {"two_methods_with_moves_and_jumps",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 32));
       add_value(r, number_value(Types::Bool, 0));
       add_instruction(r, Arguments::MoveCall, 3, 4);
       add_instruction(r, Arguments::JumpFalseCall, 5, 1);
       plan(r).outputs = {4};
       r.plans.push_back(plan(r));
       r.plans.back().name = "other";
     }},
    {"state_with_an_initial_value",
     [](Recipe& r) {
       r.mutable_data = {{0, {0, 0}}};
       output(r).constant = 1;
     }},
    {"constants_in_the_flatbuffer",
     [](Recipe& r) {
       r.constants.reset();
       r.constant_buffers = {{}, std::vector<uint8_t>(24, 1)};
     }},

    {"executorch_cve_2025_30402_bytes_of_a_tensor_overflow",
     [](Recipe& r) {
       input(r).sizes = {1 << 30, 1 << 30, 1 << 30};
       input(r).dim_order = {0, 1, 2};
     }},
    {"executorch_cve_2025_30404_allocations_overlap",
     [](Recipe& r) { input(r).place->offset = UINT64_MAX - 15; }},
    {"executorch_cve_2025_30405_object_outside_its_memory",
     [](Recipe& r) { input(r).place->memory_id = 3; }},
    {"executorch_cve_2025_54949_copy_index_beyond_the_end",
     [](Recipe& r) {
       add_number(r, 1000);
       add_kernel_call(r, "executorch_prim::et_copy_index", "tensor", {3, 0, 4});
     }},
    {"executorch_cve_2025_54950_too_few_arguments",
     [](Recipe& r) { add_kernel_call(r, "executorch_prim::add", "Scalar", {2}); }},
    {"executorch_cve_2025_54951_rank_beyond_arrays",
     [](Recipe& r) { input(r) = planned_tensor(std::vector<int32_t>(17, 1), 0); }},
    {"executorch_cve_2025_54952_allocation_too_small",
     [](Recipe& r) {
       plan(r).arenas = {0, INT64_MAX};
     }},
    {"executorch_free_of_a_number",
     [](Recipe& r) { add_instruction(r, Arguments::FreeCall, 2, 0); }},
    {"executorch_segment_offset_overflows",
     [](Recipe& r) {
       r.change_segment = [](size_t, uint64_t* offset, uint64_t*) { *offset = UINT64_MAX - 3; };
     }},
    {"executorch_segment_size_overflows",
     [](Recipe& r) {
       r.change_segment = [](size_t, uint64_t*, uint64_t* size) { *size = UINT64_MAX; };
     }},
    {"executorch_pad_with_negative_sizes",
     [](Recipe& r) {
       add_number(r, -3);
       add_value(r, list_value(Types::IntList, {4, 4}));
       add_kernel_call(r, "aten::constant_pad_nd", "out", {0, 5, 2, 3, 3});
     }},
    {"executorch_number_used_as_tensor",
     [](Recipe& r) {
       call(r).args = {2, 2, 2, 2, 2};
     }},
    {"executorch_dim_order_no_permutation",
     [](Recipe& r) {
       input(r).dim_order = {1, 1};
     }},
    {"executorch_endless_jump",
     [](Recipe& r) {
       add_value(r, number_value(Types::Bool, 0));
       add_instruction(r, Arguments::JumpFalseCall, 4, 0);
     }},
    {"executorch_list_of_values_that_are_not_there",
     [](Recipe& r) {
       add_value(r, list_value(Types::TensorList, {0, 4000}));
     }},
    {"executorch_delegate_that_is_not_there",
     [](Recipe& r) { add_instruction(r, Arguments::DelegateCall, 7, 0); }},
    {"executorch_resize_without_memory",
     [](Recipe& r) {
       const EmptyView view = add_empty_view(r);
       add_kernel_call(r, "executorch_prim::et_copy_index", "tensor", {view.view, 0, view.index});
     }},
    {"executorch_constant_beyond_its_segment",
     [](Recipe& r) {
       r.constants = EntriesRecipe{0, {0, uint64_t{1} << 62}};
     }},
    {"executorch_index_from_the_file_in_scatter",
     [](Recipe& r) {
       ValueRecipe index = planned_tensor({2, 3}, 32);
       index.scalar_type = static_cast<int8_t>(fb::ScalarType::LONG);
       plan(r).arenas = {0, 128};
       add_value(r, index);
       add_kernel_call(r, "aten::scatter", "src_out", {0, 2, 4, 0, 3});
     }},
    {"flatbuffers_8950_union_without_a_table", [](Recipe& r) { input(r).without_body = true; }},
    {"flatbuffers_lists_that_are_absent",
     [](Recipe& r) {
       r.without_empty_lists = true;
       plan(r).chains[0][0].args.clear();
       plan(r).inputs.clear();
     }},
    {"onnxruntime_path_as_a_key",
     [](Recipe& r) {
       constant(r).constant = 0;
       constant(r).extra = ExtraRecipe{"../../../../etc/passwd", fb::TensorDataLocation::EXTERNAL};
     }},
    {"onnxruntime_shape_without_elements",
     [](Recipe& r) {
       for (ValueRecipe* value : {&input(r), &output(r)}) {
         *value = planned_tensor({INT32_MAX, INT32_MAX, 0}, 0);
       }
     }},
};

void write_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Seed& seed : kSeeds) {
    Recipe recipe;
    seed.change(recipe);
    const std::vector<uint8_t> bytes = build(recipe);
    std::ofstream(folder / seed.name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace
}  // namespace petrel::faults

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  petrel::faults::write_all(argv[1]);
  return 0;
}
