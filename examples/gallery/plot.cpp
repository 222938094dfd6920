// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace gallery {
namespace {

// Lengths in units of the picture.
constexpr double width = 960;
constexpr double label_width = 220;
constexpr double value_width = 150;
constexpr double margin = 20;
constexpr double bar_left = margin + label_width;
constexpr double bar_space = width - bar_left - value_width - margin;
constexpr double bar_pitch = 24;
constexpr double bar_height = 16;
constexpr double title_height = 56;
constexpr double legend_line = 22;
constexpr double axis_height = 40;

/// Light and dark, one pair a family, told apart by the colour-blind too (after Okabe and Ito).
struct colour_pair {
  const char *light, *dark;
};
constexpr std::array<colour_pair, families> colours{{{"#6b7280", "#9ca3af"},
                                                     {"#0072b2", "#56b4e9"},
                                                     {"#b45309", "#f0b429"},
                                                     {"#047857", "#34d399"},
                                                     {"#9d174d", "#f472b6"},
                                                     {"#b91c1c", "#f87171"},
                                                     {"#6d28d9", "#a78bfa"},
                                                     {"#3f6212", "#a3e635"}}};

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::vector<row> bars_of(const results& found, bool all_cases) {
  std::vector<row> bars;
  for (const row& r : found.rows) {
    if (r.gigabytes.has_value() && (all_cases || r.plotted)) { bars.push_back(r); }
  }
  std::stable_sort(bars.begin(), bars.end(),
                   [](const row& a, const row& b) { return *a.gigabytes > *b.gigabytes; });
  return bars;
}

/// 1, 2 or 5 times a power of ten, so that about six steps reach `most`.
double tick_step(double most) {
  constexpr double wanted = 6;
  const double rough = most / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) { return factor * power; }
  }
  return 10 * power;
}

std::string coordinate(double value) { return number(value, 1); }

/// The parts of the picture, from top to bottom.
class chart {
 public:
  chart(std::ostream& to, const heading& about, const results& found, bool all_cases)
      : to_(to), about_(about), bars_(bars_of(found, all_cases)), memcpy_(found.memcpy_gigabytes) {
    double most = memcpy_.value_or(0);
    for (const row& r : bars_) { most = std::max(most, *r.gigabytes); }
    most_ = most > 0 ? most : 1;
    for (int f = 0; f < families; ++f) {
      const auto member = static_cast<family>(f);
      if (std::any_of(bars_.begin(), bars_.end(),
                      [&](const row& r) { return r.family == member; })) {
        shown_.push_back(member);
      }
    }
    legend_height_ = legend_line * static_cast<double>((shown_.size() + per_line - 1) / per_line);
    top_ = title_height + legend_height_ + 30;
    bottom_ = top_ + bar_pitch * static_cast<double>(bars_.size());
  }

