// SPDX-License-Identifier: Apache-2.0
//
// Partitions whose sizes vary, run at every size that they may have: they give what
// the same partition gives that is lowered for just that size (which
// operators_test.cc compares with eager PyTorch). Those that would not are refused.
#include <limits>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"
#include "test/xnnpack/blob_map.h"
#include "test/xnnpack/delegate_run.h"

namespace petrel::test {
namespace {

using exir::SizeSymbol;
using runtime::Error;

float number_at(size_t i) { return static_cast<float>((i * 2654435761u) % 1000) / 500 - 1; }

exir::ConstantPtr constant_of(const std::string& fqn, const exir::TensorType& type) {
  std::vector<float> values(static_cast<size_t>(type.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = number_at(i + fqn.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  auto constant = std::make_shared<exir::Constant>();
  constant->fqn = fqn;
  constant->type = type;
  constant->data = exir::Blob::copy_of({bytes, values.size() * sizeof(float)});
  return constant;
}

// `graph` for one value of its symbols; null where its operators refuse that.
std::unique_ptr<exir::Graph> at(const exir::Graph& graph, int64_t n) {
  std::unique_ptr<exir::Graph> made = graph.clone();
  for (exir::Value* input : made->inputs()) {
    exir::TensorType type = input->tensor();
    for (size_t dim = 0; dim < type.expressions.size(); ++dim) {
      type.sizes[dim] =
          *type.expressions[dim].evaluate([n](const SizeSymbol&) { return std::optional(n); });
    }
    type.expressions.clear();
    input->set_type(type);
  }
  for (const auto& node : made->nodes()) {
    const auto types = node->op().infer(node->op(), node->arguments());
    if (!types.ok()) return nullptr;
    node->result()->set_type((*types)[0]);
  }
  return made;
}

CaseTensor tensor_of(const exir::Value& value) {
  CaseTensor tensor;
  const exir::Sizes& sizes = value.tensor().sizes;
  tensor.sizes.assign(sizes.begin(), sizes.end());
  for (int64_t i = 0; i < value.tensor().numel(); ++i) {
    tensor.values.push_back(number_at(static_cast<size_t>(i)));
  }
  return tensor;
}

std::vector<CaseTensor> tensors_of(const std::vector<exir::Value*>& values) {
  std::vector<CaseTensor> tensors;
  for (const exir::Value* value : values) tensors.push_back(tensor_of(*value));
  return tensors;
}

// The outputs of `handle`, which may be as large as those of `largest`.
std::vector<CaseTensor> run(Handle* handle, const exir::Graph& graph, const exir::Graph& largest) {
  std::vector<CaseTensor> outputs = tensors_of(largest.outputs());
  for (CaseTensor& output : outputs) {
    for (float& value : output.values) value = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_EQ(handle->execute(tensors_of(graph.inputs()), &outputs), Error::Ok);
  return outputs;
}

struct Case {
  const char* name;
  const char* inputs;  // of the method, with symbol n
  const char* body;    // makes %y
  // Why it is refused; "" for those that are taken.
  const char* refusal = "";
};

class VaryingSizes : public ::testing::TestWithParam<Case> {};

TEST_P(VaryingSizes, GiveWhatEachSizeGivesAlone) {
  const Case& c = GetParam();
  const std::string text = std::string("method @forward<n: 1..40>(") + c.inputs + R"text() {
  %w = constant @w : f32[4,3,3,3]
  %l = constant @l : f32[5,4]
  %c1 = constant @c1 : f32[4,3,3]
)text" + c.body + "\n  return %y\n}";
  auto parsed = exir::parse_graph(text, &exir::find_op, &constant_of);
  ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
  const exir::Graph& graph = **parsed;
  const exir::Partitioner& partitioner = backends::xnnpack::aot::xnnpack_backend()->partitioner();
  std::string refusal;
  for (const auto& node : graph.nodes()) {
    const exir::Support support = partitioner.supports(*node);
    if (!support.supported) refusal = support.reason;
  }
  EXPECT_EQ(refusal, c.refusal);
  if (!refusal.empty()) return;
  const absl::StatusOr<Lowered> lowered = lower(graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const BlobMap map(lowered->store.blobs());
  Handle varying(lowered->payload, &map);
  ASSERT_EQ(varying.error(), Error::Ok);
  const std::unique_ptr<exir::Graph> largest = at(graph, 40);
  for (int64_t n = 40; n >= 1; --n) {
    const std::unique_ptr<exir::Graph> fixed = at(graph, n);
    if (fixed == nullptr) continue;
    const absl::StatusOr<Lowered> alone = lower(*fixed);
    ASSERT_TRUE(alone.ok()) << alone.status();
    const BlobMap own(alone->store.blobs());
    Handle handle(alone->payload, &own);
    ASSERT_EQ(handle.error(), Error::Ok);
    const std::vector<CaseTensor> expected = run(&handle, *fixed, *fixed);
    const std::vector<CaseTensor> actual = run(&varying, *fixed, *largest);
    ASSERT_TRUE(is_near(actual[0], expected[0])) << "n is " << n;
  }
}

constexpr Case kCases[] = {
    {"Add", "%x: f32[n,4], %z: f32[1,4]", "%y = aten.add.Tensor(%x, %z)"},
    {"SoftmaxOfWhatVaries", "%x: f32[2,n]", "%y = aten._softmax.default(%x, 1, false)"},
    {"Linear", "%x: f32[n,4]", "%y = aten.linear.default(%x, %l)"},
    {"BatchProduct", "%x: f32[2,3,n], %z: f32[2,n,4]", "%y = aten.bmm.default(%x, %z)"},
    {"ConvolutionOfABatch", "%x: f32[n,3,5,5]",
     "%y = aten.convolution.default(%x, %w, none, [2,2], [1,1], [1,1], false, [0,0], 1)"},
    {"ConvolutionOfAnImage", "%x: f32[1,3,2*n,n]",
     "%y = aten.convolution.default(%x, %w, none, [2,1], [1,1], [1,1], false, [0,0], 1)"},
    {"ConvolutionOfARow", "%x: f32[1,3,n]",
     "%y = aten.convolution.default(%x, %c1, none, [1], [1], [1], false, [0], 1)"},
    {"TwoConvolutions", "%x: f32[1,3,n,8]", R"(
  %a = aten.convolution.default(%x, %w, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %b = aten.relu.default(%a)
  %s = aten.slice.Tensor(%b, 1, 1, 4)
  %d = aten.convolution.default(%s, %w, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %y = aten.add.Tensor(%d, %a))"},
    {"ConvolutionOfOneChannel", "%x: f32[n,1,8,n]", R"(
  %v = constant @v : f32[4,1,3,3]
  %y = aten.convolution.default(%x, %v, none, [1,1], [1,1], [1,1], false, [0,0], 1))"},
    {"VolumesOfABatch", "%x: f32[n,3,4,5,5]", R"(
  %v = constant @v : f32[4,3,3,3,3]
  %c = aten.convolution.default(%x, %v, none, [2,1,1], [1,1,1], [1,1,1], false, [0,0,0], 1)
  %r = aten.relu.default(%c)
  %u = constant @u : f32[1,4,2,2,2]
  %d = aten.convolution.default(%r, %u, none, [1,1,1], [1,0,0], [1,1,1], false, [0,0,0], 1)
  %t = constant @t : f32[1,2,3,2,2]
  %y = aten.convolution.default(%d, %t, none, [2,2,2], [1,0,0], [1,1,1], true, [1,0,0], 1))"},
    {"PlanesOfVolumes", "%x: f32[1,3,n,5,5]", R"(
  %v = constant @v : f32[4,3,1,3,3]
  %c = aten.convolution.default(%x, %v, none, [1,2,1], [0,1,1], [1,1,1], false, [0,0,0], 1)
  %r = aten.relu.default(%c)
  %u = constant @u : f32[4,4,3,1,1]
  %d = aten.convolution.default(%r, %u, none, [1,1,1], [1,0,0], [1,1,1], false, [0,0,0], 1)
  %y = aten.add.Tensor(%d, %c))"},
    {"VolumesOfADepth", "%x: f32[1,3,n,5,5]", R"(
  %v = constant @v : f32[4,3,3,3,3]
  %y = aten.convolution.default(%x, %v, none, [1,1,1], [1,1,1], [1,1,1], false, [0,0,0], 1))",
     "its depth varies"},
    {"VolumesOfAHeight", "%x: f32[1,3,4,n + 2,5]", R"(
  %v = constant @v : f32[4,3,3,3,3]
  %c = aten.convolution.default(%x, %v, none, [2,1,1], [1,1,1], [1,1,1], false, [0,0,0], 1)
  %m = aten.max_pool3d.default(%c, [2,2,2], [1,1,1])
  %y = aten.mean.dim(%m, [2,3,4], true))"},
    {"PooledVolumes", "%x: f32[1,3,n + 1,5,5]", R"(
  %m = aten.max_pool3d.default(%x, [2,2,2], [1,2,2])
  %y = aten.avg_pool3d.default(%m, [1,2,2], [1,1,1], [0,1,1]))"},
    {"MaxPool", "%x: f32[1,3,n + 1,8]", "%y = aten.max_pool2d.default(%x, [2,2], [2,2])"},
    {"AvgPool", "%x: f32[1,3,n + 1,8]",
     "%y = aten.avg_pool2d.default(%x, [2,2], [2,2], [1,1], false, true)"},
    {"CeiledPoolOfEvenSizes", "%x: f32[1,3,2*n,8]",
     "%y = aten.max_pool2d.default(%x, [2,2], [2,2], [0,0], [1,1], true)"},
    // A row is missing for the last window where n is 37 only.
    {"CeiledPoolThatLacksARowSeldom", "%x: f32[1,3,2*n + (n - 38*(n//38))//37,8]",
     "%y = aten.max_pool2d.default(%x, [2,2], [2,2], [0,0], [1,1], true)",
     "the rows that ceil_mode adds depend on sizes that vary"},
    {"CeiledMeanThatLacksARowSeldom", "%x: f32[1,3,2*n + (n - 38*(n//38))//37,8]",
     "%y = aten.avg_pool2d.default(%x, [2,2], [2,2], [0,0], true)",
     "ceil_mode makes windows that end outside the padded input"},
    {"GlobalMean", "%x: f32[n,3,n,4]", "%y = aten.mean.dim(%x, [2,3], true)"},
    {"ResizedBatch", "%x: f32[n,3,4,4]",
     "%y = aten.upsample_bilinear2d.vec(%x, [8,8], false, none)"},
    {"View", "%x: f32[n,4,2]", "%y = aten.view.default(%x, [-1])"},
    {"ViewOfImages", "%x: f32[n,1,4,4]", "%y = aten.view.default(%x, [-1,16])"},
    {"Permutation", "%x: f32[n,4,2]", "%y = aten.permute.default(%x, [1,0,2])"},
    {"Concatenation", "%x: f32[n,4], %z: f32[3,4]", "%y = aten.cat.default([%x, %z, %x], 0)"},
    {"SliceOfWhole", "%x: f32[n,4]", "%y = aten.slice.Tensor(%x, 1, 1, 3)"},
    {"Padding", "%x: f32[n,4]", "%y = aten.constant_pad_nd.default(%x, [1,2,3,0], 2.0)"},
    {"Shuffle", "%x: f32[n,4,3,3]", "%y = aten.pixel_shuffle.default(%x, 2)"},
    {"LayerNormOfABatch", "%x: f32[n,2*n,8]", "%y = aten.layer_norm.default(%x, [8])"},
    {"GroupNormOfABatch", "%x: f32[n,8,5,3]", "%y = aten.group_norm.default(%x, 2)"},
    {"GroupNormOfASignal", "%x: f32[2,8,n]", "%y = aten.group_norm.default(%x, 4)"},
    {"GroupNormOfAnImage", "%x: f32[n,8,n,2*n]", "%y = aten.group_norm.default(%x, 1)"},
    {"Attention", "%x: f32[1,2,n,4], %z: f32[1,2,2*n,4]",
     "%y = aten.scaled_dot_product_attention.default(%x, %z, %z)"},
    {"MaskedAttention", "%x: f32[1,2,n,4], %m: f32[n,n]",
     "%y = aten.scaled_dot_product_attention.default(%x, %x, %x, %m)"},
};

INSTANTIATE_TEST_SUITE_P(All, VaryingSizes, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::test
