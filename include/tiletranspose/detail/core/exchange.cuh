// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How the registers of `Lanes` lanes trade their words. Two orders of Lanes * N words are meant throughout:
///
///     blocked    register i of lane l holds word l * N + i
///     striped    register i of lane l holds word i * Lanes + l
///
/// A shuffle moves one register per lane, and each lane may name the lane it reads but not the register.
/// Hence three steps lead from one order to the other: every lane rotates its registers so that words for
/// different lanes stand in one register, one shuffle per register, and every lane rotates its registers
/// again. A rotation by a number that differs from lane to lane is a barrel shifter: rounds of selects.
/// Source: Catanzaro, Keller, Garland, "A decomposition for in-place matrix transposition", PPoPP 2014,
/// for a matrix of N rows (registers) and Lanes columns; restated here for Lanes a power of two. Where N is
/// a multiple of Lanes, squares are transposed bit by bit instead, which takes fewer selects.
///
/// The selects decide the speed. A multiprocessor issues four instructions in a cycle, of which two can be
/// logic, such as selects, and two multiply-adds; a shuffle takes the time of two (H200). Hence rounds of three
/// ways, which are fewer, and multiply-adds that other lanes leave out in the place of selects.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

// ---------------------------------------------------- inside one lane

/// `which != 0 ? a : b`, as one select. Said in assembly, because the compiler makes a branch of many
/// selects that ask the same question, and moves the shuffles between them into both of its arms, where
/// every one of them then waits for the warp to come together (nvcc 13.0).
TILETRANSPOSE_FUNCTION unsigned choose(unsigned which, unsigned a, unsigned b) {
#if TILETRANSPOSE_ON_DEVICE
  unsigned result;
  asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\tselp.b32 %0, %1, %2, p;\n\t}"
      : "=r"(result)
      : "r"(a), "r"(b), "r"(which));
  return result;
#else
  return which != 0 ? a : b;
#endif
}

/// 1, but to the compiler any number: it makes a multiply-add by 1 an addition, a move or a select, all of which
/// go to the pipeline for logic.
TILETRANSPOSE_FUNCTION unsigned unknown_one() {
#if TILETRANSPOSE_ON_DEVICE
  unsigned lanes_above;
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(lanes_above));
  return 1 + (lanes_above & 1);  // lane 0 is above none
#else
  return 1;
#endif
}

/// a + b by a multiply-add.
TILETRANSPOSE_FUNCTION unsigned add(unsigned a, unsigned b) {
#if TILETRANSPOSE_ON_DEVICE
  unsigned sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(unknown_one()), "r"(b));
  return sum;
#else
  return a + b;
#endif
}

/// `word` becomes `other` where `which != 0`, by a multiply-add that the other lanes leave out. A copy is saved
/// where nobody reads the old `word` afterwards.
TILETRANSPOSE_FUNCTION void replace_if(unsigned which, unsigned& word, unsigned other) {
#if TILETRANSPOSE_ON_DEVICE
  asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p mad.lo.u32 %0, %1, %3, 0;\n\t}"
      : "+r"(word)
      : "r"(other), "r"(which), "r"(unknown_one()));
#else
  word = which != 0 ? other : word;
#endif
}

/// `word` becomes `next` where `once != 0`, but `second` where `twice != 0` as well: a choice of three by one
/// select that the other lanes leave out. A copy is saved as above.
TILETRANSPOSE_FUNCTION void replace_if(unsigned once, unsigned twice, unsigned& word, unsigned next,
                                       unsigned second) {
#if TILETRANSPOSE_ON_DEVICE
  asm("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %3, 0;\n\tsetp.ne.u32 q, %4, 0;\n\t"
      "@p selp.b32 %0, %2, %1, q;\n\t}"
      : "+r"(word)
      : "r"(next), "r"(second), "r"(once), "r"(twice));
#else
  word = once == 0 ? word : twice != 0 ? second : next;
#endif
}

/// A word whose lower half is `half`. The upper one is left to the compiler, which else takes an instruction to clear it.
TILETRANSPOSE_FUNCTION unsigned half_word(unsigned short half) {
#if TILETRANSPOSE_ON_DEVICE
  unsigned word;
  asm("{\n\t.reg .b16 any;\n\tmov.b32 %0, {%1, any};\n\t}" : "=r"(word) : "h"(half));
  return word;
#else
  return half;
#endif
}

