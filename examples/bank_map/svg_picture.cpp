// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "svg_picture.hpp"

#include <algorithm>
#include <ostream>
#include <string>

namespace bank_map {
namespace {

// Lengths in units of the picture.
constexpr int cell = 15;
constexpr int margin = 16;
constexpr int number_width = 26;  // of the line numbers
constexpr int heading = 62;       // of a panel
constexpr int legend = 36;
constexpr int panels_across = 2;

int panel_width(const snapshot& seen) { return number_width + cell * seen.of.banks.banks; }
int panel_height(const snapshot& seen) {
  return heading + cell * static_cast<int>(seen.lines.size());
}

class picture {
 public:
  picture(std::ostream& to, const std::vector<snapshot>& panels) : to_(to), panels_(panels) {
    const std::size_t across = std::min<std::size_t>(panels.size(), panels_across);
    column_width_ = 0;
    for (const snapshot& seen : panels) {
      column_width_ = std::max(column_width_, panel_width(seen));
    }
    width_ = margin + (column_width_ + margin) * static_cast<int>(across);
    height_ = margin;
    for (std::size_t i = 0; i < panels.size(); i += panels_across) {
      height_ += row_height(i) + margin;
    }
    height_ += legend;
  }

  void write() {
    to_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width_ << " " << height_
        << "\" width=\"" << width_ << "\" height=\"" << height_
        << "\" role=\"img\" font-family=\"system-ui, sans-serif\">\n"
           "<title>Tiles in shared memory as grids of banks</title>\n";
    style();
    int y = margin;
    for (std::size_t i = 0; i < panels_.size(); i += panels_across) {
      for (std::size_t j = i; j < std::min(i + panels_across, panels_.size()); ++j) {
        panel(panels_[j], margin + (column_width_ + margin) * static_cast<int>(j - i), y);
      }
      y += row_height(i) + margin;
    }
    keys(y + 4);
    to_ << "</svg>\n";
  }

 private:
  int row_height(std::size_t first) const {
    int height = 0;
    for (std::size_t j = first; j < std::min(first + panels_across, panels_.size()); ++j) {
      height = std::max(height, panel_height(panels_[j]));
    }
    return height;
  }

  void style() {
    to_ << "<style>\n"
           ".ground{fill:#ffffff}.text{fill:#1f2328}.soft{fill:#59636e}.good{fill:#04623f}"
           ".bad{fill:#a40e26}\n"
           ".tile{fill:#eef1f4}.pad{fill:#ffffff;stroke:#b6bfc9;stroke-dasharray:2 2}"
           ".one{fill:#7fd1ae}.hit{fill:#ff8f8a;stroke:#a40e26;stroke-width:2}.lane{fill:#111418}\n"
           "@media (prefers-color-scheme: dark){\n"
           ".ground{fill:#0d1117}.text{fill:#e6edf3}.soft{fill:#9198a1}.good{fill:#4ade9a}"
           ".bad{fill:#ff8f8a}\n"
           ".tile{fill:#21262d}.pad{fill:#0d1117;stroke:#57606a}"
           ".one{fill:#1f7a55}.hit{fill:#a3302f;stroke:#ffb3ae}.lane{fill:#ffffff}\n"
           "}\n</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n<defs>\n";
    pattern("tile");
    pattern("pad");
    to_ << "</defs>\n";
  }

  /// Words that nobody wants are many: whole runs of them are filled with one cell, repeated.
  void pattern(const char* kind) {
    to_ << "<pattern id=\"" << kind << "\" width=\"" << cell << "\" height=\"" << cell
        << "\" patternUnits=\"userSpaceOnUse\">";
    square(kind, 0, 0);
    to_ << "</pattern>\n";
  }

  void run(const char* kind, std::size_t cells, int x, int y) {
    to_ << "<rect fill=\"url(#" << kind << ")\" x=\"" << x << "\" y=\"" << y << "\" width=\""
        << cell * static_cast<int>(cells) << "\" height=\"" << cell << "\"/>\n";
  }

  void text(const char* kind, int x, int y, int size, const std::string& what,
            const char* more = "") {
    to_ << "<text class=\"" << kind << "\" x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size
        << "\" " << more << ">" << what << "</text>\n";
  }

  void square(const char* kind, int x, int y) {
    to_ << "<rect class=\"" << kind << "\" x=\"" << x + 1 << "\" y=\"" << y + 1 << "\" width=\""
        << cell - 2 << "\" height=\"" << cell - 2 << "\" rx=\"2\"/>\n";
  }

  void panel(const snapshot& seen, int x, int y) {
    text("text", x, y + 14, 14, name_of(seen.of) + ":", "font-weight=\"600\"");
    text(seen.ways <= 1 ? "good" : "bad", x + column_width_, y + 14, 14, verdict_of(seen),
         "font-weight=\"600\" text-anchor=\"end\"");
    text("soft", x, y + 32, 12, reason_of(seen));
    // The grid's own origin, so that the repeated cells fall into place.
    to_ << "<g transform=\"translate(" << x + number_width << " " << y + heading << ")\">\n";
    for (int bank = 0; bank < seen.of.banks.banks; ++bank) {
      text("soft", bank * cell + cell / 2, -6, 8, std::to_string(bank), "text-anchor=\"middle\"");
    }
    for (std::size_t line = 0; line < seen.lines.size(); ++line) {
      const int top = static_cast<int>(line) * cell;
      text("soft", -5, top + 11, 8, std::to_string(line), "text-anchor=\"end\"");
      ground_of(seen.lines[line], top);
      for (std::size_t bank = 0; bank < seen.lines[line].size(); ++bank) {
        mark(seen.lines[line][bank], static_cast<int>(bank) * cell, top);
      }
    }
    to_ << "</g>\n";
  }

  static bool is_ground(const word& w, content holds) {
    return w.lanes.empty() && w.holds == holds;
  }

  void ground_of(const std::vector<word>& line, int y) {
    std::size_t first = 0;
    while (first < line.size()) {
      const content holds = line[first].holds;
      std::size_t end = first;
      while (end < line.size() && is_ground(line[end], holds)) { ++end; }
      if (end > first && holds != content::nothing) {
        run(holds == content::element ? "tile" : "pad", end - first, static_cast<int>(first) * cell,
            y);
      }
      first = end > first ? end : first + 1;
    }
  }

  void mark(const word& w, int x, int y) {
    if (w.lanes.empty()) { return; }
    square(w.conflicts ? "hit" : "one", x, y);
    const std::string more = w.lanes.size() > 1 ? "+" : "";
    text("lane", x + cell / 2, y + 11, more.empty() ? 9 : 7, std::to_string(w.lanes.front()) + more,
         "text-anchor=\"middle\"");
  }

  void keys(int y) {
    struct key {
      const char *kind, *what;
      int width;
    };
    int x = margin;
    for (const key& k : {key{"tile", "a word of the tile", 140}, key{"pad", "padding", 80},
                         key{"one", "wanted by this lane, alone in its bank", 245},
                         key{"hit", "wanted too, in a bank with another: conflict", 0}}) {
      square(k.kind, x, y);
      text("soft", x + cell + 5, y + 12, 12, k.what);
      x += cell + k.width;
    }
  }

  std::ostream& to_;
  const std::vector<snapshot>& panels_;
  int column_width_;
  int width_;
  int height_;
};

}  // namespace

void write_svg(std::ostream& to, const std::vector<snapshot>& panels) {
  picture(to, panels).write();
}

}  // namespace bank_map
