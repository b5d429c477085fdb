#pragma once
// Results against references, and what several families draw alike.

#include "hk/conv2d.h"
#include "tests/conv2d/reference.h"
#include "tests/fuzz/case.h"

namespace hk::fuzz {

// What is wrong of `got`, whose places are named by number; empty where nothing is.
std::string compare(DataType type, const std::vector<double> &got, const std::vector<double> &value,
                    const std::vector<double> &magnitude, int64_t terms,
                    const ActivationOptions &activation = {Activation::none});

// A floating-point type of kernels, f32 as often as the others.
DataType draw_type(Random &random);

Layout draw_layout(Random &random);

// Of the activations with numbers that they are used with; a hostile case spoils them.
void draw_activation(Case &c, Activation last, Activation &activation, float &alpha, float &beta);

// Spoils one axis' sizes, or the batch, so that they are around 2^31 and the output is small.
void widen(Case &c, Conv2dProblem &p);

// A row of the family, of which every fourth case meets the conditions.
std::span<const Constraint> draw_conditions(Case &c, std::span<const KernelInfo> kernels);

// A convolution, valid; of a hostile case sometimes widened. Operations are at most some 10^5, with
// a row's conditions 10^6.
Conv2dProblem draw_convolution(Case &c, DataType type, Layout layout,
                               std::span<const KernelInfo> kernels);

// A hostile case spoils them.
void spoil(Case &c, const Conv2dProblem &problem, Conv2dOptions &o);

// What no call may take, of options that one took; empty where there is nothing.
std::string accepted(const Conv2dOptions &options);

// Whether the reference can be asked: the problem is small.
bool small(const Conv2dProblem &problem);

}  // namespace hk::fuzz