/// How many ways the first round of a rotation by less than `limit` has: there are as few rounds as will do, those
/// of three ways first, and as few of them as will do. For 7 and 8, three rounds of two ways take no longer than
/// two of three ways with their copies.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned first_radix(unsigned limit) {
  unsigned threes = 1, twos = 1;
  while (threes < limit) {
    threes *= 3;
    twos *= 2;
  }
  return twos < limit && limit != 7 && limit != 8 ? 3 : 2;
}

/// Whether all rounds have three ways.
TILETRANSPOSE_HOST_DEVICE constexpr bool only_threes(unsigned limit) {
  while (limit > 1 && first_radix(limit) == 3) { limit = (limit + 2) / 3; }
  return limit == 1;
}

/// The lanes, as bits, that rotate by at least `least` steps of `place` words in a round of `radix` ways.
template <class Rotation>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned lanes_that_rotate(unsigned place, unsigned radix,
                                                               unsigned least) {
  unsigned result = 0;
  for (unsigned rank = 0; rank < Rotation::lanes; ++rank) {
    if (Rotation::amount(rank) / place % radix >= least) { result |= 1u << rank; }
  }
  return result;
}

/// words[i] becomes words[(i + a) % N], where a = Rotation::amount(rank) in the lane of that rank; with Back,
/// words[(i + a) % N] becomes words[i].
/// \tparam Rotation  `lanes`; `amount`, a constexpr function of the rank, less than `limit`; `spares_logic`, true
///               where the pipeline for logic has much else to do
/// \param self   1 << rank
template <class Rotation, bool Back, unsigned Limit = Rotation::limit, unsigned Place = 1, int N>
TILETRANSPOSE_FUNCTION void rotate(unsigned (&words)[N], unsigned self) {
  if constexpr (Limit > 1) {
    constexpr unsigned radix = first_radix(Limit);
    constexpr unsigned distance = Back ? N - Place : Place;
    constexpr unsigned cycles = common_divisor(N, distance);
    // So that both pipelines are busy: of so many words in a round of two ways one takes a select, and of so many
    // in a round of three ways one takes two multiply-adds. The numbers are the fastest of those tried (H200).
    constexpr unsigned selects = Rotation::spares_logic ? N : 3;
    constexpr unsigned sums = Rotation::spares_logic ? 2 : only_threes(Rotation::limit) ? 6 : N + 1;
    constexpr unsigned lanes_once = lanes_that_rotate<Rotation>(Place, radix, 1);
    constexpr unsigned lanes_twice = lanes_that_rotate<Rotation>(Place, radix, 2);
    const unsigned once = self & lanes_once;
    const unsigned twice = self & lanes_twice;
    unsigned old[N];
    copy_bytes(old, words, sizeof old);
    TILETRANSPOSE_UNROLL
    for (unsigned first = 0; first < cycles; ++first) {
      // In this order a word is replaced when those before it, which take its old value, are done.
      TILETRANSPOSE_UNROLL
      for (unsigned step = 0; step < N / cycles; ++step) {
        const unsigned i = (first + step * distance) % N;
        const unsigned next = old[(i + distance) % N];
        const unsigned second = old[(i + 2 * distance) % N];
        if (radix == 2) {
          if (step % selects == 0) {
            words[i] = choose(once, next, old[i]);
          } else {
            replace_if(once, words[i], next);
          }
        } else if (step >= 2 && step % sums == sums - 1) {
          replace_if(once, words[i], next);
          replace_if(twice, words[i], second);
        } else {
          if (step < 2) { words[i] = add(old[i], 0); }
          replace_if(once, twice, words[i], next, second);
        }
      }
    }
    rotate<Rotation, Back, (Limit + radix - 1) / radix, Place * radix>(words, self);
  }
}

/// words[i] and words[i ^ which] trade places; N is a power of two above `which`.
template <int Step = 1, int N>
TILETRANSPOSE_FUNCTION void trade_places(unsigned (&words)[N], unsigned which) {
  if constexpr (Step < N) {
    const unsigned trades = which & Step;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < N; ++i) {
      if ((i & Step) == 0) {
        const unsigned old = words[i ^ Step];
        words[i ^ Step] = choose(trades, words[i], old);
        replace_if(trades, words[i], old);
      }
    }
    trade_places<2 * Step>(words, which);
  }
}

