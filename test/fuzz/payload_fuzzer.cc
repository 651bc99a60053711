// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the payload of an XNNPACK delegate: verified, made ready and run
// twice, the second time with one row less where that works. The weights and scales that
// it names have as many bytes as it says, or one less for names that begin with '-'; those of
// names that begin with '/' are floats of one divided by how many there are. One
// payload in two lies in memory that tells where its bytes are from, and one of these has
// no map beside it.

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/xnnpack/format/payload_reader.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "runtime/backend/byte_source.h"
#include "runtime/core/budget.h"
#include "runtime/core/log.h"
#include "runtime/threads/thread_count.h"
#include "test/fuzz/exact_memory.h"
#include "test/fuzz/flatbuffer_mutator.h"
#include "test/fuzz/guarded_memory.h"
#include "test/fuzz/schemas.h"

namespace petrel::fuzz {
namespace {

using backends::xnnpack::Delegate;
using backends::xnnpack::Graph;
using backends::xnnpack::Value;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::ScalarType;

constexpr uint64_t kMaxBytes = 1 << 20;
constexpr uint64_t kMaxWork = 500'000;

// As many bytes as the values ask for that are made of them.
class WeightMap final : public runtime::NamedDataMap {
 public:
  explicit WeightMap(const Graph& graph) {
    for (const Value& value : graph.values) {
      add(graph, value.constant, element_bytes(value));
      const backends::xnnpack::Scales& scales = value.quant.scales;
      add(graph, scales.constant, uint64_t{scales.count} * backends::xnnpack::scale_bytes(value));
    }
  }

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = sizes_.find(std::string(key));
    if (found == sizes_.end()) return Error::NotFound;
    uint8_t* const block = allocate_exactly(found->second, 16);
    // About 0.5 as float and bfloat16, and small numbers as bytes.
    for (size_t i = 0; i < found->second; ++i) block[i] = i % 2 == 1 ? 0x3f : 0;
    const size_t floats = key[0] == '/' ? found->second / sizeof(float) : 0;
    for (size_t i = 0; i < floats; ++i) {
      const float part = 1.0f / static_cast<float>(floats);
      std::memcpy(block + i * sizeof(float), &part, sizeof(part));
    }
    return FreeableBuffer(
        block, found->second, [](void*, void* data, size_t size) { free_exactly(data, size); },
        nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(sizes_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= sizes_.size()) return Error::InvalidArgument;
    return std::next(sizes_.begin(), index)->first.c_str();
  }

 private:
  static uint64_t element_bytes(const Value& value) {
    using backends::xnnpack::Datatype;
    const uint64_t count = backends::xnnpack::count_elements(value.dims);
    if (count > kMaxBytes) return count;
    switch (value.datatype) {
      case Datatype::QINT8:
      case Datatype::QCINT8:
        return count;
      case Datatype::QCINT4:
      case Datatype::QBINT4: {
        const uint64_t row = value.dims.empty() ? 1 : value.dims.back();
        return row == 0 ? 0 : count / row * ((row + 1) / 2);
      }
      default:
        return count * sizeof(float);
    }
  }

  void add(const Graph& graph, uint32_t constant, uint64_t bytes) {
    if (constant >= graph.constants.size() || bytes > 4 * kMaxBytes) return;
    const std::string& key = graph.constants[constant].key;
    if (key.empty() || bytes == 0) return;
    const auto size = static_cast<size_t>(bytes) - (key[0] == '-' ? 1 : 0);
    if (sizes_[key] < size) sizes_[key] = size;
  }

  std::map<std::string, size_t> sizes_;
};

// The tensors of a call, each in a block of its own; most of them between pages that end the
// process, for microkernels are not watched.
class Arguments final {
 public:
  // Where blocks end or begin.
  explicit Arguments(bool at_end) : at_end_(at_end) {}

