// SPDX-License-Identifier: Apache-2.0
//
// Attention in tiles. A block of query rows meets the keys block by block; the
// scores of a tile stay in the cache between the two products, and the softmax
// goes along: what was summed before a larger score came is scaled down.
//
//               keys
//            | 0 | 1 | 2 |     for each block of columns:
//   queries  |---+---+---|       scores = scale q k^T + mask     tile
//     block  | >   >   > |       largest, sum: by row            online softmax
//            |---+---+---|       out = out * shrink + e^(scores - largest) v
//
// Few rows (a step with a KV cache has one) read keys and values as streams
// instead of packing them for the product of matrices. Blocks that a causal or
// other mask hides whole are not computed.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/gemm.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/lent_memory.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/portable/attention_call.h"
#include "runtime/kernels/scratch/attention_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/attention.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/levels-inl.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// scores[j] = the product of q with row j of `keys`, which are `stride` apart.
void ScoreRow(const float* HWY_RESTRICT q, const float* HWY_RESTRICT keys, size_t stride,
              size_t depth, size_t n, float* HWY_RESTRICT scores) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t j = 0; j < n; ++j) {
    const float* key = keys + j * stride;
    V sum0 = hn::Zero(d), sum1 = hn::Zero(d);
    size_t e = 0;
    for (; e + 2 * lanes <= depth; e += 2 * lanes) {
      sum0 = hn::MulAdd(hn::LoadU(d, q + e), hn::LoadU(d, key + e), sum0);
      sum1 = hn::MulAdd(hn::LoadU(d, q + e + lanes), hn::LoadU(d, key + e + lanes), sum1);
    }
    for (; e + lanes <= depth; e += lanes) {
      sum0 = hn::MulAdd(hn::LoadU(d, q + e), hn::LoadU(d, key + e), sum0);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
    for (; e < depth; ++e) sum += q[e] * key[e];
    scores[j] = sum;
  }
}

// out += the sum of weights[j] times row j of `values`, which are `stride` apart.
void AddWeighted(const float* HWY_RESTRICT weights, const float* HWY_RESTRICT values, size_t stride,
                 size_t width, size_t n, float* HWY_RESTRICT out) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) {
    V sum[4];
    for (size_t k = 0; k < 4; ++k) sum[k] = hn::LoadU(d, out + c + k * lanes);
    for (size_t j = 0; j < n; ++j) {
      const V w = hn::Set(d, weights[j]);
      const float* from = values + j * stride + c;
      for (size_t k = 0; k < 4; ++k) {
        sum[k] = hn::MulAdd(w, hn::LoadU(d, from + k * lanes), sum[k]);
      }
    }
    for (size_t k = 0; k < 4; ++k) hn::StoreU(sum[k], d, out + c + k * lanes);
  }
  for (; c + lanes <= width; c += lanes) {
    V sum = hn::LoadU(d, out + c);
    for (size_t j = 0; j < n; ++j) {
      sum = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, values + j * stride + c), sum);
    }
    hn::StoreU(sum, d, out + c);
  }
  for (; c < width; ++c) {
    float sum = out[c];
    for (size_t j = 0; j < n; ++j) sum += weights[j] * values[j * stride + c];
    out[c] = sum;
  }
}

void FloatsOfLevels(const int8_t* from, float* out, size_t n, float zero_point, float scale) {
  levels::FromLevels(from, out, n, zero_point, scale);
}

void ScaleRow(float* row, float factor, size_t n) {
  const D d;
  MapVectors(row, row, n, [=](V x) HWY_ATTR { return hn::Mul(x, hn::Set(d, factor)); });
}

