// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "output.hpp"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <vector>

namespace gallery {
namespace {

// ---- what a row says, for every format ---------------------------------------------------------

std::optional<double> as_number(std::optional<double> value) { return value; }
std::optional<double> as_number(std::optional<int> value) {
  return value.has_value() ? std::optional<double>(*value) : std::nullopt;
}
std::optional<double> as_number(std::optional<std::size_t> value) {
  return value.has_value() ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

const char* name_of(verdict outcome) {
  switch (outcome) {
    case verdict::verified:
      return "verified";
    case verdict::wrong:
      return "wrong";
    case verdict::unavailable:
      return "unavailable";
    default:
      return "predicted";
  }
}

/// One column: its name in a table and in data, and what it says of a row, a number or a text.
struct column {
  const char* title;
  const char* key;
  int decimals;
  std::function<std::optional<double>(const row&)> value;  // or
  std::function<std::string(const row&)> text;
};

column number_column(const char* title, const char* key, int decimals,
                     std::function<std::optional<double>(const row&)> value) {
  return {title, key, decimals, std::move(value), nullptr};
}
column text_column(const char* title, const char* key,
                   std::function<std::string(const row&)> text) {
  return {title, key, 0, nullptr, std::move(text)};
}

std::string note_of(const row& r) {
  std::string note = r.note;
  const auto add = [&](const std::string& more) { note += (note.empty() ? "" : "; ") + more; };
  if (r.best) { add("best for this GPU"); }
  return note;
}

/// What the emulator made of a row; empty where it was not asked.
std::string emulated_outcome(const row& r) {
  if (!r.emulated.has_value()) { return ""; }
  return r.emulated->outcome == verdict::unavailable ? "needs a GPU" : name_of(r.emulated->outcome);
}

std::string emulated_agrees(const row& r) {
  const std::optional<bool> agrees =
      r.emulated.has_value() ? r.emulated->agrees : std::optional<bool>();
  return !agrees.has_value() ? "" : *agrees ? "yes" : "no";
}

/// For data: what the emulator counted, and whether that is what the model says of the same size.
void add_emulated_columns(std::vector<column>& all) {
  const auto add = [&](const char* key, int decimals, auto seen) {
    all.push_back(number_column(key, key, decimals, [=](const row& r) {
      return r.emulated.has_value() ? as_number(r.emulated->seen.*seen) : std::nullopt;
    }));
  };
  all.push_back(text_column("emulated", "emulated", emulated_outcome));
  all.push_back(text_column("emulated_agrees", "emulated_agrees", emulated_agrees));
  add("emulated_write_ways", 0, &observation::write_ways);
  add("emulated_read_ways", 0, &observation::read_ways);
  add("emulated_load_sectors_per_request", 3, &observation::load_sectors);
  add("emulated_store_sectors_per_request", 3, &observation::store_sectors);
}

std::vector<column> columns_for(const heading& about, const results& found) {
  std::vector<column> all;
  all.push_back(text_column("routine", "routine", [](const row& r) { return r.routine; }));
  all.push_back(text_column("case", "case", [](const row& r) { return r.label; }));
  all.push_back(text_column("family", "family", [](const row& r) { return name_of(r.family); }));
  all.push_back(text_column("type", "type", [](const row& r) { return r.type; }));
  all.push_back(text_column("outcome", "outcome", [](const row& r) { return name_of(r.outcome); }));
  all.push_back(number_column("seconds", "seconds", 9, [](const row& r) { return r.seconds; }));
  all.push_back(
      number_column("GB/s", "gigabytes_per_second", 1, [](const row& r) { return r.gigabytes; }));
  all.push_back(
      number_column("% memcpy", "percent_of_memcpy", 1, [](const row& r) { return r.percent; }));
  all.push_back(number_column("GFLOP/s", "gigaflops_per_second", 0,
                              [](const row& r) { return r.gigaflops; }));
  if (found.timed && about.carveout.has_value()) {
    all.push_back(number_column("GB/s carved", "carved_gigabytes_per_second", 1, [](const row& r) {
      return r.with_carveout.has_value() ? std::optional<double>(r.with_carveout->gigabytes)
                                         : std::nullopt;
    }));
    all.push_back(number_column("blocks carved", "carved_blocks_per_sm", 0, [](const row& r) {
      return r.with_carveout.has_value() ? std::optional<double>(r.with_carveout->blocks)
                                         : std::nullopt;
    }));
  }
  all.push_back(number_column("threads", "threads_per_block", 0,
                              [](const row& r) { return as_number(r.threads); }));
  all.push_back(number_column("shared B", "shared_bytes_per_block", 0,
                              [](const row& r) { return as_number(r.shared_bytes); }));
  all.push_back(number_column("blocks/SM", "blocks_per_sm", 0, [](const row& r) {
    return r.fits.has_value() ? std::optional<double>(r.fits->blocks) : std::nullopt;
  }));
  all.push_back(text_column("limited by", "limited_by", [](const row& r) {
    return r.fits.has_value() ? r.fits->limited_by : std::string();
  }));
  all.push_back(number_column("room B", "shared_bytes_before_fewer_blocks", 0, [](const row& r) {
    return r.fits.has_value() ? std::optional<double>(static_cast<double>(r.fits->shared_room))
                              : std::nullopt;
  }));
  all.push_back(number_column("write ways", "write_ways", 0,
                              [](const row& r) { return as_number(r.predicted.write_ways); }));
  all.push_back(number_column("read ways", "read_ways", 0,
                              [](const row& r) { return as_number(r.predicted.read_ways); }));
  all.push_back(number_column("wavefronts w", "write_wavefronts_per_request", 3,
                              [](const row& r) { return r.predicted.write_wavefronts; }));
  all.push_back(number_column("wavefronts r", "read_wavefronts_per_request", 3,
                              [](const row& r) { return r.predicted.read_wavefronts; }));
  all.push_back(number_column("sectors ld", "load_sectors_per_request", 1,
                              [](const row& r) { return r.predicted.load_sectors; }));
  all.push_back(number_column("sectors st", "store_sectors_per_request", 1,
                              [](const row& r) { return r.predicted.store_sectors; }));
  all.push_back(number_column("least", "least_sectors_per_request", 1,
                              [](const row& r) { return r.predicted.least_sectors; }));
  if (!found.timed) { add_emulated_columns(all); }
  all.push_back(text_column("note", "note", note_of));
  return all;
}

// ---- the model beside the emulator, for the table ----------------------------------------------

/// "1 = 1", "1 != 2", or what was seen alone where the model says nothing.
template <class Number>
std::string beside(const std::optional<Number>& model, const std::optional<Number>& seen,
                   int decimals) {
  const std::string right = number(as_number(seen), decimals);
  if (!model.has_value()) { return right; }
  const std::string left = number(as_number(model), decimals);
  return left + (left == right ? " = " : " != ") + right;
}

std::string emulated_note(const row& r) {
  if (r.emulated->outcome == verdict::unavailable) { return ""; }
  std::string note;
  const auto add = [&](const std::string& more) { note += (note.empty() ? "" : "; ") + more; };
  if (!r.emulated->agrees.value_or(true)) { add("DIFFERS from the model"); }
  if (r.emulated->wrong_elements != 0) {
    add(std::to_string(r.emulated->wrong_elements) + " elements are wrong");
  }
  if (!r.emulated->seen.fault.empty()) { add(r.emulated->seen.fault); }
  return note;
}

std::vector<column> comparing_columns() {
  const auto comparing = [](const char* title, int decimals, auto model, auto seen) {
    return text_column(title, title, [=](const row& r) {
      const bool ran = r.emulated->outcome != verdict::unavailable;
      return ran ? beside(r.emulated->model.*model, r.emulated->seen.*seen, decimals) : "-";
    });
  };
  return {text_column("case", "case", [](const row& r) { return r.label; }),
          text_column("type", "type", [](const row& r) { return r.type; }),
          text_column("result", "result", emulated_outcome),
          comparing("write ways", 0, &prediction::write_ways, &observation::write_ways),
          comparing("read ways", 0, &prediction::read_ways, &observation::read_ways),
          comparing("sectors ld", 3, &prediction::load_sectors, &observation::load_sectors),
          comparing("sectors st", 3, &prediction::store_sectors, &observation::store_sectors),
          text_column("note", "note", emulated_note)};
}

// ---- the table ---------------------------------------------------------------------------------

/// Those that a person needs: the routine's name is in the case's, the rest in data only.
bool is_in_table(const column& c) {
  const std::string key = c.key;
  return key != "routine" && key != "family" && key != "outcome" && key != "seconds" &&
         key != "write_wavefronts_per_request" && key != "read_wavefronts_per_request" &&
         key.rfind("emulated", 0) != 0;
}

std::string cell(const column& c, const row& r) {
  const std::string text = c.text ? c.text(r) : number(c.value(r), c.decimals);
  return text.empty() ? "-" : text;
}

std::vector<column> table_columns(const heading& about, const results& found) {
  std::vector<column> some;
  for (const column& c : columns_for(about, found)) {
    if (is_in_table(c)) { some.push_back(c); }
  }
  return some;
}

/// Columns as wide as what they hold; numbers to the right. A column of nothing but dashes is left out.
class text_table {
 public:
  text_table(const std::vector<column>& columns, const std::vector<row>& rows) : rows_(rows) {
    for (const column& c : columns) {
      if (std::any_of(rows.begin(), rows.end(), [&](const row& r) { return cell(c, r) != "-"; })) {
        columns_.push_back(c);
      }
    }
    for (const column& c : columns_) {
      std::size_t width = std::string(c.title).size();
      for (const row& r : rows) { width = std::max(width, cell(c, r).size()); }
      widths_.push_back(width);
    }
  }

  void write(std::ostream& to) const {
    write_line(to, [](const column& c) { return std::string(c.title); });
    const row* previous = nullptr;
    for (const row& r : rows_) {
      if (previous == nullptr || previous->family != r.family) { to << name_of(r.family) << "\n"; }
      write_line(to, [&](const column& c) { return cell(c, r); });
      previous = &r;
    }
  }

 private:
  template <class Text>
  void write_line(std::ostream& to, Text text) const {
    std::ostringstream line;
    line << " ";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool left = static_cast<bool>(columns_[i].text);
      line << " " << (left ? std::left : std::right) << std::setw(static_cast<int>(widths_[i]))
           << text(columns_[i]) << " ";
    }
    std::string done = line.str();
    done.erase(done.find_last_not_of(' ') + 1);
    to << done << "\n";
  }

  const std::vector<row>& rows_;
  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
};

void write_heading(std::ostream& to, const heading& about, const results& found) {
  to << "GPU: " << about.device << "\n";
  to << about.nx << " x " << about.ny << " (columns x rows) of " << about.type;
  if (found.timed) {
    to << "; medians of " << about.reps << " runs, " << about.date << "\n";
  } else {
    to << "\nNothing was timed: no GPU was found. What follows are predictions; registers are not "
          "known\n"
          "without one, so blocks/SM may be fewer. Below them stands what the emulator made of the "
          "routines.\n";
  }
  to << "Banks of the model: " << about.bank_width << " bytes wide";
  if (about.carveout.has_value()) {
    to << "; carved: " << *about.carveout << " % of the L1 cache preferred as shared memory";
  }
  to << "\n\n";
}

void write_legend(std::ostream& to) {
  to << "\nwrite/read ways: cycles of the busiest bank in the worst phase of a warp's requests to "
        "the "
        "tile (1 is best)\n"
        "sectors ld/st: sectors of 32 bytes per request of a warp, in the mean; least: the fewest "
        "possible\n"
        "room B: shared memory a block may take before fewer blocks fit a multiprocessor\n";
}

void write_emulated(std::ostream& to, const results& found) {
  const auto ran = [](const row& r) { return r.emulated.has_value(); };
  if (!std::all_of(found.rows.begin(), found.rows.end(), ran) || found.rows.empty()) { return; }
  to << "\nRun on the CPU by the emulator, " << found.emulated_nx << " x " << found.emulated_ny
     << " (columns x rows), nothing timed. Model = emulator,\n"
        "or != where they differ; both are of this size.\n\n";
  text_table(comparing_columns(), found.rows).write(to);
}

void write_best(std::ostream& to, const results& found) {
  for (const row& r : found.rows) {
    if (r.best) {
      to << "\nBest " << r.routine << " for " << r.type << " on this GPU: " << r.label << ", "
         << number(r.gigabytes, 1) << " GB/s\n";
    }
  }
}

// ---- CSV and JSON ------------------------------------------------------------------------------

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) { return text; }
  std::string quoted = "\"";
  for (const char c : text) { quoted += c == '"' ? std::string("\"\"") : std::string(1, c); }
  return quoted + "\"";
}

