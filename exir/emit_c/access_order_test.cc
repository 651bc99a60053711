// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/access_order.h"

#include <gtest/gtest.h>

namespace petrel::exir::emit_c {
namespace {

// 3x3 over 5 rows of 4 places.
Int8Product window(int64_t channels, int64_t filters, int64_t groups) {
  Int8Product product;
  product.groups = groups;
  product.channels = channels;
  product.filters = filters;
  product.in_height = product.out_height = 5;
  product.in_width = product.out_width = 4;
  product.kernel_height = product.kernel_width = 3;
  product.padding_top = product.padding_left = 1;
  return product;
}

Accesses of(const Int8Product& product, AccessOrder order) {
  Accesses accesses;
  add_product({&product, order, 0, product.out_height}, &accesses);
  return accesses;
}

TEST(AccessOrder, ElementsMayLieWhereTheyWere) {
  Accesses accesses;
  add_elements(0, 8, &accesses);
  EXPECT_EQ(least_lead(accesses), 0);
  EXPECT_TRUE(check_lead(accesses, 0).ok());
  EXPECT_TRUE(check_lead(accesses, 3).ok());
  EXPECT_FALSE(check_lead(accesses, -1).ok());
}

TEST(AccessOrder, AWindowStaysARowAndAPlaceBehind) {
  const Int8Product product = window(2, 2, 1);
  const Accesses accesses = of(product, AccessOrder::kPlaces);
  // Place (r, q) is written when (r - 1, q) is the first that the next one reads.
  EXPECT_EQ(least_lead(accesses), (4 + 1) * 2);
  EXPECT_TRUE(check_lead(accesses, 10).ok());
  const absl::Status refused = check_lead(accesses, 9);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInternal);
  EXPECT_NE(refused.message().find("would be read after it was written over"),
            absl::string_view::npos);
}

TEST(AccessOrder, FiltersThatReadAPlaceAnewStayOneMoreBehind) {
  const Int8Product product = window(2, 8, 1);
  const int64_t places = least_lead(of(product, AccessOrder::kPlaces));
  EXPECT_GT(least_lead(of(product, AccessOrder::kFourFilters)), 0);
  EXPECT_TRUE(check_lead(of(product, AccessOrder::kPlaces), places).ok());
  EXPECT_FALSE(check_lead(of(product, AccessOrder::kFourFilters), places - 9).ok());
}

TEST(AccessOrder, ChannelsOneAfterAnotherShareOneAddressOnly) {
  const Int8Product product = window(1, 1, 8);
  const Accesses accesses = of(product, AccessOrder::kFourChannels);
  EXPECT_TRUE(check_lead(accesses, 0).ok());
  EXPECT_FALSE(check_lead(accesses, 4).ok());
  EXPECT_TRUE(check_lead(accesses, least_lead(accesses)).ok());
}

}  // namespace
}  // namespace petrel::exir::emit_c
