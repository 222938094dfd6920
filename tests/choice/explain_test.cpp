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

void refused(const tt::explanation& e, const char* why) {
  CHECK(e.answer == tt::explained::refuses);
  CHECK(e.launches == 0);
  CHECK(tt::to_string(e).find(why) != std::string::npos);
}

}  // namespace

TEST_CASE("explain: the examples that explain.cuh shows") {
  check_shown(tt::explain(at<float>(40), at<const float>(45), 4096, 4096));
  check_shown(
      tt::explain_permute(at<float>(40), at<const float>(45), {300, 8, 7, 5, 6}, {4, 3, 1, 2, 0}));
}

TEST_CASE("explain: braces are a device, neither a symmetry nor a number of matrices") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
  float* const* const outs = at<float*>(40);
  const float* const* const ins = at<const float*>(45);
  const tt::matrix_view<float> to{out, 30, 40};
  const tt::matrix_view<const float> from{in, 40, 30};
  const auto same = [](const tt::explanation& given, const tt::explanation& expected) {
    CHECK(tt::to_string(given) == tt::to_string(expected));
    CHECK(given.answer == tt::explained::launches);
  };
  same(tt::explain(to, from, {}), tt::explain(to, from));
  same(tt::explain(out, in, 30, 40, {}), tt::explain(out, in, 30, 40));
  same(tt::explain(out, in, 30, 40, 7, {}), tt::explain(out, in, 30, 40, std::size_t{7}));
  same(tt::explain(out, 1300, in, 1200, 30, 40, 7, {}),
       tt::explain(out, 1300, in, 1200, 30, 40, 7));
  same(tt::explain(to, 1200, from, 1200, 7, {}), tt::explain(to, 1200, from, 1200, 7));
  same(tt::explain(outs, ins, 30, 40, 7, {}), tt::explain(outs, ins, 30, 40, 7));
  same(tt::explain(to, from, {std::size_t{48} << 10}),
       tt::explain(to, from, tt::explained_device{std::size_t{48} << 10}));
}

TEST_CASE("explain: what is refused, and by which rule") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
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

TEST_CASE("explain: every form of a batch") {
  constexpr std::size_t nx = 300;
  constexpr std::size_t ny = 200;
  constexpr std::size_t batch = 7;
  constexpr auto turned = tt::symmetry::rotate_90;
  constexpr auto flipped = tt::symmetry::flip_lr;
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
  float* const* const outs = at<float*>(40);
  const float* const* const ins = at<const float*>(45);
  const tt::matrix_view<float> first_out{out, nx, ny, ny};
  const tt::matrix_view<float> flipped_out{out, ny, nx, nx};
  const tt::matrix_view<const float> first_in{in, ny, nx, nx};
  constexpr std::size_t step = nx * ny;

  // A dense batch is one, however it is said.
  const std::string dense = tt::to_string(tt::explain(out, in, nx, ny, batch));
  CHECK(dense.find("300 x 200 elements of 4 bytes, 7 times") != std::string::npos);
  CHECK(tt::to_string(tt::explain(out, step, in, step, nx, ny, batch)) == dense);
  CHECK(tt::to_string(tt::explain(first_out, step, first_in, step, batch)) == dense);
  const std::string turn = tt::to_string(tt::explain(out, in, nx, ny, batch, turned));
  CHECK(tt::to_string(tt::explain(out, step, in, step, nx, ny, batch, turned)) == turn);
  CHECK(tt::to_string(tt::explain(first_out, step, first_in, step, batch, turned)) == turn);
  CHECK(turn.find("tile") != std::string::npos);
  const std::string flip = tt::to_string(tt::explain(out, in, nx, ny, batch, flipped));
  CHECK(tt::to_string(tt::explain(flipped_out, step, first_in, step, batch, flipped)) == flip);
  CHECK(flip.find("rows") != std::string::npos);

  const auto launches = tt::explained::launches;
  CHECK(tt::explain(outs, ins, nx, ny, batch).answer == launches);
  CHECK(tt::explain(outs, ins, nx, ny, batch, turned).answer == launches);
  CHECK(tt::explain(outs, ins, nx, ny, batch, flipped).answer == launches);
  refused(tt::explain(first_out, step - 1, first_in, step, batch), "batch stride");
  refused(tt::explain(out, step - 1, in, step, nx, ny, batch, turned), "batch stride");
  refused(tt::explain(first_out, step, first_in, step, batch, flipped), "shapes");
}