std::string json_text(const std::string& text) {
  std::ostringstream quoted;
  quoted << '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted << '\\' << c;
    } else if (c == '\n') {
      quoted << "\\n";
    } else if (code < 0x20) {
      quoted << "\\u" << std::hex << std::setw(4) << std::setfill('0') << int{code} << std::dec;
    } else {
      quoted << c;
    }
  }
  quoted << '"';
  return quoted.str();
}

std::string json_number(std::optional<double> value, int decimals) {
  return value.has_value() ? number(value, decimals) : "null";
}

}  // namespace

std::string number(std::optional<double> value, int decimals) {
  if (!value.has_value()) { return "-"; }
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << *value;
  return text.str();
}

void write_table(std::ostream& to, const heading& about, const results& found) {
  write_heading(to, about, found);
  text_table(table_columns(about, found), found.rows).write(to);
  write_legend(to);
  write_emulated(to, found);
  for (const std::string& remark : found.remarks) { to << "\n" << remark << "\n"; }
  write_best(to, found);
}

void write_csv(std::ostream& to, const heading& about, const results& found) {
  const std::vector<column> columns = columns_for(about, found);
  const char* separator = "";
  for (const column& c : columns) {
    to << separator << c.key;
    separator = ",";
  }
  to << "\n";
  for (const row& r : found.rows) {
    separator = "";
    for (const column& c : columns) {
      const std::optional<double> value = c.text ? std::nullopt : c.value(r);
      to << separator
         << (c.text              ? csv_text(c.text(r))
             : value.has_value() ? number(value, c.decimals)
                                 : "");
      separator = ",";
    }
    to << "\n";
  }
}

