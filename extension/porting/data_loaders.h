// SPDX-License-Identifier: Apache-2.0
//
// The data loaders of extension/data_loader with what ExecuTorch's apps say beside the path, and
// one over memory that is shared:
//
//   Result<MmapDataLoader> loader =
//       MmapDataLoader::from("model.pte", MmapDataLoader::MlockConfig::UseMlockIgnoreErrors);
//   Module module(std::make_unique<SharedPtrDataLoader>(std::move(bytes), size));
//
// Memory is aligned as programs need it, whatever alignment is asked for, and never locked.
#ifndef PETREL_EXTENSION_PORTING_DATA_LOADERS_H_
#define PETREL_EXTENSION_PORTING_DATA_LOADERS_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/data_loader/mmap_data_loader.h"
#include "runtime/core/data_loader.h"

namespace petrel::porting::extension {

// A loader that another one does the work of.
template <typename Loader>
class ForwardingLoader : public ::petrel::runtime::DataLoader {
 public:
  ::petrel::runtime::Result<::petrel::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const SegmentInfo& info) const override {
    return loader_.load(offset, size, info);
  }
  ::petrel::runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                                     void* buffer) const override {
    return loader_.load_into(offset, size, info, buffer);
  }
  ::petrel::runtime::Result<::petrel::runtime::BytePlace> find_place(size_t offset,
                                                                     size_t size) const override {
    return loader_.find_place(offset, size);
  }
  bool is_in_place(const SegmentInfo& info) const override { return loader_.is_in_place(info); }
  ::petrel::runtime::Result<size_t> size() const override { return loader_.size(); }

 protected:
  explicit ForwardingLoader(Loader&& loader) : loader_(std::move(loader)) {}

 private:
  Loader loader_;
};

class FileDataLoader final : public ForwardingLoader<::petrel::extension::FileDataLoader> {
 public:
  static ::petrel::runtime::Result<FileDataLoader> from(
      const char* path, size_t /*alignment*/ = alignof(std::max_align_t)) {
    auto loader = ::petrel::extension::FileDataLoader::from(path);
    if (!loader.ok()) return loader.error();
    return FileDataLoader(std::move(*loader));
  }

 private:
  using ForwardingLoader::ForwardingLoader;
};

class MmapDataLoader final : public ForwardingLoader<::petrel::extension::MmapDataLoader> {
 public:
  enum class MlockConfig { NoMlock, UseMlock, UseMlockIgnoreErrors, UseMadvise };

  static ::petrel::runtime::Result<MmapDataLoader> from(
      const char* path, MlockConfig /*unused*/ = MlockConfig::UseMlock) {
    auto loader = ::petrel::extension::MmapDataLoader::from(path);
    if (!loader.ok()) return loader.error();
    return MmapDataLoader(std::move(*loader));
  }

 private:
  using ForwardingLoader::ForwardingLoader;
};

// Keeps the bytes as long as it is there.
class SharedPtrDataLoader final : public ForwardingLoader<::petrel::extension::BufferDataLoader> {
 public:
  SharedPtrDataLoader(std::shared_ptr<void> data, size_t size)
      : ForwardingLoader(::petrel::extension::BufferDataLoader(data.get(), size)),
        data_(std::move(data)) {}

 private:
  std::shared_ptr<void> data_;
};

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_DATA_LOADERS_H_
