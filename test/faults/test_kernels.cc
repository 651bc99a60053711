// SPDX-License-Identifier: Apache-2.0
#include "test/faults/test_kernels.h"

#include <cstring>

#include "runtime/kernel/kernel_args.h"

namespace petrel::faults {
namespace {

using runtime::Backend;
using runtime::BackendExecutionContext;
using runtime::BackendInitContext;
using runtime::BackendInterface;
using runtime::CompileSpec;
using runtime::DelegateHandle;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::Kernel;
using runtime::KernelArgs;
using runtime::KernelRuntimeContext;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;
using runtime::updates_in_place;
using runtime::writes;
using runtime::writes_in_place;

bool all_float(std::initializer_list<Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.scalar_type() != ScalarType::Float) return false;
  }
  return true;
}

// out[i] = op(a[i], b[i]); b has as many elements as a, one, or those of a's
// last dimension.
template <typename Op>
void binary(KernelRuntimeContext& context, Tensor a, Tensor b, Tensor out, Op op) {
  if (!all_float({a, b, out})) return context.fail(Error::NotSupported);
  const Error error = resize_tensor(out, a.sizes());
  if (error != Error::Ok) return context.fail(error);
  const size_t period = b.numel();
  if (a.numel() != 0 && (period == 0 || a.numel() % period != 0)) {
    return context.fail(Error::InvalidArgument);
  }
  const float* const x = a.const_data_ptr<float>();
  const float* const y = b.const_data_ptr<float>();
  float* const z = out.mutable_data_ptr<float>();
  for (size_t i = 0; i < out.numel(); ++i) z[i] = op(x[i], y[i % period]);
}

void add(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const auto alpha = static_cast<float>(args.scalar(2).to_double());
  const Tensor out = args.out(3);
  if (args.ok()) {
    binary(context, a, b, out, [alpha](float x, float y) { return x + alpha * y; });
  }
}

void mul(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const Tensor out = args.out(2);
  if (args.ok()) binary(context, a, b, out, [](float x, float y) { return x * y; });
}

void permute(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Span<const int64_t> dims = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (!all_float({a, out}) || a.dim() != 2 || dims.size() != 2 || dims[0] != 1 || dims[1] != 0) {
    return context.fail(Error::NotSupported);
  }
  const int32_t sizes[] = {a.sizes()[1], a.sizes()[0]};
  const Error error = resize_tensor(out, sizes);
  if (error != Error::Ok) return context.fail(error);
  const auto rows = static_cast<size_t>(sizes[0]);
  const auto columns = static_cast<size_t>(sizes[1]);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < columns; ++k) {
      out.mutable_data_ptr<float>()[i * columns + k] = a.const_data_ptr<float>()[k * rows + i];
    }
  }
}

void addmm(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor bias = args.tensor(0);
  const Tensor a = args.tensor(1);
  const Tensor b = args.tensor(2);
  const Tensor out = args.out(5);
  if (!args.ok()) return;
  if (!all_float({bias, a, b, out}) || a.dim() != 2 || b.dim() != 2 || a.size(1) != b.size(0) ||
      bias.dim() != 1 || bias.size(0) != b.size(1)) {
    return context.fail(Error::InvalidArgument);
  }
  const int32_t sizes[] = {a.sizes()[0], b.sizes()[1]};
  const Error error = resize_tensor(out, sizes);
  if (error != Error::Ok) return context.fail(error);
  const auto columns = static_cast<size_t>(sizes[1]);
  const auto depth = static_cast<size_t>(a.size(1));
  for (size_t i = 0; i < out.numel(); ++i) {
    float sum = bias.const_data_ptr<float>()[i % columns];
    for (size_t k = 0; k < depth; ++k) {
      sum += a.const_data_ptr<float>()[i / columns * depth + k] *
             b.const_data_ptr<float>()[k * columns + i % columns];
    }
    out.mutable_data_ptr<float>()[i] = sum;
  }
}

// The sum of all elements.
void sum(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor a = args.tensor(0);
  const Tensor out = args.out(4);
  if (!args.ok()) return;
  if (!all_float({a, out}) || out.numel() != 1) return context.fail(Error::NotSupported);
  float total = 0;
  for (size_t i = 0; i < a.numel(); ++i) total += a.const_data_ptr<float>()[i];
  *out.mutable_data_ptr<float>() = total;
}

void gt(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const double b = args.scalar(1).to_double();
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (!all_float({a}) || out.scalar_type() != ScalarType::Bool || out.numel() != a.numel()) {
    return context.fail(Error::NotSupported);
  }
  for (size_t i = 0; i < a.numel(); ++i) {
    out.mutable_data_ptr<uint8_t>()[i] = a.const_data_ptr<float>()[i] > b;
  }
}