void write_json(std::ostream& to, const heading& about, const results& found) {
  const std::vector<column> columns = columns_for(about, found);
  to << "{\n  \"device\": " << json_text(about.device)
     << ",\n  \"timed\": " << (found.timed ? "true" : "false")
     << ",\n  \"date\": " << json_text(about.date) << ",\n  \"columns\": " << about.nx
     << ",\n  \"rows\": " << about.ny << ",\n  \"type\": " << json_text(about.type)
     << ",\n  \"reps\": " << about.reps << ",\n  \"bank_width\": " << about.bank_width
     << ",\n  \"emulated_columns\": " << found.emulated_nx
     << ",\n  \"emulated_rows\": " << found.emulated_ny
     << ",\n  \"memcpy_gigabytes_per_second\": " << json_number(found.memcpy_gigabytes, 1)
     << ",\n  \"cases\": [";
  const char* separator = "\n";
  for (const row& r : found.rows) {
    to << separator << "    {";
    const char* comma = "";
    for (const column& c : columns) {
      to << comma << json_text(c.key) << ": "
         << (c.text ? json_text(c.text(r)) : json_number(c.value(r), c.decimals));
      comma = ", ";
    }
    to << "}";
    separator = ",\n";
  }
  to << "\n  ],\n  \"remarks\": [";
  separator = "\n    ";
  for (const std::string& remark : found.remarks) {
    to << separator << json_text(remark);
    separator = ",\n    ";
  }
  to << "\n  ]\n}\n";
}

void write(std::ostream& to, output_format format, const heading& about, const results& found) {
  switch (format) {
    case output_format::csv:
      return write_csv(to, about, found);
    case output_format::json:
      return write_json(to, about, found);
    default:
      return write_table(to, about, found);
  }
}

}  // namespace gallery