// ---------------------------------------------------- between lanes

/// `Lanes` consecutive lanes of a warp, from a multiple of Lanes on.
template <int Lanes>
struct lane_group {
  unsigned first;  ///< lane of the warp
  unsigned rank;   ///< 0 .. Lanes - 1

  /// What the lane of rank `from` % Lanes hands in.
  TILETRANSPOSE_FUNCTION unsigned fetch(unsigned word, unsigned from) const {
    return shuffle(word, Lanes == 32 ? from : first | (from % Lanes));
  }
};

/// One bit of the lane's number and one of the part's number in a word, `Width` bytes each part, trade
/// places: the 2 x 2 parts of two lanes that differ in bit `Step` are transposed. Two words travel in one.
template <int Step, int Width, int N>
TILETRANSPOSE_FUNCTION void swap_parts(unsigned lane, unsigned (&words)[N]) {
  static_assert(Width == 1 || Width == 2, "");
  constexpr bool bytes = Width == 1;
  const unsigned upper = lane & Step;
  if constexpr (N > 1) {
    // Lower lanes send their odd parts, upper lanes their even ones.
    const unsigned sent = choose(upper, bytes ? 0x6420 : 0x5410, bytes ? 0x7531 : 0x7632);
    const unsigned first = choose(upper, bytes ? 0x3514 : 0x3254, bytes ? 0x5240 : 0x5410);
    const unsigned second = choose(upper, bytes ? 0x3716 : 0x3276, bytes ? 0x7260 : 0x7610);
    TILETRANSPOSE_UNROLL
    for (int i = 0; i + 1 < N; i += 2) {
      const unsigned got = shuffle_xor(pick_bytes(words[i], words[i + 1], sent), Step);
      words[i] = pick_bytes(words[i], got, first);
      words[i + 1] = pick_bytes(words[i + 1], got, second);
    }
  }
  if constexpr (N % 2 != 0) {
    const unsigned kept = choose(upper, bytes ? 0x3715 : 0x3276, bytes ? 0x6240 : 0x5410);
    words[N - 1] = pick_bytes(words[N - 1], shuffle_xor(words[N - 1], Step), kept);
  }
}

/// One bit of the lane's number and one of the register's number trade places.
template <int Step, int Distance, int N>
TILETRANSPOSE_FUNCTION void swap_registers(unsigned lane, unsigned (&words)[N]) {
  const unsigned upper = lane & Step;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < N; ++i) {
    if (i % (2 * Distance) < Distance && i + Distance < N) {
      const unsigned got = shuffle_xor(choose(upper, words[i], words[i + Distance]), Step);
      replace_if(upper, words[i], got);
      words[i + Distance] = choose(upper, words[i + Distance], got);
    }
  }
}

/// Transposes the Lanes x Lanes squares of items of `Bytes` bytes that Lanes lanes hold packed, one square behind the other:
/// item Lanes * j + i of lane l becomes item Lanes * j + l of lane i. Bits below `End` of the lane's number take part.
template <int End, int Bytes, int Step = 1, int N>
TILETRANSPOSE_FUNCTION void transpose_squares(unsigned lane, unsigned (&words)[N]) {
  if constexpr (Step < End) {
    if constexpr (Step * Bytes < 4) {
      swap_parts<Step, Step * Bytes>(lane, words);
    } else {
      swap_registers<Step, Step * Bytes / 4>(lane, words);
    }
    transpose_squares<End, Bytes, 2 * Step>(lane, words);
  }
}

/// N items of `Bytes` bytes, 1 or 2, that fit one word. Every lane fetches the word of each of its items and
/// picks the item out of it. What lies in a word above the item means nothing.
template <bool ToStriped, int Bytes, int Lanes, int N>
TILETRANSPOSE_FUNCTION void travel_in_word(lane_group<Lanes> lanes, unsigned word,
                                           unsigned (&items)[N]) {
  static_assert(N * Bytes <= 4, "");
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < N; ++i) {
    const unsigned element = ToStriped ? i * Lanes + lanes.rank : lanes.rank * N + i;
    const unsigned from = ToStriped ? element / N : element % Lanes;
    const unsigned item = ToStriped ? element % N : element / Lanes;
    items[i] = pick_bytes(lanes.fetch(word, from), 0, Bytes == 1 ? item : 0x22 * item + 0x10);
  }
}