// One row of a tile: scores become weights relative to the largest so far. Of
// `n` columns the first `visible` count; the row has room for whole vectors.
// `bias` (optional, same room) is added; -inf there means that the score itself does not
// matter. Returns what earlier sums are to be scaled by.
float SoftmaxTile(float* HWY_RESTRICT row, const float* HWY_RESTRICT bias, float scale,
                  size_t visible, size_t n, float* largest, float* total) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V low = hn::Set(d, -kInfinity);
  const size_t end = (visible + lanes - 1) / lanes * lanes;
  V most = low;
  for (size_t j = 0; j < end; j += lanes) {
    V x = hn::Mul(hn::LoadU(d, row + j), hn::Set(d, scale));
    if (bias != nullptr) {
      const V add = hn::LoadU(d, bias + j);
      x = hn::IfThenElse(hn::Eq(add, low), low, hn::Add(x, add));
    }
    if (j + lanes > visible) {
      x = hn::IfThenElse(hn::FirstN(d, visible - j), x, low);
    }
    hn::StoreU(x, d, row + j);
    most = hn::IfThenElse(hn::Gt(x, most), x, most);  // NaN is not larger
  }
  const float before = *largest;
  const float now = std::max(before, hn::GetLane(hn::MaxOfLanes(d, most)));
  // Where nothing is seen, e^(-inf - 0) is the 0 that is wanted.
  const V shift = hn::Set(d, now == -kInfinity ? 0.0f : now);
  V sum = hn::Zero(d);
  for (size_t j = 0; j < end; j += lanes) {
    const V e = ExpOfNegative(hn::Sub(hn::LoadU(d, row + j), shift));
    hn::StoreU(e, d, row + j);
    sum = hn::Add(sum, e);
  }
  for (size_t j = end; j < n; ++j) row[j] = 0.0f;
  const float shrink =
      before == now ? 1.0f : hn::GetLane(Exp(hn::Sub(hn::Set(d, before), hn::Set(d, now))));
  *largest = now;
  *total = *total * shrink + hn::GetLane(hn::SumOfLanes(d, sum));
  return shrink;
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

using portable::AttentionCall;
using portable::AttentionSide;

PETREL_EXPORT(ScoreRow);
PETREL_EXPORT(AddWeighted);
PETREL_EXPORT(FloatsOfLevels);
PETREL_EXPORT(ScaleRow);
PETREL_EXPORT(SoftmaxTile);

using scratch::AttentionTiles;

constexpr size_t kRows = AttentionTiles::kMostRows;
constexpr size_t kColumns = AttentionTiles::kColumns;
// Below this many rows packing keys costs more than the product gains.
constexpr size_t kFewRows = 8;
constexpr float kLow = -std::numeric_limits<float>::infinity();

// Of levels fewer columns at a time, whose floats are kept.
constexpr size_t kLevelColumns = 32;
constexpr size_t kMostDepth = 256;
struct LevelFloats {
  alignas(64) float query[kMostDepth];
  alignas(64) float columns[kLevelColumns * kMostDepth];
};

// A block of query rows of one head.
class Block {
 public:
  // `head` counts over batches; `scores` has room for a tile of `count` rows. `floats` is
  // for levels, else null.
  Block(const AttentionCall& call, size_t head, size_t first, size_t count, float* scores,
        LevelFloats* floats)
      : call_(call),
        head_(head),
        first_(first),
        count_(count),
        floats_(floats),
        query_(call.query.at(head / call.heads, head % call.heads) + first * call.query.row),
        key_(call.key.at(head / call.heads, call.group_of(head % call.heads))),
        value_(call.value.at(head / call.heads, call.group_of(head % call.heads))),
        out_(static_cast<float*>(call.out) + call.sums.at(head / call.heads, head % call.heads) +
             first * call.sums.row),
        scores_(scores) {}

  void run() {
    for (size_t i = 0; i < count_; ++i) std::fill_n(out_at(i), call_.width, 0.0f);
    std::fill(largest_, largest_ + count_, kLow);
    std::fill(total_, total_ + count_, 0.0f);
    // Read in whole vectors: what is behind the last column must be defined.
    std::fill(scores_, scores_ + count_ * kColumns, 0.0f);
    const size_t end = call_.visible(first_ + count_ - 1);
    const size_t step = floats_ == nullptr ? kColumns : kLevelColumns;
    for (size_t column = 0; column < end; column += step) {
      const size_t n = std::min(step, end - column);
      if (call_.mask == nullptr || !is_hidden(column, n)) run_columns(column, n);
    }
    for (size_t i = 0; i < count_; ++i) {
      // A row without a mask that sees nothing divides by 0, as softmax does.
      if (total_[i] == 0.0f && call_.mask != nullptr) {
        std::fill_n(out_at(i), call_.width, static_cast<float>(call_.hidden));
      } else {
        PETREL_DISPATCH(ScaleRow)(out_at(i), 1.0f / total_[i], call_.width);
      }
    }
  }

