// SPDX-License-Identifier: Apache-2.0
//
// One payload handed straight to the backend under test, with arguments as the
// test wants them. Payload, named data and tensors are blocks of exactly their
// sizes between guards.
//
//   PartitionRun run(compiled->partitions[0], compiled->store);
//   ASSERT_EQ(run.init(run.payload()), Error::Ok);
//   EXPECT_EQ(run.execute(), Error::Ok);
//   run.destroy();
//   EXPECT_TRUE(run.guards_are_whole());
#ifndef PETREL_TEST_CONFORMANCE_PART_RUN_H_
#define PETREL_TEST_CONFORMANCE_PART_RUN_H_

#include <functional>
#include <memory>
#include <vector>

#include "runtime/backend/interface.h"
#include "runtime/core/tensor.h"
#include "test/conformance/compiled.h"

namespace petrel::conformance {

// A tensor with data of its own; where sizes vary, of their bounds.
class GuardedTensor {
 public:
  // `resizes`: may get other sizes within its memory.
  GuardedTensor(const exir::TensorType& type, bool resizes);
  explicit GuardedTensor(const exir::TensorType& type) : GuardedTensor(type, type.is_dynamic()) {}
  ~GuardedTensor();
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;

  runtime::EValue value() { return runtime::EValue(runtime::Tensor(impl_.get())); }
  runtime::TensorImpl& impl() { return *impl_; }
  float* data() const { return data_; }
  size_t elements() const { return elements_; }
  bool guards_are_whole() const;

 private:
  size_t elements_;
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  uint8_t* block_;
  float* data_;
  std::unique_ptr<runtime::TensorImpl> impl_;
};

class PartitionRun {
 public:
  PartitionRun(const CompiledPartition& partition, const exir::NamedBlobStore& store);
  ~PartitionRun();

  const std::vector<uint8_t>& payload() const { return partition_.payload; }

  // A handle, after which destroy() must be called, or an error.
  runtime::Error init(const std::vector<uint8_t>& payload);
  void destroy();

  // With the tensors of the partition, filled from `seed`; `change` may replace
  // arguments before the call.
  using Arguments = std::vector<runtime::EValue>;
  runtime::Error execute(uint32_t seed = 0,
                         const std::function<void(Arguments&)>& change = nullptr);

  std::vector<Elements> outputs() const;
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  GuardedTensor& input(size_t i) { return *inputs_[i]; }
  GuardedTensor& output(size_t i) { return *outputs_[i]; }

  bool guards_are_whole() const;
  // Payloads freed more than once, and named data and payloads still out.
  int leaks() const;

 private:
  class Data;
  struct Processed;

  CompiledPartition partition_;
  runtime::BackendInterface* backend_;
  std::unique_ptr<Data> data_;
  std::unique_ptr<Processed> processed_;
  std::vector<std::unique_ptr<GuardedTensor>> inputs_;
  std::vector<std::unique_ptr<GuardedTensor>> outputs_;
  std::vector<void*> blocks_;
  std::unique_ptr<runtime::MemoryAllocator> memory_;
  runtime::DelegateHandle* handle_ = nullptr;
};

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_PART_RUN_H_
