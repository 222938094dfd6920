// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emulation.hpp"

#include <tiletranspose/emulator.cuh>

namespace gallery {
namespace {

std::optional<int> ways_of(const tt::access_report& access) {
  return access.requests == 0 ? std::nullopt : std::optional<int>(access.worst_ways);
}
std::optional<double> sectors_of(const tt::access_report& access) {
  return access.requests == 0 ? std::nullopt : std::optional<double>(access.sectors_per_request());
}

observation observe(const tt::emulation_report& report) {
  return {ways_of(report.shared_stores()), ways_of(report.shared_loads()),
          sectors_of(report.global_loads()), sectors_of(report.global_stores()),
          report.clean() ? std::string() : report.faults.front().what};
}

}  // namespace

struct emulation::state {
  tt::emulated_buffer<unsigned char> in;
  tt::emulated_buffer<unsigned char> out;
  unsigned long long wrong = 0;
  int bank_width;
  observation seen;
};

emulation::emulation(std::size_t in_bytes, std::size_t out_bytes, int bank_width)
    : state_(new state{tt::emulated_buffer<unsigned char>(in_bytes),
                       tt::emulated_buffer<unsigned char>(out_bytes),
                       0,
                       bank_width,
                       {}}) {}

emulation::~emulation() = default;

workspace emulation::get() {
  return {state_->in.data(),
          state_->out.data(),
          state_->in.size(),
          state_->out.size(),
          &state_->wrong,
          nullptr,
          this};
}

void emulation::run(const emulated_launch& shape,
                    const std::function<void(unsigned char*, unsigned)>& body) {
  tt::emulator_options options;
  options.bank_width = state_->bank_width;
  const unsigned char* const in = state_->in.data();
  options.knows(in, state_->in.size()).knows(state_->out);
  state_->seen = observe(
      tt::emulate(options, tt::emulated_dim(static_cast<unsigned>(shape.blocks)),
                  tt::emulated_dim(static_cast<unsigned>(shape.threads)), shape.shared_bytes,
                  [&](tt::emulated_block block) { body(block.shared(), block.index().x); }));
}

const observation& emulation::seen() const { return state_->seen; }

}  // namespace gallery