/// The three steps for N words in each of `Lanes` lanes. On the striped side lanes may answer to other
/// numbers: with Share > 1, lane p is number p % Share * (Lanes / Share) + p / Share.
/// \tparam Packed  words are packed from items and unpacked again, which is logic
template <int Lanes, int N, int Share, bool Packed = false>
struct word_route {
  static constexpr unsigned common = common_divisor(N, Lanes);
  static constexpr unsigned rows = N / common;        // of registers that share a first rotation
  static constexpr unsigned period = Lanes / common;  // lanes that share a first rotation
  static constexpr unsigned inverse = inverse_modulo(rows % period, period);
  /// Where N divides Lanes, rotations are exclusive ors and the lanes to read differ in fixed bits.
  static constexpr bool by_bits = Lanes % N == 0;

  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned striped_number(unsigned rank) {
    return rank % Share * (Lanes / Share) + rank / Share;
  }
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned rank_of(unsigned number) {
    return Share == 1 ? number
                      : number % (Lanes / Share) * Share + number % Lanes / (Lanes / Share);
  }
  /// Scaled, a number lies in the highest bits, where whole Lanes drop out, and times Share in the lowest, where
  /// the highest of the former complete the rank.
  static constexpr unsigned scale = Share == 1 ? 1 : 0xffffffffu / Lanes + 1 + Share;
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned rank_of_scaled(unsigned scaled) {
    if constexpr (Share == 1) {
      return scaled;
    } else {
      return scaled + scaled / (0xffffffffu / Share + 1);
    }
  }
  template <bool Striped>
  struct rotation_of {
    static constexpr unsigned lanes = Lanes;
    static constexpr unsigned limit = !Striped ? common : N < Lanes ? N : Lanes;
    static constexpr bool spares_logic = Packed;
    TILETRANSPOSE_HOST_DEVICE static constexpr unsigned amount(unsigned rank) {
      return Striped ? striped_number(rank) % N : rank / period;
    }
  };
  /// The register, among those rotated last, that striped word i comes from in lane number 0.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned place(unsigned i) {
    return (i * Lanes + N - i / rows) % N;
  }

  template <bool ToStriped>
  TILETRANSPOSE_FUNCTION static void travel(lane_group<Lanes> lanes, unsigned (&words)[N]) {
    if constexpr (by_bits) {
      const unsigned number = striped_number(lanes.rank);
      const unsigned rotation = lanes.rank / period;
      trade_places(words, ToStriped ? rotation : number % N);
      const unsigned from = ToStriped ? number % N * period + number / N
                                      : rank_of(rotation + lanes.rank % period * N);
      TILETRANSPOSE_UNROLL
      for (unsigned k = 0; k < N; ++k) {
        words[k] = lanes.fetch(words[k], from ^ (ToStriped ? k * period : rank_of(k)));
      }
      trade_places(words, ToStriped ? number % N : rotation);
    } else if constexpr (ToStriped) {
      const unsigned number = striped_number(lanes.rank);
      rotate<rotation_of<false>, false>(words, 1u << lanes.rank);
      TILETRANSPOSE_UNROLL
      for (unsigned first = 0; first < common; ++first) {
        const unsigned borrows = number % common < first ? 1 : 0;
        const unsigned from_rotation = (number - first) * period;
        TILETRANSPOSE_UNROLL
        for (unsigned row = 0; row < rows; ++row) {
          const unsigned k = first + common * row;
          const unsigned borrowed = choose(borrows, row + 1 == rows ? inverse - 1 : inverse, 0);
          const unsigned from =
              add(row * (period - inverse) % period, number / common * inverse - borrowed);
          // With one rotation only, `fetch` cuts the number to its range.
          words[k] = lanes.fetch(words[k], common == 1 ? from : from_rotation | from % period);
        }
      }
      rotate<rotation_of<true>, false>(words, 1u << lanes.rank);
      unsigned old[N];
      copy_bytes(old, words, sizeof old);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < N; ++i) { words[i] = old[place(i)]; }
    } else {
      const unsigned rotation = lanes.rank / period;
      unsigned old[N];
      copy_bytes(old, words, sizeof old);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < N; ++i) { words[place(i)] = old[i]; }
      rotate<rotation_of<true>, true>(words, 1u << lanes.rank);
      const unsigned from = (lanes.rank * N + rotation) * scale;
      TILETRANSPOSE_UNROLL
      for (unsigned k = 0; k < N; ++k) {
        const unsigned wrapped = k + common > N && k + rotation >= N ? N * scale : 0;
        words[k] = lanes.fetch(words[k], rank_of_scaled(add(k % Lanes * scale, from - wrapped)));
      }
      rotate<rotation_of<false>, true>(words, 1u << lanes.rank);
    }
  }
};

