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

/// Ways of the lanes [first, first + count) if they are served together; 0 where none takes part.
inline int ways_together(const warp_request& request, int first, int count) {
  constexpr int banks = 32;
  int used[banks] = {};
  int worst = 0;
  for (int lane = first; lane < first + count; ++lane) {
    // Aligned accesses of one width are the same words or have none in common.
    bool seen = !request.takes_part(lane);
    for (int other = first; !seen && other < lane; ++other) {
      seen = request.takes_part(other) && request.addresses[other] == request.addresses[lane];
    }
    for (int byte = 0; !seen && byte < request.bytes; byte += 4) {
      int& bank = used[(request.addresses[lane] + static_cast<unsigned>(byte)) / 4 % banks];
      worst = ++bank > worst ? bank : worst;
    }
  }
  return worst;
}

/// True where each pair of lanes (l, l ^ bit) agrees on one address, or one of them takes no part.
inline bool pairs_agree(const warp_request& request, int first, int count, int bit) {
  for (int lane = first; lane < first + count; ++lane) {
    const int other = lane ^ bit;
    if (request.takes_part(lane) && request.takes_part(other) &&
        request.addresses[lane] != request.addresses[other]) {
      return false;
    }
  }
  return true;
}

/// True where two phases of a load that follow each other are served in one cycle if they do not conflict: the
/// halves of a warp for 8 bytes, of a half-warp for 16. All pairs of lanes (l, l ^ 1) or all (l, l ^ 2) agree,
/// which whole warps that walk over a tile never do; but for the first half-warp of a warp that does not take
/// part as a whole, it matters alone that lane 31 takes none.
inline bool go_together(const warp_request& request, int first, int count) {
  const bool first_half = first == 0 && count == 16;
  if (first_half && request.lanes != 0xffffffff) { return !request.takes_part(31); }
  return pairs_agree(request, first, count, 1) || pairs_agree(request, first, count, 2);
}

/// Lanes are served together until they fill all banks, and wider accesses go in phases (banks.cuh). Phases of
/// loads come in twos: `go_together` says which of them share a cycle, and where the pairs of the whole warp
/// agree, it is the two as one whose ways count as conflicts. Measured, not documented (NVIDIA H200,
/// 2026-11-21): cycles and conflicts of 764 loads of 16 bytes, each by some or all lanes to any addresses, are
/// exactly these, as are the cycles of 168 loads of 8 bytes and, all phases apart, of 84 stores of 8 and 16.
inline void price_shared(const warp_request& request, bank_model model, access_report& report) {
  const int fit = model.banks * model.bank_width / request.bytes;
  const int together = fit < model.request_lanes ? fit : model.request_lanes;
  const bool in_twos = !report.is_store() && request.bytes > 4 && model.bank_width == 4;
  const bool all_agree =
      in_twos && (pairs_agree(request, 0, 32, 1) || pairs_agree(request, 0, 32, 2));
  int worst = 0;
  int cycles = 0;
  int conflicts = 0;
  int previous = 0;
  for (int first = 0; first < 32; first += together) {
    const int ways = request_ways(
        [&](int lane) -> long long {
          return request.takes_part(first + lane)
                     ? static_cast<long long>(request.addresses[first + lane])
                     : -1;
        },
        request.bytes, model, together);
    worst = ways > worst ? ways : worst;
    cycles += ways;
    conflicts += ways > 0 ? ways - 1 : 0;
    if (in_twos && first / together % 2 == 1 && previous > 0 && ways > 0) {
      const int both = first - together;
      const int joint = ways_together(request, both, 2 * together);
      if (joint == 1 && go_together(request, both, 2 * together)) { --cycles; }
      if (all_agree) { conflicts += joint - 1 - (previous - 1) - (ways - 1); }
    }
    previous = ways;
  }
  report.cycles += static_cast<std::uint64_t>(cycles);
  report.conflicts += static_cast<std::uint64_t>(conflicts);
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
