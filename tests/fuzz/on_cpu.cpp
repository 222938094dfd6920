// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cases on the CPU: launches are emulated, so that every access is checked and not only what comes of them all.

#include "cuda_on_cpu.hpp"

#include "faults.hpp"
#include "options.hpp"
#include "targets.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

namespace fuzz {

// There is none in plain C++.
const std::vector<element_type>& mdspan_types() {
  static const std::vector<element_type> none;
  return none;
}
caller find_mdspan(call, const element_type&) { return nullptr; }

namespace {

constexpr limits tiny{70, 900, 12'000, 3'000, 4};

// The memory of a case, at a multiple of 256 bytes.
class case_memory {
 public:
  explicit case_memory(image& content) : content_(content), memory_(content.bytes + 255) {
    content_.base = reinterpret_cast<std::uint64_t>(memory_.data()) + 255;
    content_.base -= content_.base % 256;
    for (unsigned word = 0; word < content.bytes / 8; ++word) {
      const std::uint64_t initial = initial_word(content_, word);
      std::memcpy(data() + 8 * word, &initial, 8);
    }
  }
  unsigned char* data() const { return reinterpret_cast<unsigned char*>(content_.base); }

  // What launches may load and store.
  void tell(tt::emulator_options& options) const {
    const auto tell_side = [&](const place& side, auto* bytes) {
      for (unsigned slot = 0; slot < side.batch; ++slot) {
        using byte = typename std::remove_pointer<decltype(bytes)>::type;
        options.knows(tt::matrix_view<byte>{bytes + side.at + slot * side.step, side.rows,
                                            side.row_bytes,
                                            side.rows > 1 ? side.stride : side.row_bytes});
      }
    };
    tell_side(content_.in, static_cast<const unsigned char*>(data()));
    tell_side(content_.out, data());
    tell_side(content_.copy, data());
    tell_array(options, content_.array_in, content_.in_element,
               static_cast<const unsigned char*>(data()));
    tell_array(options, content_.array_out, content_.out_element, data());
    options.knows(data() + content_.temp_at, content_.temp_bytes);
    if (content_.has_pointers) {
      const unsigned char* const bytes = data();
      options.knows(bytes + content_.ins_at, 8 * content_.in.batch);
      options.knows(bytes + content_.outs_at, 8 * content_.in.batch);
    }
  }

  // The first byte that is wrong, in words; empty where all are right.
  std::string find_wrong(const test_case& c) const {
    for (unsigned at = 0; at < content_.bytes; ++at) {
      const int expected = final_byte(content_, at);
      if (expected == anything || expected == data()[at]) { continue; }
      std::ostringstream words;
      words << describe_place(c, at) << " is " << unsigned{data()[at]} << " and should be "
            << expected;
      return words.str();
    }
    return "";
  }

 private:
  // Every byte of an array, as few regions of rows that are equally long and equally far apart.
  template <class Byte>
  static void tell_array(tt::emulator_options& options, const array_side& side, unsigned element,
                         Byte* bytes) {
    std::vector<unsigned> places;
    unsigned index[most_axes] = {};
    for (unsigned i = 0; i < count_elements(side); ++i) {
      places.push_back(place_of(side, index));
      for (unsigned k = side.rank; k-- > 0 && ++index[k] == side.extents[k];) { index[k] = 0; }
    }
    std::sort(places.begin(), places.end());
    std::vector<std::pair<unsigned, unsigned>> rows;  // where they start, and bytes
    for (const unsigned at : places) {
      if (!rows.empty() && at <= rows.back().first + rows.back().second) {
        rows.back().second = at + element - rows.back().first;
      } else {
        rows.emplace_back(at, element);
      }
    }
    for (std::size_t first = 0; first < rows.size();) {
      const auto stride_to = [&](std::size_t i) { return rows[i].first - rows[i - 1].first; };
      std::size_t end = first + 1;
      while (end < rows.size() && rows[end].second == rows[first].second &&
             stride_to(end) == stride_to(first + 1)) {
        ++end;
      }
      const std::size_t stride = end - first > 1 ? stride_to(first + 1) : rows[first].second;
      options.knows(tt::matrix_view<Byte>{bytes + rows[first].first, end - first,
                                          rows[first].second, stride});
      first = end;
    }
  }

  image& content_;
  std::vector<unsigned char> memory_;
};

std::uint64_t bytes_of(const place& side) {
  return std::uint64_t{side.batch} * side.rows * side.row_bytes;
}

// What is wrong with a case; empty where nothing is.
std::string run(test_case c) {
  const case_memory memory(c.memory);
  cpu::device& device = cpu::this_device();
  device = {};
  device.starts_together = c.starts_together;
  device.multiprocessors = c.multiprocessors;
  device.shared_bytes = c.shared_bytes;
  memory.tell(device.options);
  const cudaError_t pending = c.error_pending ? cudaErrorInvalidDevice : cudaSuccess;
  device.pending = pending;
  const cudaError_t status = make_call(c, memory.data(), nullptr);
  std::ostringstream words;
  if (status != (c.refused ? cudaErrorInvalidValue : cudaSuccess)) {
    words << "  returned " << status << '\n';
  }
  if (device.pending != pending) { words << "  the earlier error is gone\n"; }
  const std::string wrong = memory.find_wrong(c);
  if (!wrong.empty()) { words << "  " << wrong << '\n'; }
  if (device.faults != 0) { words << "  faults:\n" << device.last.table(); }
  if (c.memory.what == change::none && device.launches != 0) { words << "  it was launched\n"; }
  // Out of place no byte is written twice; vectors may be copied.
  const std::uint64_t all =
      bytes_of(c.memory.out) + bytes_of(c.memory.copy) +
      std::uint64_t{count_elements(c.memory.array_out)} * c.memory.out_element;
  if (c.memory.what != change::none && !is_in_place(c.on.which) && device.launches != 0 &&
      device.stored != all) {
    words << "  stored " << device.stored << " bytes instead of " << all << '\n';
  }
  return words.str();
}

int run_all(const options& asked, const char* program) {
  using clock = std::chrono::steady_clock;
  const catalogue targets(all_targets());
  const auto start = clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  std::cout << "seed " << asked.seed << std::endl;
  std::uint64_t done = 0;
  while (done < asked.cases && (asked.seconds == 0 || elapsed() < asked.seconds)) {
    const test_case c = generate(asked.seed, asked.first + done, targets, tiny);
    if (asked.describes) { std::cout << describe(c) << std::endl; }
    const std::string wrong = run(c);
    if (!wrong.empty()) {
      std::cout << "WRONG: " << describe(c) << '\n'
                << wrong << "repeat it with: " << program << " --seed " << asked.seed << " --case "
                << c.number << std::endl;
      return 1;
    }
    ++done;
  }
  std::cout << done << " cases in " << elapsed() << " s, all right" << std::endl;
  return done > 0 ? 0 : 1;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  try {
    return fuzz::run_all(fuzz::read_options(argc, argv), argv[0]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\nusage: " << argv[0] << fuzz::usage;
    return 2;
  }
}
