// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/data_program.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/backend/named_blob_store.h"
#include "exir/emit/additions.h"
#include "exir/emit/program_file.h"
#include "exir/emit/segments.h"
#include "exir/import/mapped_file.h"
#include "extension/relink/mapped_file_loader.h"
#include "runtime/executor/program.h"
// Last: the macros of the runtime have the same names.
#include "exir/status_macros.h"
#include "schema/formats.h"
#include "schema/shared_bytes.h"

namespace petrel::extension {
namespace {

namespace fb = schema::program_objects;

constexpr uint64_t kSegmentAlignment = 128;
constexpr uint64_t kConstantAlignment = 16;

// The largest power of two that a file offset is a multiple of: what the data
// there can have been aligned to.
uint64_t alignment_of(uint64_t offset) {
  uint64_t alignment = 1;
  while (alignment < schema::kMaxAlignment && offset % (2 * alignment) == 0) {
    alignment *= 2;
  }
  return alignment;
}

// The compiler knows fewer element types than the format.
bool is_known(exir::ScalarType dtype) {
  switch (dtype) {
    case exir::ScalarType::kByte:
    case exir::ScalarType::kChar:
    case exir::ScalarType::kShort:
    case exir::ScalarType::kInt:
    case exir::ScalarType::kLong:
    case exir::ScalarType::kHalf:
    case exir::ScalarType::kFloat:
    case exir::ScalarType::kDouble:
    case exir::ScalarType::kBool:
    case exir::ScalarType::kBFloat16:
    case exir::ScalarType::kUInt16:
    case exir::ScalarType::kUInt32:
    case exir::ScalarType::kUInt64:
      return true;
  }
  return false;
}

}  // namespace

std::string DataProgram::name_of(const Tensor& tensor) {
  return tensor.extra_tensor_info == nullptr ? "" : tensor.extra_tensor_info->fully_qualified_name;
}

bool DataProgram::is_external(const Tensor& tensor) {
  return tensor.extra_tensor_info != nullptr &&
         tensor.extra_tensor_info->location == fb::TensorDataLocation::EXTERNAL;
}

bool DataProgram::is_constant(const Tensor& tensor) {
  return !is_external(tensor) && tensor.allocation_info == nullptr && tensor.data_buffer_idx > 0;
}

exir::TensorType DataProgram::type_of(const Tensor& tensor) {
  exir::TensorType type;
  type.dtype = static_cast<exir::ScalarType>(tensor.scalar_type);
  type.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  type.dim_order = tensor.dim_order;
  return type;
}

void DataProgram::for_each_tensor(const std::function<void(Tensor&)>& visit) {
  for (const auto& plan : table_->execution_plan) {
    for (const auto& value : plan->values) {
      if (fb::TensorT* tensor = value->val.AsTensor()) visit(*tensor);
    }
  }
}

void DataProgram::for_each_tensor(
    const std::function<void(const std::string&, const Tensor&)>& visit) const {
  for (const auto& plan : table_->execution_plan) {
    for (const auto& value : plan->values) {
      if (const fb::TensorT* tensor = value->val.AsTensor()) visit(plan->name, *tensor);
    }
  }
}

void DataProgram::for_each_delegate(
    const std::function<void(const std::string&, const std::string&, absl::Span<const uint8_t>)>&
        visit) const {
  for (size_t i = 0; i < table_->execution_plan.size(); ++i) {
    const auto& plan = *table_->execution_plan[i];
    for (size_t j = 0; j < plan.delegates.size(); ++j) {
      const auto segment = payloads_.find({i, j});
      if (segment != payloads_.end()) {
        const exir::Blob::Bytes bytes = segment->second.bytes();
        visit(plan.name, plan.delegates[j]->id, bytes);
      } else {
        const uint32_t index = plan.delegates[j]->processed->index;
        visit(plan.name, plan.delegates[j]->id, table_->backend_delegate_data[index]->data);
      }
    }
  }
}

absl::StatusOr<DataProgram> DataProgram::read(const std::string& path,
                                              const runtime::Limits& limits) {
  PETREL_ASSIGN_OR_RETURN(std::shared_ptr<const exir::MappedFile> file,
                          exir::MappedFile::open_named(path));
  MappedFileLoader loader(file);
  runtime::ProgramOptions options;
  options.limits = limits;
  const runtime::Result<runtime::Program> loaded = runtime::Program::load(&loader, options);
  if (!loaded.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", runtime::to_string(loaded.error())));
  }
  const runtime::ProgramView& view = loaded->view();
  if (!view.constant_segment().has_value() && view.num_inline_constants() > 1) {
    return absl::UnimplementedError(absl::StrCat(
        path, ": has its constants inside the flatbuffer, as files from before 2024-09 do"));
  }
  DataProgram program;
  program.table_ = fb::UnPackProgram(loaded->structure().data());
  const uint64_t base = loaded->segment_base();
  const auto slice = [&](const runtime::SegmentView& segment) {
    return exir::Blob::view(file->bytes().subspan(static_cast<size_t>(base + segment.offset),
                                                  static_cast<size_t>(segment.size)),
                            file);
  };
  PETREL_RETURN_IF_ERROR(program.collect_tensors(*loaded, file));
  for (uint32_t i = 0; i < view.num_methods(); ++i) {
    for (uint32_t j = 0; j < view.method(i).num_delegates(); ++j) {
      const runtime::DelegateView delegate = view.method(i).delegate(j);
      if (!delegate.is_segment()) continue;
      program.payloads_[{i, j}] = slice(view.segment(delegate.payload()));
    }
  }
  for (uint32_t i = 0; i < view.num_named_data(); ++i) {
    const runtime::NamedDataView entry = view.named_data(i);
    const runtime::SegmentView segment = view.segment(entry.segment);
    const runtime::Span<const uint8_t> own = loaded->additions().bytes();
    program.named_.push_back({std::string(entry.key),
                              entry.key == schema::kAdditionsKey
                                  ? exir::Blob::copy_of({own.data(), own.size()})
                                  : slice(segment),
                              alignment_of(base + segment.offset)});
  }
  PETREL_RETURN_IF_ERROR(program.check_shared(path, file->bytes().size()));
  program.take_names();
  return program;
}

// All that is moved is hashed first, once for each tensor, delegate and key.
absl::Status DataProgram::check_shared(const std::string& path, uint64_t file_bytes) const {
  schema::SharedBytes shared(file_bytes);
  bool fits = true;
  for (const auto* blobs : {&constants_, &states_}) {
    for (const auto& [index, blob] : *blobs) fits = fits && shared.add(blob.size());
  }
  for (const auto& [place, blob] : payloads_) fits = fits && shared.add(blob.size());
  for (const Named& entry : named_) fits = fits && shared.add(entry.blob.size());
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": its constants, payloads and named data share bytes: they have more than ",
      shared.most(), " together, the most for a file of ", file_bytes));
}