TEST_CASE("explain: what of fused calls and of calls in place is refused, and by which rule") {
  using floats = tt::matrix_view<float>;
  const floats out{at<float>(40), 3, 4, 4};
  const floats in{at<float>(45), 4, 3, 3};
  const floats copy{at<float>(46), 4, 3, 3};
  CHECK(tt::explain_transform(out, in).answer == tt::explained::launches);
  CHECK(tt::explain_dual(copy, out, in).answer == tt::explained::launches);
  struct triple {
    double values[3];
  };
  CHECK(tt::explain_dual(tt::matrix_view<triple>{at<triple>(46), 4, 3, 3},
                         tt::matrix_view<triple>{at<triple>(40), 3, 4, 4}, in)
            .answer == tt::explained::launches);
  refused(tt::explain_transform(floats{at<float>(40, 1), 3, 4, 4}, in), "alignment");
  refused(tt::explain_transform(floats{out.data, 3, 4, 3}, in), "stride is shorter");
  refused(tt::explain_transform(out, 11, in, 12, 2), "batch stride");
  refused(tt::explain_accumulate(floats{in.data, 3, 4, 4}, in), "share a byte");
  refused(tt::explain_dual(floats{nullptr, 4, 3, 3}, out, in), "second output");
  refused(tt::explain_dual(floats{copy.data, 3, 4, 4}, out, in), "second output");
  refused(tt::explain_dual(floats{in.data, 4, 3, 3}, out, in), "second output");
  // Strides of which the bytes overflow.
  refused(tt::explain_dual(floats{copy.data, 4, 3, (std::size_t{1} << 62) + 3}, out, in),
          "second output");
  refused(tt::explain_inplace(in), "square");
  refused(tt::explain_inplace(floats{nullptr, 3, 3, 3}), "null");
  refused(tt::explain_inplace(floats{at<float>(40, 2), 3, 3, 3}), "alignment");
  refused(tt::explain_inplace(floats{in.data, 3, 3, 2}, tt::symmetry::flip_lr),
          "stride is shorter");
  constexpr std::size_t huge = std::size_t{1} << 40;
  refused(tt::explain_inplace(floats{in.data, huge, huge, huge}), "overflow");
  refused(tt::explain_inplace(at<char>(46), 11, in.data, 3, 4), "scratch");
  refused(tt::explain_inplace(nullptr, 0, at<float>(40, 2), 3, 4), "alignment");
  CHECK(tt::explain_inplace(nullptr, 0, in.data, 3, 4).answer == tt::explained::does_nothing);
  refused(tt::explain_inplace(in.data, 1 << 20, in.data, 3, 4), "scratch");
}

