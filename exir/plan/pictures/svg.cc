// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/pictures/svg.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/plan/model/timeline.h"
#include "exir/plan/pictures/xml_text.h"

namespace petrel::exir::plan {
namespace {

constexpr int kMargin = 56;
constexpr int kHeading = 28;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

// Maps times and addresses of one pool to pixels.
struct Panel {
  double left, bottom, width, height;
  Interval time;
  int64_t top;  // highest address shown

  double x(int64_t t) const {
    return left +
           width * static_cast<double>(t - time.begin) / static_cast<double>(time.end - time.begin);
  }
  double y(int64_t address) const {
    return bottom -
           height * static_cast<double>(address) / static_cast<double>(std::max<int64_t>(top, 1));
  }
};

// One per group, and per buffer without a group. The golden angle keeps the
// hues of neighbours in the problem apart.
std::vector<int> hues(const Problem& problem) {
  std::map<std::string, int64_t> groups;
  std::vector<int> result;
  int64_t next = 0;
  for (const Buffer& buffer : problem.buffers) {
    int64_t index = next;
    if (!buffer.group.empty()) {
      index = groups.emplace(buffer.group, next).first->second;
    }
    if (index == next) ++next;
    result.push_back(static_cast<int>(index * 137508 / 1000 % 360));
  }
  return result;
}

void append_stretch(const Problem& problem, const Stretch& stretch, int hue, int64_t offset,
                    const Panel& panel, std::string* svg) {
  const Buffer& buffer = problem.buffers[stretch.buffer];
  const double x = panel.x(stretch.time.begin);
  const double y = panel.y(offset + stretch.high);
  absl::StrAppend(svg, "<rect x=\"", number(x), "\" y=\"", number(y), "\" width=\"",
                  number(panel.x(stretch.time.end) - x), "\" height=\"",
                  number(panel.y(offset + stretch.low) - y), "\" fill=\"hsl(", hue,
                  ",60%,72%)\"><title>", xml_text(buffer.id),
                  buffer.group.empty() ? "" : absl::StrCat(" of ", xml_text(buffer.group)), ": ",
                  buffer.size, " bytes at ", offset, ", time [", stretch.time.begin, ", ",
                  stretch.time.end, ")</title></rect>\n");
}

void append_level(const Panel& panel, int64_t address, const char* label, const char* style,
                  std::string* svg) {
  const std::string y = number(panel.y(address));
  absl::StrAppend(svg, "<line x1=\"", number(panel.left), "\" x2=\"",
                  number(panel.left + panel.width), "\" y1=\"", y, "\" y2=\"", y, "\" ", style,
                  "><title>", label, " ", address, "</title></line>\n");
}

}  // namespace

std::string render_svg(const Problem& problem, const Solution& solution,
                       const SvgOptions& options) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  const std::vector<int> hue = hues(problem);
  Interval time{0, 1};
  if (!stretches.empty()) {
    time = stretches[0].time;
    for (const Stretch& s : stretches) time.end = std::max(time.end, s.time.end);
  }
  const int width = std::max(options.width, 4 * kMargin);
  const int panel_height = std::max(options.panel_height, 32);
  const int panel_step = panel_height + kHeading + kMargin / 2;
  const int height = kHeading + panel_step * static_cast<int>(problem.pools.size());
  std::string svg = absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width,
                                 "\" height=\"", height,
                                 "\" font-family=\"sans-serif\" "
                                 "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
                                 "fill=\"white\"/>\n<text x=\"",
                                 kMargin,
                                 "\" y=\"18\" "
                                 "font-weight=\"bold\">",
                                 xml_text(options.title), "</text>\n");
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    const Pool& pool = problem.pools[p];
    const PoolUse& use = solution.pools[p];
    const double top = kHeading + panel_step * static_cast<double>(p);
    const Panel panel{kMargin,
                      top + kHeading + panel_height,
                      static_cast<double>(width - 2 * kMargin),
                      static_cast<double>(panel_height),
                      time,
                      use.peak};
    absl::StrAppend(&svg, "<text x=\"", kMargin, "\" y=\"", top + 18, "\">", xml_text(pool.name),
                    ": ", use.peak, " bytes, lower bound ", use.lower_bound, "</text>\n");
    absl::StrAppend(&svg, "<g stroke=\"white\" stroke-width=\"0.4\">\n");
    for (const Stretch& s : stretches) {
      const Placement& place = solution.placements[s.buffer];
      if (place.pool != static_cast<PoolIdx>(p)) continue;
      append_stretch(problem, s, hue[s.buffer], place.offset, panel, &svg);
    }
    svg += "</g>\n";
    append_level(panel, 0, "address", "stroke=\"black\"", &svg);
    append_level(panel, use.peak, "peak", "stroke=\"black\"", &svg);
    append_level(panel, use.lower_bound, "lower bound",
                 "stroke=\"crimson\" stroke-dasharray=\"6 3\"", &svg);
    absl::StrAppend(&svg, "<text x=\"", kMargin, "\" y=\"", panel.bottom + 16, "\">time ",
                    time.begin, "</text><text x=\"", width - kMargin, "\" y=\"", panel.bottom + 16,
                    "\" text-anchor=\"end\">", time.end, "</text>\n");
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace petrel::exir::plan
