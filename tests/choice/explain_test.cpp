// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What tt::explain says, without CUDA. That it says what calls launch is compared where the table of choices is made.

#include <tiletranspose/explain.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace {

template <class T>
T* at(int bit, std::size_t offset = 0) {
  return reinterpret_cast<T*>((std::uintptr_t{1} << bit) + offset);
}

}  // namespace

namespace {
// The header shows this explanation.
void check_shown(const tt::explanation& explained) {
  const std::string text = tt::to_string(explained);
  std::string shown;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) { shown += "///     " + line + '\n'; }
  std::ifstream file(EXPLAIN_HEADER);
  const std::string header{std::istreambuf_iterator<char>(file), {}};
  INFO(text);
  REQUIRE(file.good());
  CHECK(header.find(shown) != std::string::npos);
}
}  // namespace

TEST_CASE("explain: the examples that explain.cuh shows") {
  check_shown(tt::explain(at<float>(40), at<const float>(45), 4096, 4096));
  check_shown(
      tt::explain_permute(at<float>(40), at<const float>(45), {30, 8, 7, 5, 6}, {4, 3, 1, 2, 0}));
}

TEST_CASE("explain: what is refused, and by which rule") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
  const auto refused = [](const tt::explanation& e, const char* why) {
    CHECK(e.answer == tt::explained::refuses);
    CHECK(e.launches == 0);
    CHECK(tt::to_string(e).find(why) != std::string::npos);
  };
  const float* const nothing = nullptr;
  refused(tt::explain(out, nothing, 3, 4), "null");
  refused(tt::explain(at<float>(40, 2), in, 3, 4), "alignment");
  refused(tt::explain(out, static_cast<const float*>(out + 11), 3, 4), "share a byte");
  refused(tt::explain(out, in, std::size_t{1} << 40, std::size_t{1} << 40), "overflow");
  refused(tt::explain(out, 11, in, 12, 3, 4, 2), "batch stride");
  refused(
      tt::explain(tt::matrix_view<float>{out, 3, 4, 3}, tt::matrix_view<const float>{in, 4, 3, 3}),
      "stride is shorter");
  refused(
      tt::explain(tt::matrix_view<float>{out, 4, 4, 4}, tt::matrix_view<const float>{in, 4, 3, 3}),
      "shapes");
  float* const* const outs = at<float*>(40);
  refused(tt::explain(outs, at<const float*>(40, 8), 3, 4, 2), "arrays of pointers");
}

TEST_CASE("explain: what of fused calls and of calls in place is refused, and by which rule") {
  using floats = tt::matrix_view<float>;
  const auto refused = [](const tt::explanation& e, const char* why) {
    CHECK(e.answer == tt::explained::refuses);
    CHECK(e.launches == 0);
    CHECK(tt::to_string(e).find(why) != std::string::npos);
  };
  const floats out{at<float>(40), 3, 4, 4};
  const floats in{at<float>(45), 4, 3, 3};
  const floats copy{at<float>(46), 4, 3, 3};
  CHECK(tt::explain_transform(out, in).answer == tt::explained::launches);
  CHECK(tt::explain_dual(copy, out, in).answer == tt::explained::launches);
  refused(tt::explain_transform(floats{at<float>(40, 1), 3, 4, 4}, in), "alignment");
  refused(tt::explain_transform(floats{out.data, 3, 4, 3}, in), "stride is shorter");
  refused(tt::explain_transform(out, 11, in, 12, 2), "batch stride");
  refused(tt::explain_accumulate(floats{in.data, 3, 4, 4}, in), "share a byte");
  refused(tt::explain_dual(floats{nullptr, 4, 3, 3}, out, in), "second output");
  refused(tt::explain_dual(floats{copy.data, 3, 4, 4}, out, in), "second output");
  refused(tt::explain_dual(floats{in.data, 4, 3, 3}, out, in), "second output");
  refused(tt::explain_inplace(in), "square");
  refused(tt::explain_inplace(floats{nullptr, 3, 3, 3}), "null");
  refused(tt::explain_inplace(floats{at<float>(40, 2), 3, 3, 3}), "alignment");
  refused(tt::explain_inplace(floats{in.data, 3, 3, 2}, tt::symmetry::flip_lr),
          "stride is shorter");
  constexpr std::size_t huge = std::size_t{1} << 40;
  refused(tt::explain_inplace(floats{in.data, huge, huge, huge}), "overflow");
  refused(tt::explain_inplace(at<char>(46), 11, in.data, 3, 4), "scratch");
  refused(tt::explain_inplace(in.data, 1 << 20, in.data, 3, 4), "scratch");
}