TEST_CASE("explain: fused calls and calls in place") {
  using floats = tt::matrix_view<float>;
  const auto square = [](std::size_t side) { return floats{at<float>(40), side, side, side}; };
  const auto rule_of = [](const tt::explanation& e) { return std::string(e.rule); };
  const tt::matrix_view<unsigned char> bytes{at<unsigned char>(46), 4096, 8192, 8192};
  const floats words{at<float>(45), 8192, 4096, 4096};
  const tt::explanation blocks = tt::explain_transform(bytes, words);
  CHECK(rule_of(blocks) == "fused micro-blocks");
  CHECK(std::string(blocks.mover) == "tile");
  CHECK((blocks.tile_rows == 64 && blocks.tile_cols == 64));
  CHECK((blocks.load_bytes == 16 && blocks.store_bytes == 4));
  CHECK(blocks.blocks == 4096 * 8192 / (64 * 64));
  CHECK(blocks.threads == 128);
  const tt::matrix_view<double> tall{at<double>(45), 8192, 4096, 4096};
  const tt::explanation fused = tt::explain_transform(bytes, tall);
  CHECK(std::string(fused.mover) == "fused tile");
  CHECK(fused.launches == 1);
  CHECK(fused.blocks == 4096 * 8192 / (fused.tile_rows * fused.tile_cols));
  CHECK(tt::explain_transform(bytes, 8192 * 4096, tall, 8192 * 4096, 70000).launches == 1);
  const tt::matrix_view<unsigned char> far{at<unsigned char>(52), 4096, 8192, 8192};
  const tt::explanation many = tt::explain_transform(far, 8192 * 4096, tall, 8192 * 4096, 1000000);
  CHECK(many.launches == 2);
  CHECK(many.blocks == 1000000 * fused.blocks);
  CHECK(std::string(tt::explain_transform(square(40), square(40)).rule) == "refused");
  CHECK(rule_of(tt::explain_inplace(square(300))) == "little work");
  CHECK(rule_of(tt::explain_inplace(square(4096))) == "whole squares");
  CHECK(rule_of(tt::explain_inplace(square(4097))) == "any squares");
  // Long rows that start off lines of 128 bytes.
  CHECK(rule_of(tt::explain_inplace(square(16380))) == "any squares");
  CHECK(rule_of(tt::explain_inplace(square(16384))) == "whole squares");
  CHECK(rule_of(tt::explain_inplace(square(1))) == "nothing to do");
  struct alignas(16) quad {
    float of[4];
  };
  const tt::matrix_view<quad> column{at<quad>(40), 5000, 1, 1};
  CHECK(rule_of(tt::explain_inplace(column, tt::symmetry::flip_lr)) == "nothing to do");
  CHECK(rule_of(tt::explain_inplace(column, tt::symmetry::flip_ud)) == "whole accesses");
  CHECK(rule_of(tt::explain_inplace(square(4097), tt::symmetry::flip_lr)) == "reversed rows");
  const tt::explanation halves = tt::explain_inplace(square(4096), tt::symmetry::flip_lr);
  CHECK(rule_of(halves) == "whole accesses");
  CHECK(halves.blocks == 2 * 4096);  // each row is 512 pairs of 16 bytes
  CHECK(rule_of(tt::explain_inplace(square(4097), tt::symmetry::flip_ud)) == "copied rows");
  const tt::explanation odd =
      tt::explain_inplace(floats{at<float>(40), 4097, 4096, 5000}, tt::symmetry::rotate_180);
  CHECK(odd.launches == 2);
  const auto array = [&](std::size_t length) {
    return tt::explain_inplace(floats{at<float>(40), 1, length, length}, tt::symmetry::flip_lr);
  };
  CHECK(rule_of(array(1 << 20)) == "whole accesses");
  CHECK(array(1 << 20).load_bytes == 16);
  CHECK(rule_of(array((1 << 20) + 1)) == "reversed rows");
  // An end inside of a sector: up to 1.8 million pairs of 16 bytes.
  CHECK(rule_of(array(14'399'996)) == "whole accesses");
  CHECK(rule_of(array(14'400'004)) == "reversed rows");
  CHECK(rule_of(array(14'400'008)) == "whole accesses");
  const auto with_scratch = [&](std::size_t scratch) {
    return rule_of(tt::explain_inplace(at<char>(46), scratch, at<float>(40), 3000, 2000));
  };
  CHECK(with_scratch(24'000'000) == "scratch for the whole matrix");
  CHECK(with_scratch(2'000'000) == "less scratch than the matrix");
  CHECK(with_scratch(1000) == "refused");
}

