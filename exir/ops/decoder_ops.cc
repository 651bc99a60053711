// SPDX-License-Identifier: Apache-2.0
//
// Operators that ExecuTorch's library for decoders adds to torch: attention over caches of
// keys and values, [batches, rows, heads, elements], and writes to these.
#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

absl::Status check_rank_4(const BoundArguments& in, const char* name) {
  const size_t rank = in.tensor(name).rank();
  if (rank == 4) return absl::OkStatus();
  return invalid("argument '", name, "' has rank ", rank, ", must have 4");
}

absl::Status do_not_fit(const BoundArguments& in, const char* a, const char* b) {
  return invalid("arguments '", a, "' and '", b, "' have sizes [",
                 absl::StrJoin(in.tensor(a).sizes, ","), "] and [",
                 absl::StrJoin(in.tensor(b).sizes, ","), "], which do not fit");
}

// Rows are dim 1 and heads dim 2, unless the call says otherwise.
absl::Status check_attention(const BoundArguments& in, const char* key, const char* value) {
  const TensorType& query = in.tensor("query");
  const TensorType& keys = in.tensor(key);
  for (const char* name : {"query", key, value}) {
    PETREL_RETURN_IF_ERROR(check_rank_4(in, name));
    if (in.tensor(name).dtype != query.dtype) {
      return invalid("arguments 'query' and '", name, "' have types ",
                     std::string(scalar_type_name(query.dtype)), " and ",
                     std::string(scalar_type_name(in.tensor(name).dtype)), ", must have one");
    }
  }
  const size_t heads = in.flag("is_seq_at_dim_2") ? 1 : 2;
  if (keys.sizes[0] != query.sizes[0] || keys.sizes[3] != query.sizes[3] || keys.sizes[heads] < 1 ||
      query.sizes[heads] % keys.sizes[heads] != 0) {
    return do_not_fit(in, "query", key);
  }
  if (keys.sizes != in.tensor(value).sizes) return do_not_fit(in, key, value);
  if (in.number("drpout_p") != 0.0) {
    return invalid("argument 'drpout_p' is ", in.number("drpout_p"), ", must be 0");
  }
  if (in.given("attn_mask") && in.flag("is_causal")) {
    return invalid("arguments 'attn_mask' and 'is_causal' cannot both be given");
  }
  return absl::OkStatus();
}

Inferred attention(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_attention(in, "key", "value"));
  return one(in.tensor("query"));
}

Inferred quantized_attention(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_attention(in, "key", "value"));
  const TensorType& query = in.tensor("query");
  if (query.dtype != ScalarType::kChar) {
    return invalid("argument 'query' has type ", std::string(scalar_type_name(query.dtype)),
                   ", must have i8");
  }
  for (const char* name :
       {"q_zero_points", "q_scales", "k_zero_points", "k_scales", "v_zero_points", "v_scales"}) {
    if (!in.given(name)) return invalid("argument '", name, "' is missing");
  }
  return one(ScalarType::kFloat, query.sizes);
}

// Batches, heads and elements of `rows` are those of `cache`.
absl::Status check_rows(const BoundArguments& in, const char* rows, const char* cache) {
  PETREL_RETURN_IF_ERROR(check_rank_4(in, rows));
  PETREL_RETURN_IF_ERROR(check_rank_4(in, cache));
  const TensorType& a = in.tensor(rows);
  const TensorType& b = in.tensor(cache);
  if (a.dtype != b.dtype || a.sizes[0] != b.sizes[0] || a.sizes[2] != b.sizes[2] ||
      a.sizes[3] != b.sizes[3]) {
    return do_not_fit(in, rows, cache);
  }
  return absl::OkStatus();
}

Inferred attention_with_cache(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rows(in, "key", "key_cache"));
  PETREL_RETURN_IF_ERROR(check_rows(in, "value", "value_cache"));
  PETREL_RETURN_IF_ERROR(check_attention(in, "key_cache", "value_cache"));
  return one(in.tensor("query"));
}

// What is returned says nothing: a tensor of one element.
Inferred update(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rows(in, "value", "cache"));
  const TensorType& value = in.tensor("value");
  if (in.has("indices")) {
    const TensorType& indices = in.tensor("indices");
    if (indices.rank() != 2 || indices.sizes[0] != value.sizes[0] ||
        indices.sizes[1] != value.sizes[1]) {
      return do_not_fit(in, "value", "indices");
    }
  }
  return one(value.dtype, {1});
}

Inferred transform(const BoundArguments& in) {
  const TensorType& mat = in.tensor("mat");
  if (mat.rank() == 0) return invalid("argument 'mat' has no dimension");
  return one(mat);
}

// start_pos and seq_len are ints, of which any will do when nothing is known of them: no type
// depends on their values.
constexpr OpRow kRows[] = {
    {"llama::custom_sdpa(Tensor query, Tensor key, Tensor value, Scalar start_pos, Tensor? "
     "attn_mask=None, float drpout_p=0., bool is_causal=False, float? scale=None) -> Tensor",
     "llama::custom_sdpa.out", kPure, infer<attention>},
    {"llama::custom_quantized_sdpa(Tensor query, Tensor key, Tensor value, Scalar start_pos, "
     "Tensor? attn_mask=None, float drpout_p=0., bool is_causal=False, float? scale=None, Tensor? "
     "q_zero_points=None, Tensor? q_scales=None, Tensor? k_zero_points=None, Tensor? "
     "k_scales=None, Tensor? v_zero_points=None, Tensor? v_scales=None, bool "
     "is_seq_at_dim_2=False) -> Tensor",
     "llama::custom_quantized_sdpa.out", kPure, infer<quantized_attention>},
    {"llama::sdpa_with_kv_cache(Tensor query, Tensor key, Tensor value, Tensor(a!) key_cache, "
     "Tensor(b!) value_cache, Scalar start_pos, Scalar seq_len, Tensor? attn_mask=None, float "
     "drpout_p=0., bool is_causal=False, float? scale=None) -> Tensor",
     "llama::sdpa_with_kv_cache.out", kInPlace, infer<attention_with_cache>},
    {"llama::update_cache(Tensor value, Tensor(a!) cache, Scalar start_pos) -> Tensor", "",
     kInPlace, infer<update>},
    {"llama::update_cache_with_indices(Tensor value, Tensor(a!) cache, Scalar start_pos, Tensor "
     "indices) -> Tensor",
     "", kInPlace, infer<update>},
    {"llama::fast_hadamard_transform(Tensor mat) -> Tensor", "llama::fast_hadamard_transform.out",
     kPure, infer<transform>},
};

}  // namespace

absl::Span<const OpRow> decoder_ops() { return kRows; }

}  // namespace petrel::exir::rules