 private:
  int64_t mask_at(size_t row, size_t column) const {
    return call_.mask_at(head_ / call_.heads, head_ % call_.heads, first_ + row) +
           static_cast<int64_t>(column) * call_.mask_stride[3];
  }

  float* out_at(size_t i) const { return out_ + i * call_.sums.row; }

  // `n` vectors of `size` from element `first` on, in floats; the step between them.
  static std::pair<const float*, size_t> floats_of(const AttentionSide& side, size_t first,
                                                   size_t size, size_t n, float* room) {
    if (side.scales == nullptr) return {static_cast<const float*>(side.data) + first, side.row};
    for (size_t j = 0; j < n; ++j) {
      const size_t at = first + j * side.row;
      PETREL_DISPATCH(FloatsOfLevels)
      (static_cast<const int8_t*>(side.data) + at, room + j * size, size,
       static_cast<float>(side.zero_points[at / size]), side.scales[at / size]);
    }
    return {room, size};
  }

  // Whether the mask hides every score of the tile.
  bool is_hidden(size_t column, size_t n) const {
    const size_t rows = call_.mask_stride[2] == 0 ? 1 : count_;
    const int64_t step = call_.mask_stride[3];
    for (size_t i = 0; i < rows; ++i) {
      const int64_t at = mask_at(i, column);
      for (size_t j = 0; j < n; ++j) {
        const int64_t place = at + static_cast<int64_t>(j) * step;
        if (call_.mask_is_bool() ? static_cast<const uint8_t*>(call_.mask)[place] != 0
                                 : static_cast<const float*>(call_.mask)[place] != kLow) {
          return false;
        }
      }
    }
    return true;
  }

  // A row of the mask as numbers to add.
  void fill_bias(size_t row, size_t column, size_t n) {
    const int64_t at = mask_at(row, column);
    const int64_t step = call_.mask_stride[3];
    if (call_.mask_is_bool()) {
      const uint8_t* from = static_cast<const uint8_t*>(call_.mask) + at;
      for (size_t j = 0; j < n; ++j) {
        bias_[j] = from[static_cast<int64_t>(j) * step] != 0 ? 0.0f : kLow;
      }
      return;
    }
    const float* from = static_cast<const float*>(call_.mask) + at;
    if (step == 1) {
      std::memcpy(bias_, from, n * sizeof(float));
    } else {
      for (size_t j = 0; j < n; ++j) bias_[j] = from[static_cast<int64_t>(j) * step];
    }
  }

  // Scores of the tile before softmax.
  void score_columns(size_t column, size_t n, bool few) {
    const auto [keys, stride] = floats_of(call_.key, key_ + column * call_.key.row, call_.depth, n,
                                          floats_ == nullptr ? nullptr : floats_->columns);
    for (size_t i = 0; few && i < count_; ++i) {
      const float* query = floats_of(call_.query, query_ + i * call_.query.row, call_.depth, 1,
                                     floats_ == nullptr ? nullptr : floats_->query)
                               .first;
      PETREL_DISPATCH(ScoreRow)(query, keys, stride, call_.depth, n, scores_ + i * kColumns);
    }
    if (few) return;
    GemmJob job;
    job.rows = count_, job.columns = n, job.depth = call_.depth;
    job.a = static_cast<const float*>(call_.query.data) + query_, job.a_stride = call_.query.row;
    job.b = keys, job.b_stride = stride, job.pack = &pack_transposed;
    job.c = scores_, job.c_stride = kColumns;
    gemm_on_this_thread(job);
  }