/// Transposes the 8 x 8 matrix of 2-byte parts that a warp holds, lane l parts 2 (l % 4) and the next of row
/// l / 4; in the bits of a part's place: (l4 l3 l2) and (l1 l0 half) trade places.
TILETRANSPOSE_FUNCTION unsigned transpose_8x8(unsigned word) {
#if TILETRANSPOSE_ON_DEVICE
  unsigned result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(word));
  return result;
#else
  const unsigned lane = lane_index();
  const unsigned row = lane % 4 * 8 + lane / 8;
  const unsigned first = shuffle(word, row);
  const unsigned second = shuffle(word, row + 4);
  return pick_bytes(first, second, lane / 4 % 2 != 0 ? 0x7632 : 0x5410);
#endif
}

/// 16 bytes of items of 1 or 2 bytes in each of 32 lanes: `transpose_8x8` of each word takes the place of one
/// round between lanes and parts. A round costs half a shuffle and one and a half permutes a word, and the
/// selects around it keep the pipeline for permutes busy; movmatrix is as fast as a shuffle. For other numbers of
/// items the bit that movmatrix brings into a part's place belongs elsewhere.
///
/// The bits of element e = (e7 .. e0) of 2-byte items: before, lane e7 .. e3, word e2 e1, half e0; after
/// transpose_8x8, lane (e4 e3 e0 e7 e6), word e2 e1, half e5; then word and the last two bits of the lane trade
/// places. 1-byte items have one bit more: lane (e5 e4 e1 e8 e7), word e3 e2, byte e6 e0; e5 and e0 trade too.
template <bool ToStriped, int Bytes>
TILETRANSPOSE_FUNCTION void travel_by_matrix(lane_group<32> lanes, unsigned (&words)[4]) {
  constexpr unsigned shift = Bytes == 2 ? 1 : 2;  // of the word's bits in a striped lane's number
  const unsigned lane = lanes.rank;
  const auto transpose_each = [&] {
    TILETRANSPOSE_UNROLL
    for (unsigned& word : words) { word = transpose_8x8(word); }
  };
  if constexpr (ToStriped) { transpose_each(); }
  if constexpr (ToStriped && Bytes == 1) { swap_parts<16, 1>(lane, words); }
  trade_places(words, (ToStriped ? lane : lane >> shift) % 4);
  // The lane in which a striped lane finds its words, but for its last two bits; and back.
  const unsigned there =
      Bytes == 2 ? (lane & 24) | (lane & 1) << 2 | (lane >> 1 & 3)
                 : (lane & 1) << 4 | (lane & 16) >> 1 | (lane & 2) << 1 | (lane >> 2 & 3);
  const unsigned back = Bytes == 2
                            ? (lane & 24) | (lane & 3) << 1 | (lane >> 2 & 1)
                            : lane >> 4 | (lane & 8) << 1 | (lane >> 1 & 2) | (lane & 3) << 2;
  TILETRANSPOSE_UNROLL
  for (unsigned k = 0; k < 4; ++k) {
    words[k] = lanes.fetch(words[k], ToStriped ? there ^ k : back ^ (k << shift));
  }
  trade_places(words, (ToStriped ? lane >> shift : lane) % 4);
  if constexpr (!ToStriped && Bytes == 1) { swap_parts<16, 1>(lane, words); }
  if constexpr (!ToStriped) { transpose_each(); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
