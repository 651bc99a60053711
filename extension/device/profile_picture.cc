// SPDX-License-Identifier: Apache-2.0
#include "extension/device/profile_picture.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/plan/pictures/xml_text.h"

namespace petrel::extension {
namespace {

using exir::plan::xml_text;

// In pixels.
constexpr int kWidth = 960;
constexpr int kNames = 300;
constexpr int kBars = 440;
constexpr int kRow = 18;
constexpr int kHeading = 34;

std::string row_of(const DeviceStep& step, const DeviceStepTime& time, double longest, double hz,
                   int y) {
  const double length = longest > 0 ? kBars * time.ticks / longest : 0;
  return absl::StrCat(
      "<g><title>", xml_text(step.kernel), step.source.empty() ? "" : "; ", xml_text(step.source),
      "</title>\n<text x=\"", kNames - 8, "\" y=\"", y + kRow - 5, "\" text-anchor=\"end\">",
      xml_text(step.name), "</text>\n<rect x=\"", kNames, "\" y=\"", y + 3, "\" width=\"",
      absl::StrFormat("%.1f", length), "\" height=\"", kRow - 6,
      "\" fill=\"steelblue\"/>\n<text x=\"", kNames + kBars + 8, "\" y=\"", y + kRow - 5, "\">",
      absl::StrFormat("%.0f ticks, %.1f us, %.1f %%", time.ticks, 1e6 * time.ticks / hz,
                      100 * time.share),
      "</text></g>\n");
}

}  // namespace

std::string profile_svg(const DeviceMethod& method, const std::vector<DeviceStepTime>& steps,
                        uint32_t timer_hz) {
  double longest = 0, all = 0;
  for (const DeviceStepTime& time : steps) {
    longest = std::max(longest, time.ticks);
    all += time.ticks;
  }
  const double hz = std::max<uint32_t>(timer_hz, 1);
  int y = kHeading;
  std::string rows;
  for (const DeviceStepTime& time : steps) {
    absl::StrAppend(&rows, row_of(method.info().steps[time.step], time, longest, hz, y));
    y += kRow;
  }
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth, "\" height=\"", y + kRow,
      "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"8\" y=\"22\" font-weight=\"bold\">method '",
      xml_text(method.name()), "': ", steps.size(), " steps, ",
      absl::StrFormat("%.0f ticks, %.1f us", all, 1e6 * all / hz), "</text>\n", rows, "</svg>\n");
}

}  // namespace petrel::extension