TEST_CASE("explain: fused calls and calls in place") {
  using floats = tt::matrix_view<float>;
  const auto square = [](std::size_t side) { return floats{at<float>(40), side, side, side}; };
  const auto rule_of = [](const tt::explanation& e) { return std::string(e.rule); };
  const tt::matrix_view<unsigned char> bytes{at<unsigned char>(46), 4096, 8192, 8192};
  const floats tall{at<float>(45), 8192, 4096, 4096};
  const tt::explanation fused = tt::explain_transform(bytes, tall);
  CHECK(std::string(fused.mover) == "fused tile");
  CHECK(fused.launches == 1);
  CHECK(fused.blocks == 4096 * 8192 / (fused.tile_rows * fused.tile_cols));
  CHECK(tt::explain_transform(bytes, 8192 * 4096, tall, 8192 * 4096, 70000).launches == 2);
  CHECK(std::string(tt::explain_transform(square(40), square(40)).rule) == "refused");
  CHECK(rule_of(tt::explain_inplace(square(300))) == "little work");
  CHECK(rule_of(tt::explain_inplace(square(4096))) == "whole squares");
  CHECK(rule_of(tt::explain_inplace(square(4097))) == "any squares");
  CHECK(rule_of(tt::explain_inplace(square(1))) == "nothing to do");
  CHECK(rule_of(tt::explain_inplace(square(4096), tt::symmetry::flip_lr)) == "reversed rows");
  const tt::explanation odd =
      tt::explain_inplace(floats{at<float>(40), 4097, 4096, 5000}, tt::symmetry::rotate_180);
  CHECK(odd.launches == 2);
  CHECK(rule_of(tt::explain_inplace(floats{at<float>(40), 1, 1 << 20, 1 << 20},
                                    tt::symmetry::flip_lr)) == "reversed rows");
  const auto with_scratch = [&](std::size_t scratch) {
    return rule_of(tt::explain_inplace(at<char>(46), scratch, at<float>(40), 3000, 2000));
  };
  CHECK(with_scratch(24'000'000) == "scratch for the whole matrix");
  CHECK(with_scratch(2'000'000) == "less scratch than the matrix");
  CHECK(with_scratch(1000) == "refused");
}

TEST_CASE("explain: what launches nothing") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
  const tt::explanation empty = tt::explain(out, in, 0, 4);
  CHECK(empty.answer == tt::explained::does_nothing);
  CHECK(empty.launches == 0);
  const tt::explanation vector = tt::explain(out, in, 1, 4);
  CHECK(vector.answer == tt::explained::copies);
  CHECK(std::string(vector.mover) == "copy");
}

TEST_CASE("explain: movers, and devices that choose others") {
  const auto mover_of = [](std::size_t nx, std::size_t ny, std::size_t batch = 1,
                           tt::explained_device device = {}) {
    return std::string(
        tt::explain(at<unsigned char>(40), at<const unsigned char>(45), nx, ny, batch, device)
            .mover);
  };
  CHECK(mover_of(16384, 16384) == "tile");
  CHECK(mover_of(300, 300) == "little work by tiles");
  CHECK(mover_of(4, 300) == "little work by elements");
  CHECK(mover_of(1 << 20, 33) == "word-shifted panel");
  CHECK(mover_of(1 << 20, 32) == "vectorised panel");
  CHECK(mover_of(251, 253, 1000) == "word-shifted panel");
  CHECK(mover_of(251, 253, 1000, {64 * 1024}) == "gathered panel");
  const tt::explanation flip = tt::explain(
      tt::matrix_view<float>{at<float>(40), 5000, 3001, 3001},
      tt::matrix_view<const float>{at<const float>(45), 5000, 3001, 3001}, tt::symmetry::flip_lr);
  CHECK(std::string(flip.mover) == "rows");
}