// Lengths of constants are those of the longest tensor that reads them.
absl::Status DataProgram::collect_tensors(const runtime::Program& program,
                                          const std::shared_ptr<const exir::MappedFile>& file) {
  bool known_types = true;
  for_each_tensor(
      [&](Tensor& tensor) { known_types = known_types && is_known(type_of(tensor).dtype); });
  if (!known_types) {
    return absl::UnimplementedError("a tensor has an element type that only the runtime knows");
  }
  const runtime::ProgramView& view = program.view();
  for_each_tensor([&](Tensor& tensor) {
    const uint32_t index = tensor.data_buffer_idx;
    if (is_external(tensor) || index == 0) return;
    const bool constant = tensor.allocation_info == nullptr;
    const auto size = static_cast<size_t>(type_of(tensor).nbytes());
    exir::Blob& blob = (constant ? constants_ : states_)[index];
    if (blob.size() >= size) return;
    const std::optional<uint32_t> segment =
        constant ? view.constant_segment() : view.state_segment();
    const uint64_t at = program.segment_base() + view.segment(segment.value()).offset +
                        (constant ? view.constant_offset(index) : view.state_offset(index));
    blob = exir::Blob::view(file->bytes().subspan(static_cast<size_t>(at), size), file);
  });
  return absl::OkStatus();
}

uint32_t DataProgram::add_constant(const exir::Blob& blob) {
  const uint32_t next = constants_.empty() ? 1 : constants_.rbegin()->first + 1;
  constants_[next] = blob;
  return next;
}

uint32_t DataProgram::add_state(const exir::Blob& blob) {
  const uint32_t next = states_.empty() ? 1 : states_.rbegin()->first + 1;
  states_[next] = blob;
  return next;
}

// Names stand beside the tensors in the file, and in them meanwhile.
void DataProgram::take_names() {
  for (const Named& entry : named_) {
    if (entry.key != schema::kAdditionsKey) continue;
    const exir::Additions additions = exir::read_additions(entry.blob);
    for (size_t i = 0; i < additions.methods.size(); ++i) {
      for (const auto& [value, name] : additions.methods[i].names) {
        Tensor& tensor = *table_->execution_plan[i]->values[value]->val.AsTensor();
        tensor.extra_tensor_info = std::make_unique<fb::ExtraTensorInfoT>();
        tensor.extra_tensor_info->fully_qualified_name = name;
      }
    }
  }
}

