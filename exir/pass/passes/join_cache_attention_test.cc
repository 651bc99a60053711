// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/join_cache_attention.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

TEST(JoinCacheAttention, BecomesOneOperatorThatWritesBothCaches) {
  EXPECT_EQ(after_pass(join_cache_attention, R"(method @m<n: 1..9>(
    %q: f32[1,n,4,4], %k: f32[1,n,2,4], %at: i64[]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %first = aten._local_scalar_dense.default(%at)
    %c = aten.sym_size.int(%k, 1)
    %n = aten.arange.start_step(0, %c, 1, i64)
    %p = aten.add.Scalar(%n, %first)
    %u = aten.index_put.default(%s, [none, %p], %k)
    %v = aten.index_put.default(%t, [none, %p], %k)
    %y = llama.custom_sdpa.default(%q, %u, %v, %first, none, 0.0, true)
    write %u to %s
    write %v to %t
    return %y })"),
            expected(R"(method @m<n: 1..9>(
    %q: f32[1,n,4,4], %k: f32[1,n,2,4], %at: i64[]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %first = aten._local_scalar_dense.default(%at)
    %c = aten.sym_size.int(%k, 1)
    %n = aten.arange.start_step(0, %c, 1, i64)
    %p = aten.add.Scalar(%n, %first)
    %y = llama.sdpa_with_kv_cache.default(%q, %k, %k, %s, %t, %first, %c, none, 0.0, true)
    return %y })"));
}

TEST(JoinCacheAttention, KnowsANumberOfRowsThatIsFixed) {
  EXPECT_EQ(after_pass(join_cache_attention, R"(method @m(%q: f32[1,1,4,4], %k: f32[1,1,2,4]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %n = aten.arange.start_step(0, 1, 1, i64)
    %p = aten.add.Scalar(%n, 3)
    %u = aten.index_put.default(%s, [none, %p], %k)
    %v = aten.index_put.default(%t, [none, %p], %k)
    %y = llama.custom_sdpa.default(%q, %u, %v, 3)
    write %u to %s
    write %v to %t
    return %y })"),
            expected(R"(method @m(%q: f32[1,1,4,4], %k: f32[1,1,2,4]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %n = aten.arange.start_step(0, 1, 1, i64)
    %p = aten.add.Scalar(%n, 3)
    %y = llama.sdpa_with_kv_cache.default(%q, %k, %k, %s, %t, 3, 1)
    return %y })"));
}

// What stands for places and for the attention, of a method that would become one operator.
struct Kept {
  const char* name;
  const char* places;
  const char* attention;
};

class KeptApart : public ::testing::TestWithParam<Kept> {};

TEST_P(KeptApart, WhereTheOperatorWouldDoSomethingElse) {
  const std::string text = std::string(R"(method @m(%q: f32[1,2,4,4], %k: f32[1,2,2,4],
                                                    %one: f32[1,1,4,4]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %n = aten.arange.start_step(0, 2, 1, i64)
    )") + GetParam().places +
                           R"(
    %u = aten.index_put.default(%s, [none, %p], %k)
    %v = aten.index_put.default(%t, [none, %p], %k)
    )" + GetParam().attention +
                           R"(
    write %u to %s
    write %v to %t
    return %y })";
  EXPECT_EQ(after_pass(join_cache_attention, text), expected(text));
}

constexpr char kPlaces[] = "%p = aten.add.Scalar(%n, 3)";
constexpr char kAttention[] = "%y = llama.custom_sdpa.default(%q, %u, %v, 3)";

INSTANTIATE_TEST_SUITE_P(
    All, KeptApart,
    ::testing::Values(
        Kept{"FewerQueries", kPlaces, "%y = llama.custom_sdpa.default(%one, %u, %v, 3)"},
        Kept{"AnotherStart", "%p = aten.add.Scalar(%n, 2)", kAttention},
        Kept{"OtherPlaces", "%p = aten.mul.Scalar(%n, 3)", kAttention},
        Kept{"ACacheIsReadBefore", "%p = aten.add.Scalar(%n, 3) %z = aten.neg.default(%s)",
             kAttention},
        Kept{"ACacheIsReadBehind", kPlaces,
             "%y = llama.custom_sdpa.default(%q, %u, %v, 3) %z = aten.neg.default(%u)"},
        Kept{"OneCacheForBoth", kPlaces, "%y = llama.custom_sdpa.default(%q, %u, %u, 3)"}),
    name_of_case<Kept>);

}  // namespace
}  // namespace petrel::exir