// Sectors are compared with the emulator's in tests/emulated/sectors_test.cpp.
TEST_CASE("explain: what requests ask of memory") {
  const auto memory = [](const tt::explanation& e) {
    const std::string all = tt::to_string(e);
    const std::size_t begin = all.find("memory  ");
    return begin == std::string::npos ? ""
                                      : all.substr(begin + 8, all.find('\n', begin) - begin - 8);
  };
  const std::string times = " times the sectors of the matrices; conflict ways ";
  const auto bytes = [&](std::size_t nx, std::size_t ny, std::size_t batch = 1) {
    return memory(tt::explain(at<unsigned char>(40), at<const unsigned char>(45), nx, ny, batch));
  };
  // Where rows of the output start off sectors, tiles of 128 rows read 32 more; and where those of the input start
  // inside of words, loads are three requests, each of 8.75 sectors where 8 would hold the row.
  CHECK(bytes(16384, 16384) == "reads 1.00 and writes 1.00" + times + "1 filling, 1 draining");
  CHECK(bytes(16384, 16368) == "reads 1.25 and writes 1.00" + times + "1 filling, 1 draining");
  CHECK(bytes(16381, 16411) == "reads 4.11 and writes 1.00" + times + "1 filling, 4 draining");
  CHECK(bytes(1 << 20, 32) ==
        "reads 1.00 and writes 1.00" + times + "up to 5 filling, 5 draining in tests");
  CHECK(bytes(1 << 20, 33) == "reads 1.06 and writes 1.00" + times + "not bounded");
  const tt::matrix_view<unsigned char> columns{at<unsigned char>(40), 500, 1 << 20, 1 << 20};
  const tt::matrix_view<const unsigned char> gaps{at<const unsigned char>(45), 1 << 20, 500, 501};
  CHECK(memory(tt::explain(columns, gaps)) == "writes 1.00" + times + "1 filling, 1 draining");
  // A matrix that a table points to may start anywhere.
  const auto pointers = [](std::size_t side) {
    return tt::explain(at<float* const>(40), at<const float* const>(45), side, side, 1000).memory;
  };
  CHECK(pointers(300).sectors_read > 1.1);
  CHECK(pointers(300).bound == tt::explained_bound::proved);
  // An element of 12 bytes is three requests. Of single elements and of squares in place nothing is said.
  struct twelve {
    float values[3];
  };
  CHECK(memory(tt::explain(at<twelve>(40), at<const twelve>(45), 64, 64)) ==
        "reads 3.00 and writes 3.00" + times + "2 filling, 2 draining");
  CHECK(memory(tt::explain(at<float>(40), at<const float>(45), 4, 300)).empty());
  CHECK(memory(tt::explain_inplace(tt::matrix_view<float>{at<float>(40), 64, 64, 64})).empty());
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
  CHECK(mover_of(251, 253, 1000, {64 * 1024}) == "tile");
  // Panels behind pointers are as large as of a batch, however small one of its matrices is.
  const tt::explanation tables =
      tt::explain(at<float*>(40, 8), at<const float*>(45, 8), 3, 5000, 1000);
  CHECK(std::string(tables.mover) == "gathered panel");
  CHECK(tables.blocks == 3000);
  const tt::explanation flip = tt::explain(
      tt::matrix_view<float>{at<float>(40), 5000, 3001, 3001},
      tt::matrix_view<const float>{at<const float>(45), 5000, 3001, 3001}, tt::symmetry::flip_lr);
  CHECK(std::string(flip.mover) == "rows");
  struct pixel {
    unsigned char rgb[3];
  };
  const auto pixels = [](std::size_t columns) {
    const tt::explanation flipped =
        tt::explain(tt::matrix_view<pixel>{at<pixel>(44), 500000, columns, columns},
                    tt::matrix_view<const pixel>{at<const pixel>(45), 500000, columns, columns},
                    tt::symmetry::flip_lr);
    return std::string(flipped.rule);
  };
  CHECK(pixels(32) == "reversed short rows");
  CHECK(pixels(320) == "reversed short rows");
  CHECK(pixels(333) == "reversed rows");
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
  const auto launch = [](const tt::explanation& e) {
    const std::string all = tt::to_string(e);
    const std::size_t begin = all.find("launch  ");
    return begin == std::string::npos ? ""
                                      : all.substr(begin + 8, all.find('\n', begin) - begin - 8);
  };

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
  // 2 x 2048 x 12 rows of 16 accesses: 256 accesses a block.
  CHECK(launch(heads) == "3072 blocks of 256 threads");

  CHECK(text(tt::explain_permute(out, in, {20, 30, 40, 50}, {3, 0, 2, 1})) ==
        "20 x 30 x 40 x 50 elements of 4 bytes, axes 3 0 2 1");

  // Rows that change places: long ones, and those of whole accesses, are rows, short ones elements as wide as fits them, or
  // go in panels.
  const tt::explanation cube = tt::explain_permute(out, in, {90, 2048, 640}, {1, 0, 2});
  CHECK(mover(cube) == "rows");
  CHECK(rule(cube) == "whole accesses");
  CHECK(cube.load_bytes == 16);
  CHECK(launch(cube) == "115200 blocks of 256 threads");  // 90 x 2048 x 160 accesses
  const tt::explanation short_rows = tt::explain_permute(out, in, {90, 2048, 64}, {1, 0, 2});
  CHECK(rule(short_rows) == "whole accesses");
  CHECK(short_rows.load_bytes == 16);
  // Those of a sector are written along the input, too.
  CHECK(mover(tt::explain_permute(out, in, {90, 2048, 8}, {1, 0, 2})) ==
        "elements along several axes");
  const auto bytes_mover = [&](const std::size_t(&extents)[3]) {
    return mover(tt::explain_permute(reinterpret_cast<unsigned char*>(out),
                                     reinterpret_cast<const unsigned char*>(in), extents,
                                     {1, 0, 2}));
  };
  CHECK(bytes_mover({4001, 3001, 3}) == "word-shifted tiles along several axes");
  CHECK(bytes_mover({4001, 3001, 5}) == "panels along several axes");
  CHECK(bytes_mover({4000, 3000, 64}) == "rows");
  CHECK(bytes_mover({4000, 3000, 32}) == "elements along several axes");
  CHECK(bytes_mover({4000, 3000, 65}) == "panels along several axes");
  CHECK(bytes_mover({300, 300, 81}) == "rows");  // few bytes
  CHECK(bytes_mover({300, 300, 65}) == "little work by elements");
  CHECK(bytes_mover({4000, 3000, 1793}) == "rows");
  // What stays together is an element of a tile: in micro-blocks, whose rows are whole and aligned, or as it is.
  const tt::explanation pixels =
      tt::explain_permute(reinterpret_cast<unsigned char*>(out),
                          reinterpret_cast<const unsigned char*>(in), {4000, 3000, 3}, {1, 0, 2});
  CHECK(rule(pixels) == "micro-blocks of axes");
  CHECK(pixels.load_bytes == 4);
  CHECK(launch(pixels) == "2961 blocks of 128 threads");  // 63 by 47 tiles of 64 x 64 pixels
  const tt::explanation pairs = tt::explain_permute(out, in, {1001, 2001, 4}, {1, 0, 2});
  CHECK(rule(pairs) == "tiles of axes");
  CHECK(pairs.load_bytes == 16);
  // Bytes whose rows and columns start anywhere: 21 tiles of 124 along 33 x 77, and 39 along 97 x 89, 224 rows each.
  const tt::explanation shifted = tt::explain_permute(reinterpret_cast<unsigned char*>(out),
                                                      reinterpret_cast<const unsigned char*>(in),
                                                      {97, 89, 77, 33}, {3, 2, 1, 0});
  CHECK(mover(shifted) == "word-shifted tiles along several axes");
  CHECK(shifted.store_bytes == 16);
  CHECK(launch(shifted) == "819 blocks of 256 threads");
  // Rows that stay where they are, in images of which the input has larger ones: short ones element by element.
  CHECK(mover(tt::explain_permute(out, {38800, 97, 1}, in, {40400, 101, 1}, {500, 400, 97})) ==
        "rows");
  CHECK(mover(tt::explain_permute(out, {1200, 3, 1}, in, {4000, 5, 1}, {5000, 400, 3})) ==
        "little work by elements");
  // Bytes that lie in the words of the output as in the input's are copied, others shifted.
  const auto copied = [&](int offset) {
    return mover(tt::explain_permute(reinterpret_cast<unsigned char*>(out) + offset,
                                     reinterpret_cast<const unsigned char*>(in), {50000000}, {0}));
  };
  CHECK(copied(4) == "copy");
  CHECK(copied(3) == "rows");

  const tt::explanation tiles = tt::explain_permute(out, in, {30, 4, 5, 6, 300}, {4, 3, 2, 1, 0});
  CHECK(mover(tiles) == "tiles along several axes");
  // The side of the output goes on along its memory as long as it ends inside of sectors, three axes at most.
  CHECK(tiles.tile_sides[0].count == 3);
  CHECK(tiles.tile_sides[0].axes[0] == 2);
  CHECK(tiles.tile_sides[0].axes[2] == 0);
  CHECK(tiles.tile_sides[1].count == 2);
  CHECK(tiles.tile_sides[1].axes[0] == 3);
  CHECK(tiles.tile_sides[1].axes[1] == 4);
  // 57 tiles along 6 x 300, and 19 along 5 x 4 x 30.
  CHECK(launch(tiles) == "1083 blocks of 128 threads");
  // A short side goes on wherever its next axis lies: 16 bytes, and 40 times as many, 20 apart.
  const tt::explanation apart = tt::explain_permute(
      reinterpret_cast<unsigned char*>(out), {20, 1, 800},
      reinterpret_cast<const unsigned char*>(in), {16 * 999, 999, 1}, {40, 16, 999});
  CHECK(rule(apart) == "tiles of axes");
  CHECK(apart.tile_sides[0].count == 2);
  CHECK(launch(apart) == "640 blocks of 128 threads");  // 32 along 999, 20 along 16 x 40
  // Elements of 12 bytes are not moved in panels while the L2 cache holds all of them.
  struct triple {
    float of[3];
  };
  const auto triples = [&](std::size_t length) {
    return rule(
        tt::explain_permute(at<triple>(40), at<const triple>(45), {5, length, 5}, {2, 1, 0}));
  };
  CHECK(triples(111848) == "short axes");  // 32 MB are 111848.1
  CHECK(triples(111849) == "panels of axes");
  // 31 x 65536 rows are 63488 tiles: times 65536 they are cut along one axis until a grid holds them.
  auto* const far_out = reinterpret_cast<double*>(std::uintptr_t{1} << 47);
  const auto* const far_in = reinterpret_cast<const double*>(std::uintptr_t{1} << 46);
  CHECK(launch(tt::explain_permute(far_out, far_in, {32, 65536, 65536, 31}, {3, 2, 1, 0})) ==
        "4160749568 blocks of 128 threads in 2 launches");

  const tt::explanation same = tt::explain_permute(out, in, {4, 1, 5}, {0, 2, 1});
  CHECK(same.answer == tt::explained::copies);
  CHECK(text(same) == "20 elements of 4 bytes, axes 0");
  CHECK(text(tt::explain_permute(out, in, {1, 1}, {1, 0})) == "1 elements of 4 bytes, axes 0");
  CHECK(rule(tt::explain_permute(out, in, {2, 2, 2, 2}, {3, 2, 1, 0})) == "short axes");
  CHECK(launch(tt::explain_permute(out, in, {2, 2, 2, 2}, {3, 2, 1, 0})) ==
        "1 blocks of 256 threads");
  // Elements that follow each other in the output are stored together where they come from the same places everywhere.
  const tt::explanation shuffled = tt::explain_permute(out, in, {3, 2, 2, 44, 96}, {0, 3, 1, 4, 2});
  CHECK(rule(shuffled) == "short axes");
  CHECK(shuffled.load_bytes == 4);
  CHECK(shuffled.store_bytes == 16);
  CHECK(launch(shuffled) == "50 blocks of 256 threads");  // for 3 x 2 x 44 x 48 of 16 bytes
  const tt::explanation odd = tt::explain_permute(out, in, {3, 3, 3, 44, 96}, {0, 3, 1, 4, 2});
  CHECK(rule(odd) == "short axes");
  CHECK(odd.store_bytes == 4);
  CHECK(launch(odd) == "446 blocks of 256 threads");  // for 3 x 3 x 96 x 3 x 44
  // Of many elements a thread takes four: 3 x 3 x 45 times 3 blocks for 998 x 3.
  CHECK(launch(tt::explain_permute(out, in, {3, 3, 3, 45, 998}, {0, 3, 1, 4, 2})) ==
        "1215 blocks of 256 threads");
  const tt::explanation groups = tt::explain_permute(out, in, {2, 9, 7, 5, 64}, {2, 1, 0, 3, 4});
  CHECK(groups.load_bytes == 16);
  CHECK(groups.store_bytes == 16);
  struct many {
    char bytes[49];
  };
  const tt::explanation parts =
      tt::explain_permute(at<many>(40), at<const many>(45), {3, 4, 50, 60}, {3, 2, 1, 0});
  CHECK(rule(parts) == "many accesses");
  // Blocks of 256 elements for 3 x 4 x 50 x 60.
  CHECK(launch(parts) == "141 blocks of 256 threads");
  // Of more bytes panels hold whole elements.
  CHECK(rule(tt::explain_permute(at<many>(40), at<const many>(45), {30, 40, 50, 60},
                                 {3, 2, 1, 0})) == "panels of axes");

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
  CHECK(std::string(fused.mover) == "little work by tiles");  // as many as they are
  CHECK(fused.launches == 1);
  const tt::explanation wide =
      tt::explain_transform_permute(out, in, {64, 224, 224, 63}, {0, 3, 1, 2});
  CHECK(std::string(wide.mover) == "fused tile");
  const tt::explanation empty =  // as such tiles would be
      tt::explain_transform_permute(out, in, {64, 224, 224, 41}, {0, 3, 1, 2});
  CHECK(std::string(empty.mover) == "little work by tiles");
  CHECK(std::string(empty.why) == "few elements, or a batch that large tiles do not suit");
  const tt::explanation blocks =
      tt::explain_transform_permute(out, in, {64, 224, 224, 40}, {0, 3, 1, 2});
  CHECK(std::string(blocks.rule) == "fused micro-blocks");
  CHECK((blocks.load_bytes == 16 && blocks.store_bytes == 4));
  const tt::explanation tiles =
      tt::explain_transform_permute(out, in, {30, 56, 56, 3}, {3, 2, 1, 0});
  CHECK(std::string(tiles.mover) == "tiles along several axes");
  CHECK(tiles.load_bytes == 4);
  CHECK(tiles.store_bytes == 1);
  CHECK(tiles.blocks == 318);  // 3 x 56 by 30 x 56
  CHECK(tiles.threads == 128);
  const tt::explanation same = tt::explain_transform_permute(out, in, {30, 56}, {0, 1});
  CHECK(std::string(same.rule) == "one fastest axis");
  CHECK(same.answer == tt::explained::launches);
  CHECK(same.launches == 1);
  CHECK(same.blocks == 7);
}