TEST_CASE("explain: permutes, by the axes that are left") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
  const auto text = [](const tt::explanation& e) {
    const std::string all = tt::to_string(e);
    return all.substr(0, all.find('\n'));
  };
  const auto mover = [](const tt::explanation& e) { return std::string(e.mover); };
  const auto rule = [](const tt::explanation& e) { return std::string(e.rule); };

  const tt::explanation images = tt::explain_permute(out, in, {640, 56, 56, 3}, {0, 3, 1, 2});
  CHECK(text(images) == "640 x 3136 x 3 elements of 4 bytes, axes 0 2 1");
  CHECK(mover(images) == "gathered panel");
  CHECK(images.launches == 1);
  CHECK(images.axes[2].in_stride == 1);
  CHECK(images.axes[2].out_stride == 3136);

  const tt::explanation heads = tt::explain_permute(out, in, {2, 12, 2048, 64}, {0, 2, 1, 3});
  CHECK(text(heads) == "2 x 12 x 2048 x 64 elements of 4 bytes, axes 0 2 1 3");
  CHECK(rule(heads) == "one fastest axis");
  CHECK(heads.load_bytes == 16);

  CHECK(text(tt::explain_permute(out, in, {20, 30, 40, 50}, {3, 0, 2, 1})) ==
        "20 x 30 x 40 x 50 elements of 4 bytes, axes 3 0 2 1");

  const tt::explanation cube = tt::explain_permute(out, in, {9, 2048, 64}, {1, 0, 2});
  CHECK(mover(cube) == "rows");
  CHECK(cube.launches == 1);

  const tt::explanation tiles = tt::explain_permute(out, in, {30, 4, 5, 6, 300}, {4, 3, 2, 1, 0});
  CHECK(mover(tiles) == "tiles along several axes");
  CHECK(tiles.tile_sides[0].count == 1);
  CHECK(tiles.tile_sides[0].axes[0] == 0);
  CHECK(tiles.tile_sides[1].axes[0] == 4);

  const tt::explanation same = tt::explain_permute(out, in, {4, 1, 5}, {0, 2, 1});
  CHECK(same.answer == tt::explained::copies);
  CHECK(text(same) == "20 elements of 4 bytes, axes 0");
  CHECK(text(tt::explain_permute(out, in, {1, 1}, {1, 0})) == "1 elements of 4 bytes, axes 0");
  CHECK(rule(tt::explain_permute(out, in, {2, 2, 2, 2}, {3, 2, 1, 0})) == "short axes");
  // Elements that follow each other in the output are stored together where they come from the same places everywhere.
  const tt::explanation shuffled = tt::explain_permute(out, in, {3, 2, 2, 44, 96}, {0, 3, 1, 4, 2});
  CHECK(rule(shuffled) == "short axes");
  CHECK(shuffled.load_bytes == 4);
  CHECK(shuffled.store_bytes == 16);
  const tt::explanation odd = tt::explain_permute(out, in, {3, 3, 3, 44, 96}, {0, 3, 1, 4, 2});
  CHECK(rule(odd) == "short axes");
  CHECK(odd.store_bytes == 4);
  const tt::explanation groups = tt::explain_permute(out, in, {2, 9, 7, 5, 64}, {2, 1, 0, 3, 4});
  CHECK(groups.load_bytes == 16);
  CHECK(groups.store_bytes == 16);
  struct many {
    char bytes[49];
  };
  CHECK(rule(tt::explain_permute(at<many>(40), at<const many>(45), {30, 40, 50, 60},
                                 {3, 2, 1, 0})) == "many accesses");

  // With strides: a matrix rotated by 90 degrees, and a row that is given to all rows.
  CHECK(text(tt::explain_permute(out, {1, 100}, in, {100, -1}, {50, 100})) ==
        "50 x 100 elements of 4 bytes, axes 1 0");
  CHECK(text(tt::explain_permute(out, {100, 1}, in, {0, 1}, {50, 100})) ==
        "50 x 100 elements of 4 bytes, axes 0 1");
  CHECK(tt::explain_permute(out, {100, 1}, in, {0, 1}, {0, 100}).answer ==
        tt::explained::does_nothing);
}

TEST_CASE("explain: permutes with a function on the way") {
  unsigned char* const out = at<unsigned char>(40);
  const float* const in = at<const float>(45);
  const tt::explanation fused =
      tt::explain_transform_permute(out, in, {64, 224, 224, 30}, {0, 3, 1, 2});
  CHECK(std::string(fused.mover) == "fused tile");
  CHECK(fused.launches == 1);
  const tt::explanation tiles =
      tt::explain_transform_permute(out, in, {30, 56, 56, 3}, {3, 2, 1, 0});
  CHECK(std::string(tiles.mover) == "tiles along several axes");
  CHECK(tiles.load_bytes == 4);
  CHECK(tiles.store_bytes == 1);
  const tt::explanation same = tt::explain_transform_permute(out, in, {30, 56}, {0, 1});
  CHECK(std::string(same.rule) == "one fastest axis");
  CHECK(same.answer == tt::explained::launches);
}

TEST_CASE("explain: what of permutes is refused, and by which rule") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
  const auto refused = [](const tt::explanation& e, const char* why) {
    CHECK(e.answer == tt::explained::refuses);
    CHECK(e.launches == 0);
    CHECK(tt::to_string(e).find(why) != std::string::npos);
  };
  const float* const nothing = nullptr;
  refused(tt::explain_permute(out, in, {3, 4}, {1, 1}), "axes repeat");
  refused(tt::explain_permute(out, in, {3, 4}, {0, 2}), "3 x 4 elements of 4 bytes\nrule");
  refused(tt::explain_transform_permute(out, in, {3, 4}, {-1, 0}), "axes repeat");
  refused(tt::explain_permute(out, nothing, {3, 4}, {1, 0}), "null");
  refused(tt::explain_permute(at<float>(40, 1), in, {3, 4}, {1, 0}), "alignment");
  refused(tt::explain_permute(out, static_cast<const float*>(out + 11), {3, 4}, {1, 0}),
          "between their first and last");
  refused(tt::explain_permute(out, {1, 3}, static_cast<const float*>(out + 12), {-4, 1}, {3, 4}),
          "between their first and last");
  constexpr std::size_t huge = std::size_t{1} << 40;
  refused(tt::explain_permute(out, in, {huge, huge}, {1, 0}), "overflow");
  refused(tt::explain_permute(out, {1, 2}, in, {4, 1}, {3, 4}), "does not step over");
  refused(tt::explain_permute(out, in, {2, 2, 2, 2, 2, 2, 2, 2, 2}, {8, 7, 6, 5, 4, 3, 2, 1, 0}),
          "more than 8 axes");
}
