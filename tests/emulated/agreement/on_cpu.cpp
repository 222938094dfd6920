// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the bank model and the emulator say of the cases, one JSON object a line. Fails where a result is
// wrong, where the emulator finds a fault, or where the two disagree.

#include "../cuda_on_cpu.hpp"

#include "cases.cuh"

#include <cstdio>
#include <cstring>

namespace {

void print(const char* name, const tt::access_report& access, const char* end) {
  std::printf(
      "\"%s\": {\"requests\": %llu, \"ways\": %d, \"cycles\": %llu, \"conflicts\": %llu, "
      "\"sectors\": %llu, \"least_sectors\": %llu, \"bytes\": %llu}%s",
      name, static_cast<unsigned long long>(access.requests), access.worst_ways,
      static_cast<unsigned long long>(access.cycles),
      static_cast<unsigned long long>(access.conflicts),
      static_cast<unsigned long long>(access.sectors),
      static_cast<unsigned long long>(access.least_sectors),
      static_cast<unsigned long long>(access.total_bytes), end);
}

}  // namespace

int main() {
  int wrong = 0;
  for (const agreement::kernel_case& one : agreement::cases()) {
    const std::size_t bytes = one.nx * one.ny * one.element_bytes;
    std::vector<unsigned char> content(bytes);
    agreement::fill(content);
    tt::emulated_buffer<unsigned char> in(bytes);
    tt::emulated_buffer<unsigned char> out(bytes);
    std::memcpy(in.data(), content.data(), bytes);
    cpu::device& device = cpu::this_device();
    device = {};
    device.options.knows(static_cast<const unsigned char*>(in.data()), bytes).knows(out);
    // Lanes of a pattern store the same bytes to one place: no result depends on which is last.
    device.options.checks = one.expects != agreement::kernel_case::result::pattern;
    const bool right = one.launch(out.data(), in.data(), one.nx, one.ny) && device.launches == 1 &&
                       device.faults == 0 && agreement::is_right(one, out.data(), in.data());
    const tt::emulation_report& report = device.last;
    const int stores = report.shared_stores().worst_ways;
    const int loads = report.shared_loads().worst_ways;
    const bool agrees = one.model.stores + one.model.loads == 0 ||
                        (one.model.stores == stores && one.model.loads == loads);
    std::printf(
        "{\"name\": \"%s\", \"nx\": %zu, \"ny\": %zu, \"element\": %zu, "
        "\"model_stores\": %d, \"model_loads\": %d, ",
        one.name.c_str(), one.nx, one.ny, one.element_bytes, one.model.stores, one.model.loads);
    print("global_loads", report.global_loads(), ", ");
    print("global_stores", report.global_stores(), ", ");
    print("shared_loads", report.shared_loads(), ", ");
    print("shared_stores", report.shared_stores(), "}\n");
    if (!right || !agrees) {
      std::fprintf(stderr, "%s: %s\n%s", one.name.c_str(),
                   right ? "the model says something else" : "wrong", report.table().c_str());
      ++wrong;
    }
  }
  return wrong == 0 ? 0 : 1;
}
