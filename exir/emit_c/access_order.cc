// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/access_order.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace petrel::exir::emit_c {
namespace {

class ProductAccesses {
 public:
  ProductAccesses(const ProductUse& use, Accesses* accesses)
      : use_(use), product_(*use.product), accesses_(*accesses) {}

  void add() {
    if (use_.order == AccessOrder::kFourChannels) return add_channels();
    for (int64_t row = use_.first_row; row < use_.end_row; ++row) {
      for (int64_t column = 0; column < product_.out_width; ++column) add_place(row, column);
    }
  }

 private:
  int64_t in_channels() const { return product_.groups * product_.channels; }
  int64_t out_channels() const { return product_.all_filters(); }

  void read(int64_t begin, int64_t end) {
    if (use_.reads && begin < end) accesses_.push_back({false, begin, end});
  }

  void write(int64_t begin, int64_t end) {
    if (use_.writes && begin < end) accesses_.push_back({true, begin, end});
  }

  // Bytes [first, end) of each place that the sums of a place take; whole runs of places at once
  // where that is all of them.
  void read_window(int64_t row, int64_t column, int64_t first, int64_t end) {
    const int64_t top = row * product_.stride_height - product_.padding_top;
    const int64_t left = column * product_.stride_width - product_.padding_left;
    const int64_t width = (product_.kernel_width - 1) * product_.dilation_width + 1;
    const int64_t from = std::max<int64_t>(0, left);
    const int64_t to = std::min(product_.in_width, left + width);
    for (int64_t r = 0; r < product_.kernel_height && from < to; ++r) {
      const int64_t h = top + r * product_.dilation_height;
      if (h < 0 || h >= product_.in_height) continue;
      const int64_t place = h * product_.in_width;
      read((place + from) * in_channels() + first, (place + to - 1) * in_channels() + end);
    }
  }

  void add_place(int64_t row, int64_t column) {
    const int64_t to = (row * product_.out_width + column) * out_channels();
    int64_t step = out_channels();
    if (use_.order == AccessOrder::kFourFilters) step = 4;
    if (use_.order == AccessOrder::kSixteenTaps) step = 16;
    for (int64_t c = 0; c < out_channels(); c += step) {
      if (use_.order == AccessOrder::kFourFilters && out_channels() - c < 4) step = 1;
      const int64_t end = std::min(out_channels(), c + step);
      if (use_.order == AccessOrder::kSixteenTaps) {
        read_window(row, column, c, end);
      } else {
        read_window(row, column, 0, in_channels());
      }
      write(to + c, to + end);
    }
  }

  // A row is in a ring of its own before it is written over.
  void add_channels() {
    for (int64_t c = 0; c < out_channels(); c += 4) {
      int64_t next =
          std::max<int64_t>(0, use_.first_row * product_.stride_height - product_.padding_top);
      for (int64_t row = use_.first_row; row < use_.end_row; ++row) {
        const int64_t end =
            std::min(product_.in_height,
                     row * product_.stride_height - product_.padding_top + product_.kernel_height);
        for (; next < end; ++next) {
          for (int64_t w = 0; w < product_.in_width; ++w) {
            const int64_t place = (next * product_.in_width + w) * in_channels();
            read(place + c, place + c + 4);
          }
        }
        for (int64_t q = 0; q < product_.out_width; ++q) {
          const int64_t place = (row * product_.out_width + q) * out_channels();
          write(place + c, place + c + 4);
        }
      }
    }
  }

  const ProductUse& use_;
  const Int8Product& product_;
  Accesses& accesses_;
};

}  // namespace

void add_product(const ProductUse& use, Accesses* accesses) {
  ProductAccesses(use, accesses).add();
}

void add_elements(int64_t first, int64_t end, Accesses* accesses) {
  for (int64_t i = first; i < end; ++i) {
    accesses->push_back({false, i, i + 1});
    accesses->push_back({true, i, i + 1});
  }
}

int64_t least_lead(const Accesses& accesses) {
  int64_t lead = 0;
  int64_t still_read = std::numeric_limits<int64_t>::max();  // the first byte that is, later
  for (auto access = accesses.rbegin(); access != accesses.rend(); ++access) {
    if (!access->is_write) {
      still_read = std::min(still_read, access->begin);
    } else if (still_read != std::numeric_limits<int64_t>::max()) {
      lead = std::max(lead, access->end - still_read);
    }
  }
  return lead;
}

absl::Status check_lead(const Accesses& accesses, int64_t lead) {
  int64_t bytes = 0;
  for (const Access& access : accesses) {
    if (!access.is_write) bytes = std::max(bytes, access.end);
  }
  std::vector<bool> is_lost(static_cast<size_t>(bytes));
  for (const Access& access : accesses) {
    const int64_t shift = access.is_write ? -lead : 0;
    const int64_t begin = std::max<int64_t>(0, access.begin + shift);
    const int64_t end = std::min(bytes, access.end + shift);
    for (int64_t i = begin; i < end; ++i) {
      if (access.is_write) {
        is_lost[static_cast<size_t>(i)] = true;
      } else if (is_lost[static_cast<size_t>(i)]) {
        return absl::InternalError(
            absl::StrCat("byte ", i,
                         " of its operand would be read after it was written over, by "
                         "a result that begins ",
                         lead, " bytes before it"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir::emit_c
