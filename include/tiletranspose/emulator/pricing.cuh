// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What one request of a warp costs. Shared memory is priced by the same `request_ways` that the compiler
/// evaluates; global memory by the sectors it touches.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/emulator/report.cuh>

#include <cstdint>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The accesses that the lanes of one warp make together.
struct warp_request {
  std::uint32_t lanes = 0;  ///< bit l: lane l takes part
  int bytes = 0;            ///< of each lane's access
  std::uint64_t addresses[32];

  bool takes_part(int lane) const { return (lanes >> lane & 1) != 0; }
};

inline void price_shared(const warp_request& request, bank_model model, access_report& report) {
  // Lanes that are served together; wider accesses go in phases (banks.cuh).
  const int fit = model.banks * model.bank_width / request.bytes;
  const int together = fit < model.request_lanes ? fit : model.request_lanes;
  int worst = 0;
  for (int first = 0; first < 32; first += together) {
    const int ways = request_ways(
        [&](int lane) -> long long {
          return request.takes_part(first + lane)
                     ? static_cast<long long>(request.addresses[first + lane])
                     : -1;
        },
        request.bytes, model, together);
    report.cycles += static_cast<std::uint64_t>(ways);
    report.least_cycles += ways > 0;
    worst = ways > worst ? ways : worst;
  }
  report.sum_ways += static_cast<std::uint64_t>(worst);
  report.worst_ways = worst > report.worst_ways ? worst : report.worst_ways;
}

inline void price_global(const warp_request& request, access_report& report) {
  std::uint64_t sectors[64];  // each that is touched, once
  std::uint32_t touched[64];  // and which of its bytes
  int count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!request.takes_part(lane)) { continue; }
    // An access that straddles two sectors, which only a misaligned one can, touches both.
    const std::uint64_t end = request.addresses[lane] + static_cast<unsigned>(request.bytes);
    for (std::uint64_t at = request.addresses[lane]; at < end;) {
      const std::uint64_t sector = at / sector_bytes;
      const unsigned from = at % sector_bytes;
      const std::uint64_t sector_end = (sector + 1) * sector_bytes;
      const auto taken = static_cast<unsigned>((end < sector_end ? end : sector_end) - at);
      int found = count - 1;
      while (found >= 0 && sectors[found] != sector) { --found; }
      if (found < 0) {
        found = count++;
        sectors[found] = sector;
        touched[found] = 0;
      }
      touched[found] |= static_cast<std::uint32_t>(((std::uint64_t{1} << taken) - 1) << from);
      at += taken;
    }
  }
  int distinct = 0;
  for (int i = 0; i < count; ++i) {
    for (std::uint32_t left = touched[i]; left != 0; left &= left - 1) { ++distinct; }
  }
  report.sectors += static_cast<std::uint64_t>(count);
  report.least_sectors += static_cast<std::uint64_t>((distinct + sector_bytes - 1) / sector_bytes);
}

/// Adds a request to what is known of its site.
inline void price(const warp_request& request, bank_model model, access_report& report) {
  int lanes = 0;
  for (std::uint32_t left = request.lanes; left != 0; left &= left - 1) { ++lanes; }
  ++report.requests;
  report.total_bytes += static_cast<std::uint64_t>(lanes * request.bytes);
  if (report.is_shared()) {
    price_shared(request, model, report);
  } else {
    price_global(request, report);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