TEST_CASE("explain: structures and planes") {
  const float* const in = at<const float>(45);
  float* const apart[] = {at<float>(46), at<float>(47), at<float>(48)};
  // A warp takes 4 times 32 structures, a block 8 times as many.
  CHECK(tt::to_string(tt::explain_deinterleave(apart, in, 5000)) ==
        "3 x 5000 elements of 4 bytes\n"
        "mover   planes, loads of 4 bytes, stores of 4\n"
        "launch  5 blocks of 256 threads\n"
        "rule    planes apart: planes do not lie equally far apart: warps move them and the "
        "structures as segments, and lanes exchange elements\n");
  const float* const four[] = {apart[0], apart[1], apart[2], at<const float>(51)};
  const tt::explanation together = tt::explain_interleave(at<float>(45), four, 5000);
  CHECK(together.nx == 5000);
  CHECK(together.ny == 4);
  CHECK(together.load_bytes == 4);
  CHECK(together.store_bytes == 16);
  CHECK(together.blocks == 5);
  CHECK(tt::explain_interleave(at<float>(45, 4), four, 5000).store_bytes == 4);
  // Of bytes, a lane takes 4 structures. A grid takes 4096 (2^29 - 1) of them.
  unsigned char* const bytes[] = {at<unsigned char>(50), at<unsigned char>(52),
                                  at<unsigned char>(53)};
  const auto few = tt::explain_deinterleave(bytes, at<const unsigned char>(58), 5000);
  CHECK(few.blocks == 2);
  const auto many =
      tt::explain_deinterleave(bytes, at<const unsigned char>(58), std::size_t{1} << 42);
  CHECK(many.launches == 3);
  CHECK(many.blocks == std::size_t{1} << 30);

  struct alignas(16) large {
    char bytes[16];
  };
  large* planes[16];
  for (int k = 0; k < 16; ++k) { planes[k] = at<large>(40, std::size_t(k) * k << 20); }
  const tt::explanation wide = tt::explain_deinterleave(planes, at<const large>(45), 100);
  CHECK(std::string(wide.rule) == "large structures");
  CHECK(wide.load_bytes == 16);
  CHECK(wide.blocks == 2);  // 100 structures of 256 bytes, 16384 bytes a block

  // Planes that lie equally far apart are a matrix.
  float* const equal[] = {at<float>(46), at<float>(46, 4000), at<float>(46, 8000)};
  CHECK(tt::to_string(tt::explain_deinterleave(equal, in, 1000)) ==
        tt::to_string(tt::explain(equal[0], in, 3, 1000)));
  CHECK(tt::to_string(tt::explain_interleave(at<float>(45), equal, 1000)) ==
        tt::to_string(tt::explain(at<float>(45), const_cast<const float*>(equal[0]), 1000, 3)));
}