void DataProgram::put_names() {
  exir::Additions additions;
  for (const Named& entry : named_) {
    if (entry.key == schema::kAdditionsKey) additions = exir::read_additions(entry.blob);
  }
  additions.methods.resize(table_->execution_plan.size());
  for (size_t i = 0; i < additions.methods.size(); ++i) {
    additions.methods[i].names.clear();
    const auto& values = table_->execution_plan[i]->values;
    for (uint32_t value = 0; value < values.size(); ++value) {
      Tensor* const tensor = values[value]->val.AsTensor();
      if (tensor == nullptr || !is_constant(*tensor)) continue;
      if (!name_of(*tensor).empty()) additions.methods[i].names[value] = name_of(*tensor);
      tensor->extra_tensor_info = nullptr;
    }
  }
  named_.erase(
      std::remove_if(named_.begin(), named_.end(),
                     [](const Named& entry) { return entry.key == schema::kAdditionsKey; }),
      named_.end());
  if (!additions.empty()) {
    named_.push_back({schema::kAdditionsKey, exir::additions_blob(additions), kConstantAlignment});
  }
}

absl::StatusOr<uint64_t> DataProgram::write(const exir::ByteSink& sink) {
  put_names();
  exir::ProgramSegments segments;
  for_each_tensor([&](Tensor& tensor) {
    if (is_external(tensor) || tensor.data_buffer_idx == 0) return;
    tensor.data_buffer_idx = tensor.allocation_info == nullptr
                                 ? segments.add_constant(constants_.at(tensor.data_buffer_idx))
                                 : segments.add_initial_state(states_.at(tensor.data_buffer_idx));
  });
  std::map<std::pair<size_t, size_t>, size_t> payloads;
  for (const auto& [place, blob] : payloads_) {
    if (blob.size() > 0) payloads[place] = segments.add_payload(blob);
  }
  exir::NamedBlobStore::Destination named;
  exir::BlobSet buffers;
  std::set<std::string> keys;
  for (const Named& entry : named_) {
    if (!keys.insert(entry.key).second) continue;  // the first counts
    const size_t buffer = buffers.add(entry.blob);
    if (buffer == named.buffers.size()) named.buffers.push_back({entry.blob, 1});
    uint64_t& alignment = named.buffers[buffer].alignment;
    alignment = std::lcm(alignment, entry.alignment);
    named.entries.push_back({entry.key, buffer, std::nullopt});
  }
  segments.layout(named, kSegmentAlignment, kConstantAlignment);

  table_->named_data.clear();
  for (const exir::NamedBlobStore::Entry* entry : named.sorted_entries()) {
    auto row = std::make_unique<fb::NamedDataT>();
    row->key = entry->key;
    row->segment_index = segments.named_segment(entry->buffer);
    table_->named_data.push_back(std::move(row));
  }
  for (const auto& [place, payload] : payloads) {
    table_->execution_plan[place.first]->delegates[place.second]->processed->index =
        segments.payload_segment(payload);
  }
  table_->segments.clear();
  for (const exir::Segment& segment : segments.segments()) {
    auto row = std::make_unique<fb::DataSegmentT>();
    row->offset = segment.offset;
    row->size = segment.size;
    table_->segments.push_back(std::move(row));
  }
  // An empty payload is a segment without bytes: any will do.
  for (const auto& [place, blob] : payloads_) {
    if (blob.size() > 0) continue;
    auto row = std::make_unique<fb::DataSegmentT>();
    table_->execution_plan[place.first]->delegates[place.second]->processed->index =
        static_cast<uint32_t>(table_->segments.size());
    table_->segments.push_back(std::move(row));
  }
  table_->constant_segment = std::make_unique<fb::SubsegmentOffsetsT>();
  table_->constant_segment->offsets = segments.constant_offsets();
  table_->mutable_data_segments.clear();
  if (segments.has_state()) {
    auto states = std::make_unique<fb::SubsegmentOffsetsT>();
    states->segment_index = exir::ProgramSegments::kStateSegment;
    states->offsets = segments.state_offsets();
    table_->mutable_data_segments.push_back(std::move(states));
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Program::Pack(builder, table_.get()), fb::ProgramIdentifier());
  return exir::write_program_file({builder.GetBufferPointer(), builder.GetSize()}, segments, sink);
}

}  // namespace petrel::extension
