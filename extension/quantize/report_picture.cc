// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/report_picture.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/plan/pictures/xml_text.h"

namespace petrel::extension {
namespace {

using exir::plan::xml_text;

constexpr int kWidth = 960;
constexpr int kNames = 300;  // columns, in pixels
constexpr int kBars = 460;
constexpr int kRow = 18;
constexpr int kHeading = 34;
// Beyond it noise is that of floats.
constexpr double kMostDecibels = 80;

std::string text_at(int x, int y, const std::string& words, const char* more = "") {
  return absl::StrCat("<text x=\"", x, "\" y=\"", y, "\"", more, ">", xml_text(words), "</text>\n");
}

double bar_length(double decibels) {
  const double shown = std::isnan(decibels) ? 0 : std::clamp(decibels, 0.0, kMostDecibels);
  return kBars * shown / kMostDecibels;
}

std::string row_of(const LayerReport& layer, int y) {
  const int base = y + kRow - 5;
  std::string row = absl::StrCat(
      "<g><title>", xml_text(layer.layer.operators), ": ", xml_text(layer.computes),
      layer.layer.float_reason.empty() ? "" : ", " + xml_text(layer.layer.float_reason),
      layer.layer.location.empty() ? "" : "; " + xml_text(layer.layer.location), "</title>\n");
  absl::StrAppend(&row, text_at(kNames - 8, base, layer.layer.name, " text-anchor=\"end\""));
  std::string said = layer.computes;
  if (layer.noise) {
    const double decibels = layer.noise->decibels;
    absl::StrAppend(&row, "<rect x=\"", kNames, "\" y=\"", y + 3, "\" width=\"",
                    absl::StrFormat("%.1f", bar_length(decibels)), "\" height=\"", kRow - 6,
                    "\" fill=\"", layer.layer.is_quantised ? "steelblue" : "darkorange", "\"/>\n");
    said = std::isinf(decibels) && decibels > 0
               ? absl::StrCat("exact  ", said)
               : absl::StrCat(absl::StrFormat("%.1f dB  ", decibels), said);
  }
  if (layer.layer.stored_bytes != layer.layer.float_bytes) {
    absl::StrAppend(&said, absl::StrFormat("  weights to %.0f %%",
                                           100.0 * static_cast<double>(layer.layer.stored_bytes) /
                                               static_cast<double>(layer.layer.float_bytes)));
  }
  absl::StrAppend(&row, text_at(kNames + kBars + 8, base, said), "</g>\n");
  return row;
}

}  // namespace

std::string format_svg(const QuantizationReport& report) {
  std::string rows;
  int y = 0;
  for (const auto& [name, method] : report.methods) {
    std::string title = absl::StrCat("method '", name, "': signal to noise of each layer");
    for (const OutputNoise& output : method.outputs) {
      absl::StrAppend(&title, ", output ", output.output, " ",
                      std::isinf(output.decibels) && output.decibels > 0
                          ? "exact"
                          : absl::StrFormat("%.1f dB", output.decibels));
    }
    absl::StrAppend(&rows, text_at(8, y + 22, title, " font-weight=\"bold\""));
    y += kHeading;
    for (const LayerReport& layer : method.layers) {
      absl::StrAppend(&rows, row_of(layer, y));
      y += kRow;
    }
  }
  return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth, "\" height=\"",
                      y + kRow,
                      "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                      rows, "</svg>\n");
}

}  // namespace petrel::extension
