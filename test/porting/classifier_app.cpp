// SPDX-License-Identifier: Apache-2.0
//
// An app that wraps ExecuTorch's Module in a class of its own, as apps for phones do: what
// the program says of its input decides on the tensor, and each error is handed on.
//
//   classifier_app PROGRAM.pte
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sdk.h"

using namespace ::executorch::extension;
using ::executorch::aten::ScalarType;
using ::executorch::aten::SizesType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::Error;
using ::executorch::runtime::EValue;
using ::executorch::runtime::MethodMeta;
using ::executorch::runtime::Result;
using ::executorch::runtime::Tag;
using ::executorch::runtime::TensorInfo;

namespace {

class Classifier {
 public:
  explicit Classifier(const std::string& path)
      : module_(std::make_unique<Module>(path, Module::LoadMode::MmapUseMlockIgnoreErrors)) {}

  Error init() {
    if (const auto error = module_->load(); error != Error::Ok) return error;
    const auto names = module_->method_names();
    if (!names.ok()) return names.error();
    if (names->count("forward") == 0) return Error::InvalidArgument;
    ET_CHECK_OK_OR_RETURN_ERROR(module_->load_forward());
    Result<MethodMeta> meta = module_->method_meta("forward");
    if (!meta.ok()) return meta.error();
    for (size_t i = 0; i < meta->num_inputs(); ++i) {
      Result<Tag> tag = meta->input_tag(i);
      if (!tag.ok() || tag.get() != Tag::Tensor) continue;
      Result<TensorInfo> info = meta->input_tensor_meta(i);
      if (info.error() != Error::Ok) return info.error();
      const auto sizes = info->sizes();
      shape_.assign(sizes.begin(), sizes.end());
      type_ = info->scalar_type();
    }
    for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
      Result<int64_t> size = meta->memory_planned_buffer_size(i);
      if (!size.ok()) return size.error();
      is_planned_ = size.get() > 0;
    }
    std::printf("xnnpack %d, backends %zu\n", meta->uses_backend("XnnpackBackend"),
                meta->num_backends());
    return Error::Ok;
  }

  Result<std::vector<float>> run(std::vector<float>& pixels) {
    auto image = from_blob(pixels.data(), shape_, type_);
    auto result = module_->forward(image);
    if (!result.ok()) return result.error();
    std::vector<EValue>& outputs = result.get();
    if (outputs.empty() || !outputs[0].isTensor()) return Error::InvalidState;
    Tensor& scores = outputs[0].toTensor();
    const auto* numbers = scores.const_data_ptr<float>();
    return std::vector<float>(numbers, numbers + scores.numel());
  }

  Module* module() { return module_.get(); }

 private:
  std::unique_ptr<Module> module_;
  std::vector<SizesType> shape_;
  ScalarType type_ = ScalarType::Undefined;
  bool is_planned_ = false;
};

std::string shape_of(const Tensor& tensor) {
  std::string text = "[";
  for (ssize_t d = 0; d < tensor.dim(); ++d) {
    text += (d > 0 ? ", " : "") + std::to_string(tensor.size(d));
  }
  return text + "]";
}

void print(const EValue& value) {
  switch (value.tag) {
    case Tag::Tensor: {
      const auto& tensor = value.toTensor();
      std::printf("%s of type %d, %d bytes\n", shape_of(tensor).c_str(),
                  static_cast<int>(tensor.dtype()), static_cast<int>(tensor.nbytes()));
      break;
    }
    case Tag::Int:
      std::printf("%d\n", static_cast<int>(value.toInt()));
      break;
    case Tag::Double:
      std::printf("%g\n", value.to<double>());
      break;
    default:
      std::printf("tag %d\n", static_cast<int>(value.tag));
  }
}

Error run_by_name(Module& module) {
  auto image = ones({1, 1, 8, 8});
  std::vector<EValue> inputs;
  inputs.emplace_back(image);
  auto values = ET_UNWRAP(module.execute("forward", inputs));
  print(values.at(0));
  print(EValue(static_cast<int64_t>(5)));
  print(EValue(0.5));
  ET_ASSIGN_OR_RETURN(first, module.get("forward", image), "no output of %s", "forward");
  print(first);

  ET_CHECK_OK_OR_RETURN_ERROR(module.set_inputs({image}));
  const auto again = module.forward();
  ET_CHECK_OK_OR_RETURN_ERROR(again.error());
  const auto scores = again->at(0).to<Tensor>();
  const float* numbers = scores.const_data_ptr<float>();
  std::printf("best %d\n",
              static_cast<int>(std::max_element(numbers, numbers + scores.numel()) - numbers));
  const auto refused = module.execute("forward", {EValue(zeros({2, 3}))});
  std::printf("other sizes: %d\n", refused.ok());
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Classifier missing(std::string(argv[1]) + ".none");
  std::printf("no file: %d\n", missing.init() == Error::Ok);
  Classifier classifier(argv[1]);
  if (const Error error = classifier.init(); error != Error::Ok) {
    std::fprintf(stderr, "init failed: 0x%" PRIx32 "\n", static_cast<uint32_t>(error));
    return 1;
  }
  std::vector<float> pixels(64, 0.5f);
  const auto scores = classifier.run(pixels);
  if (!scores.ok()) return 1;
  for (const float score : *scores) std::printf("%.3f\n", static_cast<double>(score));
  return run_by_name(*classifier.module()) == Error::Ok ? 0 : 1;
}