  // False when it is more than the fuzzer has memory for.
  bool add(const Value& value, bool with_fewer_rows) {
    using backends::xnnpack::Datatype;
    Argument& a = arguments_.emplace_back();
    for (const uint32_t size : value.dims) a.sizes.push_back(static_cast<int32_t>(size));
    if (with_fewer_rows && !a.sizes.empty() && a.sizes[0] > 1) --a.sizes[0];
    a.order.resize(a.sizes.size());
    a.strides.resize(a.sizes.size());
    for (size_t d = 0; d < a.order.size(); ++d) a.order[d] = static_cast<uint8_t>(d);
    runtime::compute_strides({a.sizes.data(), a.sizes.size()}, {}, a.strides.data());
    ScalarType type = ScalarType::Float;
    if (value.datatype == Datatype::FP16) type = ScalarType::Half;
    if (value.datatype == Datatype::QINT8) type = ScalarType::Char;
    if (value.datatype == Datatype::INT32) type = ScalarType::Int;
    a.impl = runtime::TensorImpl(type, static_cast<ssize_t>(a.sizes.size()), a.sizes.data(),
                                 nullptr, a.order.data(), a.strides.data(),
                                 runtime::TensorShapeDynamism::DYNAMIC_BOUND);
    if (!a.impl.is_consistent() || a.impl.nbytes() > kMaxBytes) return false;
    total_ += a.impl.nbytes();
    if (total_ > 4 * kMaxBytes) return false;
    uint8_t* data =
        GuardedMemory::instance().block(arguments_.size() - 1, a.impl.nbytes(), at_end_);
    if (data == nullptr) data = a.block.emplace(a.impl.nbytes()).data();
    return a.impl.set_data(data, a.impl.nbytes()) == Error::Ok;
  }

  Error run(Delegate& delegate) {
    std::vector<runtime::EValue> values;
    for (Argument& a : arguments_) values.emplace_back(runtime::Tensor(&a.impl));
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) pointers.push_back(&value);
    runtime::Budget work("max_element_operations", kMaxWork);
    ExactAllocator scratch;
    const runtime::BackendExecutionContext context(nullptr, &scratch, "forward", nullptr, &work);
    return delegate.execute(context, {pointers.data(), pointers.size()});
  }

 private:
  struct Argument {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    std::vector<int64_t> strides;
    runtime::TensorImpl impl;
    std::optional<Block> block;
  };
  const bool at_end_;
  std::deque<Argument> arguments_;
  uint64_t total_ = 0;
};

std::vector<const Value*> externals(const Graph& graph) {
  std::map<uint32_t, const Value*> inputs, outputs;
  for (const Value& value : graph.values) {
    if (value.is_input()) inputs[value.external_id] = &value;
    if (value.is_output()) outputs[value.external_id] = &value;
  }
  std::vector<const Value*> all;
  for (const auto& [id, value] : inputs) all.push_back(value);
  for (const auto& [id, value] : outputs) all.push_back(value);
  return all;
}

void run(const uint8_t* data, size_t size) {
  Graph graph;
  if (!backends::xnnpack::read_payload(data, size, &graph).ok()) return;
  const WeightMap map(graph);
  const bool is_announced = data[size / 2] % 2 == 1;
  const bool has_map = !is_announced || data[size / 2] % 4 == 3;
  std::shared_ptr<runtime::ByteSource> source;
  if (is_announced) source = runtime::ByteSource::of_memory(data, size);
  runtime::Budget memory("max_delegate_bytes", kMaxBytes);
  Delegate::Options options;
  options.memory = &memory;
  options.sizes_are_fixed = data[size / 2] % 8 >= 4;
  auto delegate = Delegate::create(data, size, has_map ? &map : nullptr, options);
  if (!delegate.ok()) return;
  ++whole_executions;
  for (const bool with_fewer_rows : {false, true, false}) {
    Arguments arguments(!with_fewer_rows);
    bool fits = true;
    for (const Value* value : externals(graph)) {
      fits = fits && arguments.add(*value, with_fewer_rows && value->is_input());
    }
    if (fits) (void)arguments.run(**delegate);
  }
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool started = [] {
    petrel::runtime::set_log_hook({[](void*, petrel::runtime::LogLevel, const char*) {}, nullptr});
    return petrel::runtime::set_thread_count(1) == petrel::runtime::Error::Ok;
  }();
  petrel::fuzz::require(started, "one thread");
  petrel::fuzz::Block aligned(size);
  if (size != 0) std::memcpy(aligned.data(), data, size);
  petrel::fuzz::run(aligned.data(), aligned.size());
  return 0;
}

petrel::fuzz::Layout petrel::fuzz::layout_of(const uint8_t* data, size_t size) {
  // Behind the header, if there is one.
  const size_t start = size > 8 && data[4] == 'X' && data[5] == 'H' ? 32 : 0;
  return {xnnpack_schema(), start};
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace petrel::fuzz;
  return mutate_flatbuffer(layout_of(data, size), data, size, max_size, seed);
}
