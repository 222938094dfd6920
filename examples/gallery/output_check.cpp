// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Checks tables, CSV, JSON and the plot on results made up here, because a machine without a GPU has none.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "output.hpp"
#include "plot.hpp"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (!right) {
    std::cerr << "failed: " << what << "\n";
    ++failures;
  }
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

gallery::row timed_row(const char* label, gallery::family family, double gigabytes) {
  gallery::row made;
  made.routine = label;
  made.label = label;
  made.family = family;
  made.type = "float";
  made.outcome = gallery::verdict::verified;
  made.seconds = 1 / gigabytes;
  made.gigabytes = gigabytes;
  made.percent = gigabytes / 40;
  return made;
}

gallery::results made_up() {
  gallery::results found;
  found.timed = true;
  found.memcpy_gigabytes = 4000;
  found.rows = {timed_row("slow & <small>", gallery::family::transposes, 700),
                timed_row("cudaMemcpy", gallery::family::ceilings, 4000),
                timed_row("fast, \"tuned\"", gallery::family::transposes, 3900),
                timed_row("hidden", gallery::family::global_access, 50)};
  found.rows[0].predicted.read_ways = 32;
  found.rows[2].best = true;
  found.rows[3].plotted = false;
  gallery::row missing;
  missing.routine = missing.label = "missing";
  missing.family = gallery::family::composition;
  missing.outcome = gallery::verdict::unavailable;
  missing.note = "no such thing";
  found.rows.push_back(missing);
  found.remarks = {"two\nlines"};
  return found;
}

const gallery::heading about{"GPU <1>", "2000-01-31", 1000, 777, "float", 21, 4, std::nullopt};

template <class Write>
std::string text_of(Write write) {
  std::ostringstream to;
  write(to, about, made_up());
  return to.str();
}

void check_table() {
  const std::string text = text_of(gallery::write_table);
  expect(has(text, "GPU <1>") && has(text, "1000 x 777"), "the table names its subject");
  expect(has(text, "medians of 21 runs, 2000-01-31"), "the table says when and how");
  expect(!has(text, "Nothing was timed"), "the table of a timed run says so");
  expect(has(text, "32"), "the table shows ways");
  expect(has(text, "no such thing"), "the table says why a row is empty");
  expect(has(text, "two\nlines"), "remarks stand below");
  expect(has(text, "Best fast, \"tuned\" for float on this GPU"), "the best is named");
}

/// Without a GPU: model and emulator side by side, with a mark where they differ.
void check_emulated() {
  gallery::results found;
  found.emulated_nx = 70;
  found.emulated_ny = 45;
  for (const char* label : {"alike", "unlike", "broken", "called"}) {
    gallery::row made;
    made.routine = made.label = label;
    made.family = gallery::family::transposes;
    made.type = "float";
    made.emulated = gallery::emulated_run{gallery::verdict::verified, {}, {}, 0, true};
    made.emulated->model.read_ways = 2;
    made.emulated->seen.read_ways = 2;
    found.rows.push_back(made);
  }
  found.rows[1].emulated->seen.read_ways = 31;
  found.rows[1].emulated->agrees = false;
  found.rows[2].emulated->outcome = gallery::verdict::wrong;
  found.rows[2].emulated->wrong_elements = 12;
  found.rows[2].emulated->seen.fault = "thread 3 met thread 4";
  found.rows[3].emulated->outcome = gallery::verdict::unavailable;

  std::ostringstream to;
  gallery::write_table(to, about, found);
  const std::string text = to.str();
  expect(has(text, "Nothing was timed") && has(text, "70 x 45"),
         "the table says what ran, and how");
  expect(has(text, "2 = 2"), "agreement is shown");
  expect(has(text, "2 != 31") && has(text, "DIFFERS"), "difference is marked");
  expect(has(text, "wrong") && has(text, "12 elements are wrong; thread 3 met thread 4"),
         "faults are named");
  expect(has(text, "needs a GPU"), "what the emulator cannot run is named");
  std::ostringstream data;
  gallery::write_csv(data, about, found);
  expect(has(data.str(), ",verified,yes,,2,") && has(data.str(), ",verified,no,,31,") &&
             has(data.str(), ",wrong,"),
         "data has what was seen");
}

void check_csv() {
  const std::string text = text_of(gallery::write_csv);
  expect(has(text, "\"fast, \"\"tuned\"\"\""), "CSV doubles quotes");
  expect(has(text, "slow & <small>,"), "CSV leaves plain text alone");
  expect(has(text, ",4000.0,100.0,"), "CSV has rate and share");
}

void check_json() {
  const std::string text = text_of(gallery::write_json);
  expect(has(text, "\"fast, \\\"tuned\\\"\""), "JSON escapes quotes");
  expect(has(text, "\"two\\nlines\""), "JSON escapes line ends");
  expect(has(text, "\"gigabytes_per_second\": null"), "JSON has null for what is not known");
  expect(has(text, "\"timed\": true"), "JSON says that it was timed");
}

void check_plot(const std::string& directory) {
  std::ostringstream to;
  gallery::write_plot(to, about, made_up(), false);
  const std::string text = to.str();
  expect(has(text, "slow &amp; &lt;small&gt;") && !has(text, "<small>"), "the plot escapes text");
  expect(has(text, "prefers-color-scheme: dark"), "the plot has dark colours");
  expect(has(text, "cudaMemcpyAsync, 4000 GB/s"), "the plot has the line");
  expect(text.find("fast, ") < text.find("slow &amp;"), "the fastest stands on top");
  expect(!has(text, "hidden") && !has(text, "missing"), "only what was timed and chosen is drawn");
  expect(gallery::count_bars(made_up(), false) == 3 && gallery::count_bars(made_up(), true) == 4,
         "all cases are drawn where asked for");
  std::ofstream(directory + "/output_check.svg") << text;
}

}  // namespace

int main(int argc, char** argv) {
  check_table();
  check_emulated();
  check_csv();
  check_json();
  check_plot(argc > 1 ? argv[1] : ".");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
