#pragma once
// Winograd's convolution F(4x4, 3x3), in the index letters of generators/image_layout.h: 3x3
// filters with strides and dilations of 1, in tiles t of 4x4 outputs, which are 36 products a
// channel where the definition has 144.
//
//   U(k, c, i, j) = sum over s, r of G(i, s) * G(j, r) * weight(c, s, r, k)
//   V(c, i, j, t) = sum over p, q of B(i, p) * B(j, q)
//                       * input(c, 4 * tx + p - padding_left, 4 * ty + q - padding_top, n)
//   M(k, i, j, t) = sum over c of U(k, c, i, j) * V(c, i, j, t)
//   output(k, 4 * tx + u, 4 * ty + v, n) = activation(bias(k) + residual(k, …)
//       + sum over i, j of A(u, i) * A(v, j) * M(k, i, j, t))
//
// G, B and A interpolate at 0, a, -a, b, -b and infinity (Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, 2015). To first order, with u = 2^-24 (Barabasz and others, Error
// Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2020, 4),
//   |result - output| <= (channels + 26) * u * |A| (sum over c of |G||w||G| * |B||d||B|) |A|
//                     <= (channels + 26) * u * 161 * max |input| * sum of |weight(c, s, r, k)|
// where 26 are the roundings of the transforms and 161 is the largest growth over a tile and the
// places of a filter. Points of short fractions, with which A and B are exact in f32: of multiples
// of 1/8 a = 5/8, b = 13/8 grow least. Rejected: 1 and 2, which need fewer multiplications where
// there are none fused, and grow 861.

#include <array>
#include <functional>
#include <vector>

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

constexpr int kWinogradTile = 4;                 // outputs
constexpr int kWinogradPoints = 6;               // inputs, and products
constexpr int kWinogradChannels = kFilterBlock;  // that lie next to each other in V

// A line of six or three values transformed along itself.
using WinogradLine = std::function<Halide::Expr(int)>;
std::vector<Halide::Expr> winograd_input(const WinogradLine &line);
std::vector<Halide::Expr> winograd_filter(const WinogradLine &line);
std::vector<Halide::Expr> winograd_output(const WinogradLine &line);

// U in f32, innermost first [ki, c, i, j, ko, g], zeros past the last filter of a group.
struct Conv2dWinogradFilter {
    Halide::Var ki{"ki"}, ko{"ko"}, j{"j"};
    Halide::Func packed, columns, output;  // packed: as generators/conv2d/conv2d_filter.h says
};
// `neighbours`: filters, not channels, may be next to each other in the weight.
Conv2dWinogradFilter conv2d_winograd_filter(const Halide::Func &weight, const Halide::Expr &filters,
                                            bool neighbours = false);

struct Conv2dWinogradOperands : Conv2dOperands {
    Halide::Expr batch;
};

// Tiles of all images are one line, in blocks of `tiles`: t = to * tiles + ti.
//   patch(c, p, q, t, g): the input of a tile, zero past the last channel
//   input(ci, ti, co, i, j, to, g): V, c = co * kWinogradChannels + ci
//   product(k, ti, i, j, to, g): M, its sum over c
//   output: an update over d.x = u, d.y = v, d.z = t, each element once; in nchw by way of back,
//     the steps of a transposition of filters and columns
struct Conv2dWinograd {
    Halide::Var ci{"ci"}, co{"co"}, ti{"ti"}, to{"to"}, j{"j"}, p{"p"}, u{"u"}, v{"v"};
    Conv2dWinogradFilter filter;  // undefined Funcs where an operand is U
    Halide::Func patch, columns, input, start, product, rows, tile, activated, output;
    std::vector<Halide::Func> back;
    Halide::RDom channels, d;
};
// The operands have U in place of the packed weight, or a weight.
Conv2dWinograd conv2d_winograd(const Conv2dWinogradOperands &operands, const Conv2dLayout &layout,
                               int tiles);

}  // namespace hk::generators