  void write() {
    open();
    style();
    title();
    legend();
    axis();
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      bar(bars_[i], top_ + bar_pitch * static_cast<double>(i));
    }
    memcpy_line();
    to_ << "</svg>\n";
  }

 private:
  static constexpr std::size_t per_line = 4;  // names in the legend

  double x_of(double gigabytes) const { return bar_left + bar_space * gigabytes / most_; }

  void open() {
    const double height = bottom_ + axis_height;
    to_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << coordinate(width) << " "
        << coordinate(height) << "\" width=\"" << coordinate(width) << "\" height=\""
        << coordinate(height) << "\" role=\"img\" font-family=\"system-ui, sans-serif\" "
        << "font-size=\"12.5\">\n";
    to_ << "<title>Bandwidth of the gallery's kernels on " << xml_text(about_.device)
        << "</title>\n";
  }

  void style() {
    to_ << "<style>\n.ground{fill:#ffffff}.text{fill:#1f2328}.soft{fill:#59636e}"
           ".grid{stroke:#d1d9e0}.line{stroke:#1f2328}\n";
    for (std::size_t f = 0; f < colours.size(); ++f) {
      to_ << ".f" << f << "{fill:" << colours[f].light << "}";
    }
    to_ << "\n@media (prefers-color-scheme: dark){\n.ground{fill:#0d1117}.text{fill:#e6edf3}"
           ".soft{fill:#9198a1}.grid{stroke:#30363d}.line{stroke:#e6edf3}\n";
    for (std::size_t f = 0; f < colours.size(); ++f) {
      to_ << ".f" << f << "{fill:" << colours[f].dark << "}";
    }
    to_ << "\n}\n</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
  }

  void text(const char* kind, double x, double y, const std::string& what, const char* more = "") {
    to_ << "<text class=\"" << kind << "\" x=\"" << coordinate(x) << "\" y=\"" << coordinate(y)
        << "\" " << more << ">" << xml_text(what) << "</text>\n";
  }

  void title() {
    text("text", margin, 26, "Bandwidth of each kernel, GB/s",
         "font-size=\"17\" font-weight=\"600\"");
    text("soft", margin, 46,
         about_.device + ", " + std::to_string(about_.nx) + " x " + std::to_string(about_.ny) +
             " of " + about_.type + ", medians of " + std::to_string(about_.reps) + ", " +
             about_.date);
  }

  void legend() {
    constexpr double pitch = 200;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      const double x = margin + pitch * static_cast<double>(i % per_line);
      const double y = title_height + legend_line * static_cast<double>(i / per_line);
      to_ << "<rect class=\"f" << static_cast<int>(shown_[i]) << "\" x=\"" << coordinate(x)
          << "\" y=\"" << coordinate(y + 3) << "\" width=\"12\" height=\"12\" rx=\"2\"/>\n";
      text("text", x + 18, y + 14, name_of(shown_[i]));
    }
  }

  void axis() {
    const double step = tick_step(most_);
    for (double value = 0; value <= most_; value += step) {
      const double x = x_of(value);
      to_ << "<line class=\"grid\" x1=\"" << coordinate(x) << "\" y1=\"" << coordinate(top_ - 4)
          << "\" x2=\"" << coordinate(x) << "\" y2=\"" << coordinate(bottom_) << "\"/>\n";
      text("soft", x, bottom_ + 18, number(value, 0), "text-anchor=\"middle\"");
    }
  }

  void bar(const row& r, double y) {
    const double baseline = y + bar_height - 3;
    text("text", bar_left - 8, baseline,
         r.type == about_.type ? r.label : r.label + " (" + r.type + ")", "text-anchor=\"end\"");
    const double length = std::max(x_of(*r.gigabytes) - bar_left, 1.0);
    to_ << "<rect class=\"f" << static_cast<int>(r.family) << "\" x=\"" << coordinate(bar_left)
        << "\" y=\"" << coordinate(y) << "\" width=\"" << coordinate(length) << "\" height=\""
        << coordinate(bar_height) << "\" rx=\"2\"/>\n";
    std::string value = number(r.gigabytes, 0);
    if (r.percent.has_value()) { value += "  (" + number(r.percent, 0) + " %)"; }
    // Behind the memcpy line as well, which would strike the figures through.
    const double behind = bar_left + length + 8;
    const double line = memcpy_.has_value() ? x_of(*memcpy_) : behind;
    constexpr double figures = 95;
    const bool struck = behind < line + 6 && behind + figures > line;
    text("text", struck ? line + 8 : behind, baseline, value);
  }

  void memcpy_line() {
    if (!memcpy_.has_value()) { return; }
    const double x = x_of(*memcpy_);
    to_ << "<line class=\"line\" x1=\"" << coordinate(x) << "\" y1=\"" << coordinate(top_ - 8)
        << "\" x2=\"" << coordinate(x) << "\" y2=\"" << coordinate(bottom_)
        << "\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>\n";
    text("text", x, top_ - 14, "cudaMemcpyAsync, " + number(memcpy_, 0) + " GB/s",
         "text-anchor=\"middle\" font-weight=\"600\"");
  }

  std::ostream& to_;
  const heading& about_;
  std::vector<row> bars_;
  std::optional<double> memcpy_;
  std::vector<family> shown_;
  double most_ = 1;
  double legend_height_ = 0;
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace

std::size_t count_bars(const results& found, bool all_cases) {
  return bars_of(found, all_cases).size();
}

void write_plot(std::ostream& to, const heading& about, const results& found, bool all_cases) {
  chart(to, about, found, all_cases).write();
}

}  // namespace gallery
