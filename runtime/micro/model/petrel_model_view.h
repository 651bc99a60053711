/* SPDX-License-Identifier: Apache-2.0 */
//
// The same for C++17: petrel_model.h with names as texts and lists that loops take.
//
//   const petrel_model::Model model(kws_get_model_metadata());
//   for (const petrel_model::Method method : model.methods()) method.name();
//   if (const auto forward = model.method("forward")) {
//     float *image = forward->input("image")->place<float>(context);
//   }
//
// Views point to the metadata, which is const and stays; they own nothing and allocate nothing.
#ifndef PETREL_MODEL_VIEW_H
#define PETREL_MODEL_VIEW_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "petrel_model.h"

namespace petrel_model {

// Views of the elements of an array.
template <typename View, typename Info>
class List {
 public:
  class Iterator {
   public:
    explicit constexpr Iterator(const Info *at) : at_(at) {}
    constexpr View operator*() const { return View(*at_); }
    constexpr Iterator &operator++() { return ++at_, *this; }
    constexpr bool operator!=(const Iterator &other) const { return at_ != other.at_; }

   private:
    const Info *at_;
  };

  constexpr List(const Info *first, size_t size) : first_(first), size_(size) {}
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  // Precondition: i < size().
  constexpr View operator[](size_t i) const { return View(first_[i]); }
  constexpr Iterator begin() const { return Iterator(first_); }
  constexpr Iterator end() const { return Iterator(size_ == 0 ? first_ : first_ + size_); }

 private:
  const Info *first_;
  size_t size_;
};

// The number of a type of elements; -1 for types that models do not have.
template <typename T>
constexpr int32_t dtype_of() {
  if (std::is_same_v<T, uint8_t>) return PETREL_DTYPE_UINT8;
  if (std::is_same_v<T, int8_t>) return PETREL_DTYPE_INT8;
  if (std::is_same_v<T, int16_t>) return PETREL_DTYPE_INT16;
  if (std::is_same_v<T, int32_t>) return PETREL_DTYPE_INT32;
  if (std::is_same_v<T, int64_t>) return PETREL_DTYPE_INT64;
  if (std::is_same_v<T, float>) return PETREL_DTYPE_FLOAT;
  if (std::is_same_v<T, double>) return PETREL_DTYPE_DOUBLE;
  return std::is_same_v<T, bool> ? static_cast<int32_t>(PETREL_DTYPE_BOOL) : -1;
}

class Tensor {
 public:
  explicit Tensor(const petrel_tensor_info &info) : info_(&info) {}
  std::string_view name() const { return info_->name; }
  std::string_view c_name() const { return info_->c_name; }
  int32_t dtype() const { return info_->dtype; }
  size_t bytes() const { return info_->bytes; }
  // 0 where elements are numbers themselves.
  double scale() const { return info_->scale; }
  int32_t zero_point() const { return info_->zero_point; }
  List<int32_t, int32_t> sizes() const { return {info_->sizes, info_->rank}; }
  List<uint8_t, uint8_t> dim_order() const { return {info_->dim_order, info_->rank}; }
  // Where it lies in the memory of a context; null when its elements are of another type.
  template <typename T>
  T *place(const void *context) const {
    return holds<T>() ? static_cast<T *>(info_->place(context)) : nullptr;
  }

 private:
  // Bits of two-byte floats are uint16_t.
  template <typename T>
  bool holds() const {
    const bool has_bits = dtype() == PETREL_DTYPE_HALF || dtype() == PETREL_DTYPE_BFLOAT16;
    return has_bits ? std::is_same_v<T, uint16_t> : dtype_of<T>() == dtype();
  }

  const petrel_tensor_info *info_;
};

class Method {
 public:
  using Tensors = List<Tensor, petrel_tensor_info>;

  explicit Method(const petrel_method_info &info) : info_(&info) {}
  std::string_view name() const { return info_->name; }
  Tensors inputs() const { return {info_->inputs, info_->num_inputs}; }
  Tensors outputs() const { return {info_->outputs, info_->num_outputs}; }
  // By the name in the model or in C.
  std::optional<Tensor> input(std::string_view name) const { return find(inputs(), name); }
  std::optional<Tensor> output(std::string_view name) const { return find(outputs(), name); }
  int32_t run(void *context, const void *const *inputs, void *const *outputs) const {
    return info_->run(context, inputs, outputs);
  }

 private:
  static std::optional<Tensor> find(const Tensors &tensors, std::string_view name) {
    for (const Tensor tensor : tensors) {
      if (tensor.name() == name || tensor.c_name() == name) return tensor;
    }
    return std::nullopt;
  }

  const petrel_method_info *info_;
};

class Pool {
 public:
  explicit Pool(const petrel_pool_info &info) : info_(&info) {}
  std::string_view name() const { return info_->name; }
  size_t bytes() const { return info_->bytes; }
  size_t align() const { return info_->align; }
  bool is_kept() const { return info_->is_kept != 0; }

 private:
  const petrel_pool_info *info_;
};

class Parameter {
 public:
  explicit Parameter(const petrel_param_info &info) : info_(&info) {}
  std::string_view name() const { return info_->name; }
  uint32_t id() const { return info_->id; }
  int32_t kind() const { return info_->kind; }
  int32_t dtype() const { return info_->dtype; }
  const void *data() const { return info_->data; }
  size_t bytes() const { return info_->bytes; }
  List<int32_t, int32_t> sizes() const { return {info_->sizes, info_->rank}; }
  std::string_view sha256() const { return info_->sha256; }
  std::string_view pool() const { return info_->pool == nullptr ? "" : info_->pool; }
  std::string_view targets() const { return info_->targets; }

 private:
  const petrel_param_info *info_;
};

class Model {
 public:
  // Precondition: not null, and of this version of the header (abi_version).
  explicit Model(const petrel_model_metadata *info) : info_(info) {}
  std::string_view name() const { return info_->name; }
  std::string_view sha256() const { return info_->sha256; }
  size_t context_bytes() const { return info_->context_bytes; }
  List<Method, petrel_method_info> methods() const { return {info_->methods, info_->num_methods}; }
  List<Pool, petrel_pool_info> pools() const { return {info_->pools, info_->num_pools}; }
  List<Parameter, petrel_param_info> parameters() const {
    return {info_->params, info_->num_params};
  }
  std::optional<Method> method(std::string_view name) const {
    for (const Method method : methods()) {
      if (method.name() == name) return method;
    }
    return std::nullopt;
  }

 private:
  const petrel_model_metadata *info_;
};

}  // namespace petrel_model

#endif  // PETREL_MODEL_VIEW_H
