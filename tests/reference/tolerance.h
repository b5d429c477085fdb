#pragma once
// How far a correct kernel's result may lie from the exact one.

#include <array>

#include "hk/activation.h"

namespace hk::reference {

// The bound on |result - value| of an activated sum of `terms` products, whose magnitudes add up to
// `magnitude`, computed in f32 in any order and rounded once to the storage type.
double tolerance(DataType type, int64_t terms, double value, double magnitude,
                 const ActivationOptions &activation = {Activation::none});

// What stands for the terms and their magnitudes where a 3x3 convolution is Winograd's in tiles of
// 4x4 outputs: `growth` times the largest input times the sum of the filter's magnitudes.
// It interpolates at kWinogradPoints and at infinity.
struct WinogradSum {
    int64_t terms;
    double growth;
};
inline constexpr std::array<double, 5> kWinogradPoints = {0, 5. / 8, -5. / 8, 13. / 8, -13. / 8};
WinogradSum winograd_sum(int64_t channels);

// True where the result may stand for the exact value: within the tolerance; or both NaN; or both
// the same infinity, which values beyond the type's range round to.
bool close(DataType type, double result, double value, double tolerance);

}  // namespace hk::reference