  void run_columns(size_t column, size_t n) {
    const bool few = count_ < kFewRows || floats_ != nullptr;
    score_columns(column, n, few);
    const auto [values, stride] =
        floats_of(call_.value, value_ + column * call_.value.row, call_.width, n,
                  floats_ == nullptr ? nullptr : floats_->columns);
    for (size_t i = 0; i < count_; ++i) {
      if (call_.mask != nullptr && (i == 0 || call_.mask_stride[2] != 0)) {
        fill_bias(i, column, n);
      }
      const size_t seen = call_.visible(first_ + i);
      const size_t visible = seen <= column ? 0 : std::min(n, seen - column);
      const float shrink = PETREL_DISPATCH(SoftmaxTile)(
          scores_ + i * kColumns, call_.mask == nullptr ? nullptr : bias_,
          static_cast<float>(call_.scale), visible, n, &largest_[i], &total_[i]);
      float* out = out_at(i);
      if (shrink != 1.0f && column != 0) PETREL_DISPATCH(ScaleRow)(out, shrink, call_.width);
      if (few) {
        PETREL_DISPATCH(AddWeighted)
        (scores_ + i * kColumns, values, stride, call_.width, visible, out);
      }
    }
    if (few) return;
    GemmJob job;
    job.rows = count_, job.columns = call_.width, job.depth = n;
    job.a = scores_, job.a_stride = kColumns;
    job.b = values, job.b_stride = stride, job.pack = &pack_rows;
    job.c = out_, job.c_stride = call_.sums.row;
    job.accumulate = true;
    gemm_on_this_thread(job);
  }

  const AttentionCall& call_;
  size_t head_, first_, count_;
  LevelFloats* floats_;
  size_t query_, key_, value_;  // places of the first elements
  float* out_;
  float largest_[kRows];
  float total_[kRows];
  alignas(32) float bias_[kColumns] = {};  // as the scores
  float* const scores_;
};

bool is_fast(const AttentionCall& call) {
  const bool has_mask = call.mask != nullptr;
  if (has_mask && !call.mask_is_bool() && call.mask_type != ScalarType::Float) return false;
  if (call.type == ScalarType::Float) return true;
  return call.query.scales != nullptr && call.depth <= kMostDepth && call.width <= kMostDepth;
}

// A block of levels, whose floats are on the stack.
__attribute__((noinline)) void run_levels(const AttentionCall& call, size_t head, size_t first,
                                          size_t count, float* scores) {
  LevelFloats floats;
  Block(call, head, first, count, scores, &floats).run();
}

void attend(KernelRuntimeContext& context, const AttentionCall& call) {
  if (!is_fast(call)) return portable::attend(call);
  const size_t heads = call.batches * call.heads;
  if (call.rows == 0 || call.width == 0 || heads == 0) return;
  const AttentionTiles tiles(heads, call.rows);
  const size_t rows = tiles.rows(), blocks = tiles.blocks();
  const double scores = static_cast<double>(std::min(call.rows, rows) * call.columns);
  const double sums = static_cast<double>(call.depth + call.width);
  const bool has_levels = call.query.scales != nullptr;
  const double nanoseconds =
      scores * (0.4 + sums / (call.rows < kFewRows || has_levels ? 5.0 : 40.0));
  LentMemory<AttentionTiles::kMostFloats> memory(context, tiles.bytes());
  parallel_for(heads * blocks, nanoseconds, [&](size_t begin, size_t end) {
    memory.lend([&](float* scratch) {
      for (size_t u = begin; u < end; ++u) {
        const size_t first = u % blocks * rows;
        const size_t count = std::min(rows, call.rows - first);
        if (has_levels) {
          run_levels(call, u / blocks, first, count, scratch);
        } else {
          Block(call, u / blocks, first, count, scratch, nullptr).run();
        }
      }
    });
  });
}

}  // namespace

void attention_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (portable::read_attention(context, raw, &call)) attend(context, call);
}

void custom_sdpa_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (portable::read_cache_attention(context, raw, &call)) attend(context, call);
}

void sdpa_with_kv_cache_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (portable::read_attention_with_cache(context, raw, &call)) attend(context, call);
}

void custom_quantized_sdpa_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (portable::read_quantized_attention(context, raw, &call)) attend(context, call);
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