TEST_CASE("explain: what of structures and planes is refused, and by which rule") {
  float* const x = at<float>(40);
  float* const y = at<float>(41);
  const float* const in = at<const float>(45);
  const auto apart = [](float* a, float* b, const float* structs, std::size_t n) {
    float* const planes[] = {a, b};
    return tt::explain_deinterleave(planes, structs, n);
  };
  const auto together = [](float* structs, const float* a, const float* b, std::size_t n) {
    const float* const planes[] = {a, b};
    return tt::explain_interleave(structs, planes, n);
  };
  refused(apart(x, nullptr, in, 50),
          "2 x 50 elements of 4 bytes\nrule    refused: a pointer is null");
  refused(apart(x, y, nullptr, 50), "null");
  refused(together(at<float>(45, 2), x, y, 50),
          "50 x 2 elements of 4 bytes\nrule    refused: a pointer is no multiple");
  refused(apart(x, y, in, std::size_t{1} << 62), "overflow");
  refused(together(at<float>(45), x, y, std::size_t{1} << 61), "overflow");
  refused(apart(x, y, y + 49, 50), "input and output share a byte");
  refused(together(x, y, x + 99, 50), "input and output share a byte");
  refused(apart(x, x + 49, in, 50), "two planes that are written share a byte");
  CHECK(together(x, y, y, 50).answer == tt::explained::launches);
  CHECK(apart(nullptr, y, nullptr, 0).answer == tt::explained::does_nothing);
}

TEST_CASE("explain: what of permutes is refused, and by which rule") {
  float* const out = at<float>(40);
  const float* const in = at<const float>(45);
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
