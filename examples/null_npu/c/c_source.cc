// SPDX-License-Identifier: Apache-2.0
#include "examples/null_npu/c/c_source.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "exir/ops/handles.h"

namespace petrel::backends::null_npu {
namespace {

namespace aten = exir::aten;
using exir::Value;

// The room of the delegate holds the pointers to its blobs.
constexpr char kFrame[] = R"(static int32_t @P@_init(const struct petrel_delegate *delegate,
    void *device, void *room, void **handle) {
@FIND@  (void)device;
  *handle = room;
  return PETREL_DELEGATE_OK;
}

static int32_t @P@_execute(void *handle, const void *const *inputs, void *const *outputs) {
@DECLARE@  for (size_t i = 0; i < @ELEMENTS@u; ++i) {
@COMPUTE@  }
  return PETREL_DELEGATE_OK;
}

static void @P@_destroy(void *handle) { (void)handle; }
)";

std::string expression(const exir::Node& node, const std::map<const Value*, std::string>& names) {
  const std::string a = names.at(node.operands().front()), b = names.at(node.operands().back());
  if (node.is(aten::relu)) return absl::StrCat(a, " <= 0.0f ? 0.0f : ", a);  // a NaN stays
  return absl::StrCat(a, node.is(aten::add_Tensor) ? " + " : " * ", b);
}

}  // namespace

exir::CDelegate c_source(const exir::Graph& partition, const std::string& prefix) {
  std::string find, declare, compute;
  std::map<const Value*, std::string> names;
  for (size_t i = 0; i < partition.inputs().size(); ++i) {
    const std::string array = absl::StrCat("in", i);
    absl::StrAppend(&declare, "  const float *const ", array, " = (const float *)inputs[", i,
                    "];\n");
    names[partition.inputs()[i]] = array + "[i]";
  }
  const size_t blobs = partition.constants().size();
  if (blobs > 0) {
    find =
        "  const float **const blobs = (const float **)room;\n  const struct petrel_blob *blob;\n";
    absl::StrAppend(&declare,
                    "  const float *const *const blobs = ", "(const float *const *)handle;\n");
  } else {
    find = "  (void)delegate;\n";
    absl::StrAppend(&declare, "  (void)handle;\n");
  }
  for (size_t i = 0; i < blobs; ++i) {
    const Value* constant = partition.constants()[i];
    absl::StrAppend(&find, "  blob = petrel_find_blob(delegate,\n      \"",
                    exir::to_hex(constant->constant()->data.sha256()),
                    "\");\n  if (blob == NULL) return PETREL_DELEGATE_E_DEVICE;\n  blobs[", i,
                    "] = (const float *)blob->data;\n");
    names[constant] = absl::StrCat("blobs[", i, "][i]");
  }
  for (const auto& node : partition.nodes()) {
    const std::string name = absl::StrCat("v", names.size());
    absl::StrAppend(&compute, "    const float ", name, " = ", expression(*node, names), ";\n");
    names[node->result()] = name;
  }
  for (size_t i = 0; i < partition.outputs().size(); ++i) {
    absl::StrAppend(&declare, "  float *const out", i, " = (float *)outputs[", i, "];\n");
    absl::StrAppend(&compute, "    out", i, "[i] = ", names.at(partition.outputs()[i]), ";\n");
  }
  exir::CDelegate delegate;
  delegate.source = absl::StrReplaceAll(
      kFrame, {{"@P@", prefix},
               {"@FIND@", find},
               {"@DECLARE@", declare},
               {"@COMPUTE@", compute},
               {"@ELEMENTS@", absl::StrCat(partition.outputs()[0]->tensor().numel())}});
  delegate.room_bytes = static_cast<int64_t>(blobs * sizeof(uint64_t));  // of any processor
  return delegate;
}

}  // namespace petrel::backends::null_npu