// aten::copy_(self, src, non_blocking)
void copy(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor to = args.out(0);
  const Tensor from = args.tensor(1);
  if (!args.ok()) return;
  if (to.nbytes() != from.nbytes()) return context.fail(Error::InvalidArgument);
  if (to.nbytes() != 0) {
    std::memmove(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  }
}

void view(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor from = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (size.size() != 1 || size[0] != -1 || out.dim() != 1) {
    return context.fail(Error::NotSupported);
  }
  const int32_t sizes[] = {static_cast<int32_t>(from.numel())};
  const Error error = resize_tensor(out, sizes);
  if (error != Error::Ok) return context.fail(error);
  if (out.nbytes() != from.nbytes()) return context.fail(Error::InvalidArgument);
  if (out.nbytes() != 0) {
    std::memmove(out.mutable_data_ptr(), from.const_data_ptr(), out.nbytes());
  }
}

// Row `index` of dimension 0.
void select(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor from = args.tensor(0);
  const int64_t dim = args.integer(1);
  const int64_t index = args.integer(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  if (dim != 0 || from.dim() < 1 || index < 0 || index >= from.size(0)) {
    return context.fail(Error::InvalidArgument);
  }
  const size_t bytes = from.nbytes() / static_cast<size_t>(from.size(0));
  if (out.nbytes() != bytes) return context.fail(Error::InvalidArgument);
  if (bytes == 0) return;
  std::memmove(out.mutable_data_ptr(),
               from.const_data_ptr<uint8_t>() + static_cast<size_t>(index) * bytes, bytes);
}

// Along dimension 0.
void cat(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Span<const Tensor> list = args.tensor_list(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (dim != 0 || list.empty() || out.dim() != 2) return context.fail(Error::NotSupported);
  int32_t rows = 0;
  for (const Tensor& tensor : list) {
    if (tensor.dim() != 2 || tensor.size(1) != list[0].size(1) ||
        tensor.scalar_type() != out.scalar_type() ||
        __builtin_add_overflow(rows, tensor.sizes()[0], &rows)) {
      return context.fail(Error::InvalidArgument);
    }
  }
  const int32_t sizes[] = {rows, list[0].sizes()[1]};
  const Error error = resize_tensor(out, sizes);
  if (error != Error::Ok) return context.fail(error);
  size_t offset = 0;
  for (const Tensor& tensor : list) {
    if (tensor.nbytes() == 0) continue;
    // Resizing `out` may have resized an input: a program can name one tensor
    // for both.
    if (tensor.nbytes() > out.nbytes() - offset) return context.fail(Error::InvalidProgram);
    std::memmove(out.mutable_data_ptr<uint8_t>() + offset, tensor.const_data_ptr(),
                 tensor.nbytes());
    offset += tensor.nbytes();
  }
}

constexpr Kernel kKernels[] = {
    {"aten::add.out", &add, writes_in_place(3)},
    {"aten::addmm.out", &addmm, writes(5)},
    {"aten::cat.out", &cat, writes(2)},
    {"aten::copy_", &copy, updates_in_place(3)},
    {"aten::gt.Scalar_out", &gt, writes(2)},
    {"aten::mul.out", &mul, writes(2)},
    {"aten::permute_copy.out", &permute, writes(2)},
    {"aten::select_copy.int_out", &select, writes(3)},
    {"aten::sum.IntList_out", &sum, writes(4)},
    {"aten::view_copy.out", &view},
};
Span<const Kernel> kernels() { return kKernels; }

constexpr float kBackendOutput = 0.5f;
int num_live_handles = 0;

// The handle is the checksum of what init read.
class TestBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }

  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                               Span<const CompileSpec> specs) const override {
    Result<Span<unsigned>> sum = context.get_runtime_allocator()->allocate_list<unsigned>(1);
    if (!sum.ok()) return sum.error();
    unsigned& checksum = sum.get()[0];
    checksum = 0;
    add_bytes(processed->data(), processed->size(), &checksum);
    for (const CompileSpec& spec : specs) {
      add_bytes(spec.key, std::strlen(spec.key), &checksum);
      add_bytes(spec.value.buffer, spec.value.nbytes, &checksum);
    }
    const NamedDataMap* const map = context.get_named_data_map();
    if (map != nullptr) {
      const Result<uint32_t> count = map->get_num_keys();
      if (!count.ok()) return count.error();
      for (uint32_t i = 0; i < *count; ++i) {
        const Result<const char*> key = map->get_key(i);
        if (!key.ok()) return key.error();
        const Result<FreeableBuffer> data = map->get_data(*key);
        if (!data.ok()) return data.error();
        add_bytes(data->data(), data->size(), &checksum);
      }
    }
    processed->free();
    ++num_live_handles;
    return static_cast<DelegateHandle*>(&checksum);
  }

  Error execute(BackendExecutionContext& context, DelegateHandle*,
                Span<EValue*> args) const override {
    if (args.size() < 2) return Error::InvalidProgram;
    if (!context.allocate(16).ok()) return Error::MemoryAllocationFailed;
    const Result<Tensor> out = args.back()->tryToTensor();
    if (!out.ok() || out->scalar_type() != ScalarType::Float || out->is_constant() ||
        (out->const_data_ptr() == nullptr && out->nbytes() != 0)) {
      return Error::InvalidProgram;
    }
    for (size_t i = 0; i < out->numel(); ++i) out->mutable_data_ptr<float>()[i] = kBackendOutput;
    return Error::Ok;
  }

  void destroy(DelegateHandle*) const override { --num_live_handles; }

 private:
  static void add_bytes(const void* data, size_t size, unsigned* checksum) {
    for (size_t i = 0; i < size; ++i) *checksum += static_cast<const uint8_t*>(data)[i];
  }
};

Backend test_backend() {
  static TestBackend backend;
  return {"XnnpackBackend", &backend};
}

}  // namespace

const runtime::Registry& test_registry() {
  static constexpr runtime::KernelLibrary kLibraries[] = {&kernels};
  static constexpr runtime::BackendLibrary kBackends[] = {&test_backend};
  static constexpr runtime::Registry kRegistry(kLibraries, kBackends);
  return kRegistry;
}

std::optional<float> backend_output() { return kBackendOutput; }

int live_handles() { return num_live_handles; }

}  // namespace petrel::faults
