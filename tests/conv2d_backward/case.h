#pragma once
// Random gradients of convolutions, steered by the conditions of a row of the table, and their
// comparison with the reference.

#include "hk/conv2d_backward.h"
#include "tests/convolution/random_problem.h"
#include "tests/support/checked_call.h"

namespace hk::test {

enum class Pass { data, weight, bias };

struct Conv2dBackwardCase : ConvolutionCase {
    explicit Conv2dBackwardCase(Pass pass) : pass(pass) {}

    // Where the gradient lies is `output`; the placements of the two factors are `input` and
    // `weight`.
    Pass pass;
    bool accumulate = false;
    bool infinite_weight = false;  // an infinity is in the weight, too

    std::vector<int64_t> traits() const;
};

template<Pass of>
struct BackwardCase : Conv2dBackwardCase {
    BackwardCase() : Conv2dBackwardCase(of) {}
};
using BackwardDataCase = BackwardCase<Pass::data>;
using BackwardWeightCase = BackwardCase<Pass::weight>;
using BackwardBiasCase = BackwardCase<Pass::bias>;

template<>
std::optional<BackwardDataCase> random_case(uint64_t seed, const Conv2dRequest &request);
template<>
std::optional<BackwardWeightCase> random_case(uint64_t seed, const Conv2dRequest &request);
template<>
std::optional<BackwardBiasCase> random_case(uint64_t seed, const Conv2dRequest &request);

// Of the input's gradient, whether the weight may have an infinity, too: with this padding no tap
// meets the zeros around the output's gradient, which times infinity are NaN.
bool take_infinite_weight(Conv2dBackwardCase &c);

std::string to_string(const Conv2dBackwardCase &c);

// The values of a case, in row-major order of the shapes. `factor`: the weight of `data`, the input
// of `weight`, none of `bias`. `previous`: of the gradient, where it is accumulated.
struct BackwardOperands {
    Shape output_shape, factor_shape, gradient_shape;
    std::vector<double> output_gradient, factor, previous;
};
BackwardOperands backward_operands(const Conv2dBackwardCase &c);

// The places where a packed gradient differs from the reference, in words; empty where there are
// none. `row`: that computed it.
std::string compare(const Conv2dBackwardCase &c, const BackwardOperands &operands,
                    const Tensor &gradient, const KernelInfo *row = nullptr);

// `row` null: what selection takes.
Outcome check(const Conv2dBackwardCase &c, Device device, const KernelInfo *row = nullptr);

std::span<const KernelInfo> rows_of(Pass pass);

// Two kernels of the input's gradient give the same bits, of random grouped problems that are asked
// for: of real numbers a sum in another order would have other bits.
void expect_same_bits(const KernelInfo &first, const KernelInfo &other, Device device,
                      Conv2dRequest request);

}  // namespace hk::test
