// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the library launches for one slice of the types of elements; SLICE says which.

#include "table.hpp"

#include <utility>

namespace choice {

template <int Bytes, int Alignment>
struct alignas(Alignment) element {
  unsigned char bytes[Bytes];
};

template <class Out>
struct convert {
  template <class T>
  Out operator()(const T&) const {
    return Out{};
  }
  template <class T>
  Out operator()(const T&, const Out& old) const {
    return old;
  }
};

template <class T>
void add_transposes(groups& all) {
  group to{group_name<T>("transpose"), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 70; ++i) {
    const problem p = pick_problem(random, sizeof(T), i % 3 == 0);
    const tt::matrix_view<const T> in{at<const T>(45, p.in_offset), p.ny, p.nx, p.in_stride};
    const tt::matrix_view<T> out{at<T>(46, p.out_offset), p.nx, p.ny, p.out_stride};
    add_line(
        to, random, p.text(), [&] { return tt::transpose(out, in); },
        [&](auto device) { return tt::explain(out, in, device); });
  }
  for (int i = 0; i < 50; ++i) {
    const problem p = pick_batch(random, sizeof(T), i % 4 == 0);
    T* const out = at<T>(46, p.out_offset);
    const T* const in = at<const T>(45, p.in_offset);
    const std::size_t in_step = p.nx * p.ny + p.in_gap;
    const std::size_t out_step = p.nx * p.ny + p.out_gap;
    add_line(
        to, random, p.text(),
        [&] { return tt::transpose_batched(out, out_step, in, in_step, p.nx, p.ny, p.batch); },
        [&](auto device) {
          return tt::explain(out, out_step, in, in_step, p.nx, p.ny, p.batch, device);
        });
  }
  for (int i = 0; i < 10; ++i) {
    const problem p = pick_batch(random, sizeof(T), false);
    T* const* const outs = at<T*>(46, 0);
    const T* const* const ins = at<const T*>(45, 0);
    add_line(
        to, random, p.text() + ", pointers",
        [&] { return tt::transpose_batched(outs, ins, p.nx, p.ny, p.batch); },
        [&](auto device) { return tt::explain(outs, ins, p.nx, p.ny, p.batch, device); });
  }
  all.push_back(to);
}

template <class T>
void add_symmetries(groups& all) {
  group to{group_name<T>("reorient"), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 40; ++i) {
    const auto s = static_cast<tt::symmetry>(i % 8);
    problem p = pick_problem(random, sizeof(T), i % 3 == 0);
    const std::string what = "symmetry " + std::to_string(i % 8) + ", ";
    if (i % 5 != 0) {
      if (!tt::transposes(s)) { p.out_stride += p.nx > p.ny ? p.nx - p.ny : 0; }
      const tt::matrix_view<const T> in{at<const T>(45, p.in_offset), p.ny, p.nx, p.in_stride};
      const tt::matrix_view<T> out{at<T>(46, p.out_offset), tt::transposes(s) ? p.nx : p.ny,
                                   tt::transposes(s) ? p.ny : p.nx, p.out_stride};
      add_line(
          to, random, what + p.text(), [&] { return tt::reorient(out, in, s); },
          [&](auto device) { return tt::explain(out, in, s, device); });
    } else {
      p = pick_batch(random, sizeof(T), false);
      add_line(to, random, what + p.text() + (i % 10 == 0 ? ", pointers" : ""), [&] {
        return i % 10 == 0
                   ? tt::reorient_batched(at<T*>(46, 0), at<const T*>(45, 0), p.nx, p.ny, p.batch,
                                          s)
                   : tt::reorient_batched(at<T>(46, p.out_offset), at<const T>(45, p.in_offset),
                                          p.nx, p.ny, p.batch, s);
      });
    }
  }
  all.push_back(to);
}

template <class T>
void add_in_place(groups& all) {
  group to{group_name<T>("in place"), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 24; ++i) {
    const auto s = static_cast<tt::symmetry>(i % 8);
    problem p = pick_problem(random, sizeof(T), true);
    if (tt::transposes(s)) { p.ny = p.nx; }
    const tt::matrix_view<T> data{at<T>(46, p.out_offset), p.ny, p.nx, p.in_stride};
    const std::string text = "symmetry " + std::to_string(i % 8) + ", " + p.text();
    const auto call = [&] { return tt::reorient_inplace(data, s); };
    // Not of squares, nor of a half rotation by two launches, whose blocks may differ.
    if (tt::transposes(s) || (s == tt::symmetry::rotate_180 && p.ny % 2 == 1)) {
      add_line(to, random, text, call);
    } else {
      add_line(to, random, text, call, [&](auto) { return tt::explain_inplace(data, s); });
    }
  }
  for (int i = 0; i < 16; ++i) {
    problem p = pick_problem(random, sizeof(T), false);
    if (i % 4 == 0) {  // one side a multiple of the other
      p.nx = random.between(1, 3000);
      p.ny = p.nx * random.between(2, 20);
    }
    std::size_t bytes = 0;
    (void)tt::transpose_inplace(nullptr, bytes, at<T>(46, 0), p.nx, p.ny);
    const std::size_t whole = p.nx * p.ny * sizeof(T);
    if (i % 3 == 1 && bytes < whole) { bytes += random.between(0, whole - bytes); }
    if (i % 8 == 2) { bytes = whole; }
    add_line(to, random, p.text() + ", scratch " + std::to_string(bytes), [&] {
      return tt::transpose_inplace(at<T>(45, p.in_offset), bytes, at<T>(46, p.out_offset), p.nx,
                                   p.ny);
    });
  }
  all.push_back(to);
}

template <class In, class Out>
void add_fused(groups& all, const char* name) {
  group to{group_name<In>(name), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 18; ++i) {
    const problem p = pick_problem(random, sizeof(In), i % 3 == 0);
    const tt::matrix_view<const In> in{at<const In>(45, p.in_offset), p.ny, p.nx, p.in_stride};
    const tt::matrix_view<Out> out{at<Out>(46, p.out_offset), p.nx, p.ny, p.out_stride};
    const tt::matrix_view<Out> copy{at<Out>(44, p.in_offset), p.ny, p.nx, p.in_stride};
    const convert<Out> op{};
    const char* const kinds[] = {"transform, ", "accumulate, ", "dual, "};
    add_line(
        to, random, kinds[i % 3] + p.text(),
        [&] {
          return i % 3 == 0   ? tt::transform_transpose(out, in, op)
                 : i % 3 == 1 ? tt::accumulate_transpose(out, in, op)
                              : tt::transform_transpose_dual(copy, out, in, op);
        },
        [&](auto device) {
          return i % 3 == 0   ? tt::explain_transform(out, in, device)
                 : i % 3 == 1 ? tt::explain_accumulate(out, in, device)
                              : tt::explain_dual(copy, out, in, device);
        });
  }
  all.push_back(to);
}

#if SLICE > 4
template <class In, class Out>
void add_fused_batches(groups& all, const char* name) {
  group to{group_name<In>(name), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 24; ++i) {
    const problem p = pick_batch(random, sizeof(In), i % 3 == 0);
    const tt::matrix_view<const In> in{at<const In>(45, p.in_offset), p.ny, p.nx, p.in_stride};
    const tt::matrix_view<Out> out{at<Out>(46, p.out_offset), p.nx, p.ny, p.out_stride};
    const std::size_t in_step = p.nx * p.ny + p.in_gap;
    const std::size_t out_step = p.nx * p.ny + p.out_gap;
    add_line(
        to, random, p.text(),
        [&] {
          return tt::transform_transpose_batched(out, out_step, in, in_step, p.batch,
                                                 convert<Out>{});
        },
        [&](auto device) {
          return tt::explain_transform(out, out_step, in, in_step, p.batch, device);
        });
  }
  all.push_back(to);
}
#endif

template <class T>
void add_explicit(groups& all) {
  group to{group_name<T>("explicit"), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 8; ++i) {
    const problem p = pick_problem(random, sizeof(T), i % 2 == 0);
    const tt::matrix_view<const T> in{at<const T>(45, p.in_offset), p.ny, p.nx, p.in_stride};
    const tt::matrix_view<T> out{at<T>(46, p.out_offset), p.nx, p.ny, p.out_stride};
    add_line(to, random, "16 x 16, " + p.text(), [&] { return tt::transpose<T, 16, 16>(out, in); });
    if constexpr (sizeof(T) <= 32) {
      add_line(to, random, "32 x 8, " + p.text(), [&] { return tt::transpose<T, 32, 8>(out, in); });
    }
  }
  all.push_back(to);
}

// Few elements and many, along axes of all lengths, which change places at random.
template <class T, std::size_t Rank>
void add_permute(group& to, numbers& random) {
  std::size_t extents[Rank];
  int axes[Rank];
  std::size_t left = std::size_t{1} << random.between(10, 28);
  for (std::size_t k = 0; k < Rank; ++k) {
    const std::size_t step = random.any_of({1, 1, 4, 16});
    const std::size_t high = random.any_of({4, 24, 130, 1000});
    const std::size_t side = random.between(1, high < left ? high : left);
    extents[k] = (side + step - 1) / step * step;
    left = left / extents[k] + 1;
    axes[k] = static_cast<int>(k);
  }
  extents[random.between(0, Rank - 1)] *= random.between(1, left);
  for (std::size_t k = Rank - 1; k > 0; --k) { std::swap(axes[k], axes[random.between(0, k)]); }
  std::string what;
  for (const std::size_t extent : extents) {
    what += (what.empty() ? "" : " x ") + std::to_string(extent);
  }
  what += ", axes";
  for (const int axis : axes) { what += ' ' + std::to_string(axis); }
  T* const out = at<T>(46, pick_offset(random));
  const T* const in = at<const T>(45, pick_offset(random));
  add_line(
      to, random, what, [&] { return tt::permute(out, in, extents, axes); },
      [&](auto device) { return tt::explain_permute(out, in, extents, axes, device); });
}
template <class T>
void add_permutes(groups& all) {
  group to{group_name<T>("permute"), {}};
  numbers random = numbers_of(to.name);
  for (int i = 0; i < 20; ++i) {
    add_permute<T, 3>(to, random);
    add_permute<T, 4>(to, random);
    add_permute<T, 6>(to, random);
  }
  all.push_back(to);
}

template <int Bytes, int Alignment>
void add_type(groups& all) {
  using type = element<Bytes, Alignment>;
  add_transposes<type>(all);
  add_symmetries<type>(all);
  add_in_place<type>(all);
  add_explicit<type>(all);
  add_permutes<type>(all);
  add_fused<type, type>(all, "to the same");
  if constexpr (Bytes > 1) { add_fused<type, unsigned char>(all, "to bytes"); }
  if constexpr (Bytes == 2 || Bytes == 4 || Bytes == 8) {
    add_fused<type, element<2 * Bytes, 2 * Alignment>>(all, "to twice the size");
    add_fused<type, element<Bytes / 2, (Alignment + 1) / 2>>(all, "to half the size");
  }
}

#if SLICE == 0
void add_slice_0(groups& all) {
  add_type<1, 1>(all);
  add_type<2, 2>(all);
  add_type<2, 1>(all);
  add_type<3, 1>(all);
}
#elif SLICE == 1
void add_slice_1(groups& all) {
  add_type<4, 4>(all);
  add_type<4, 1>(all);
  add_type<5, 1>(all);
  add_type<6, 2>(all);
}
#elif SLICE == 2
void add_slice_2(groups& all) {
  add_type<7, 1>(all);
  add_type<8, 8>(all);
  add_type<8, 4>(all);
  add_type<9, 1>(all);
}
#elif SLICE == 3
void add_slice_3(groups& all) {
  add_type<10, 2>(all);
  add_type<12, 4>(all);
  add_type<16, 16>(all);
  add_type<16, 8>(all);
}
#elif SLICE == 4
void add_slice_4(groups& all) {
  add_type<14, 2>(all);
  add_type<20, 4>(all);
  add_type<24, 8>(all);
  add_type<31, 1>(all);
}
#else
void add_slice_5(groups& all) {
  add_type<28, 4>(all);
  add_type<32, 16>(all);
  add_type<48, 16>(all);
  add_type<64, 16>(all);
  add_fused_batches<element<2, 2>, element<2, 2>>(all, "batches to the same");
  add_fused_batches<element<2, 2>, element<1, 1>>(all, "batches to half the size");
  add_fused_batches<element<4, 4>, element<4, 4>>(all, "batches to the same");
  add_fused_batches<element<4, 4>, element<2, 2>>(all, "batches to half the size");
  add_fused_batches<element<8, 8>, element<8, 8>>(all, "batches to the same");
}
#endif

}  // namespace choice
