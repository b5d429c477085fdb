#pragma once
// An independent check of a convolution and of its gradients: sums in double, in the order of the
// definition, of every element where there are few, of a sample of them where there are many.

#include <cstddef>
#include <string>
#include <vector>

#include "conv_samples.h"
#include "family.h"
#include "hk/conv2d.h"

namespace hk::bench {

// Elements of a tensor whose values are known.
class Samples {
public:
    // Compares a tensor of the problem's type and layout.
    Check check(const std::byte *values) const;

protected:
    // `letters`: names of the indices, as in text_of.
    Samples(DataType type, std::string tensor, std::string letters);
    void add(const Place &at, int64_t index, double value, double tolerance);
    double rounding(double value) const;  // of the type, at most

private:
    struct Sample {
        Place at;
        int64_t index;
        double value, tolerance;
    };

    DataType type_;
    std::string tensor_, letters_;
    std::vector<Sample> samples_;
};

class Conv2dReference : public Samples {
public:
    // Input and weight in the problem's layout, rounded to its type. An output may be off by as
    // much as an f32 sum of this length in any order may be, plus one rounding to the type:
    //   (length + 2) 2^-24 sum |w x| + u |sum|,  u = 2^-24, 2^-11, 2^-8 for f32, f16, bf16
    Conv2dReference(const Conv2dProblem &problem, const std::vector<float> &input,
                    const std::vector<float> &weight);
};

// A gradient of hk/conv2d_backward.h.
enum class Gradient { input, weight };

class GradientReference : public Samples {
public:
    // The output's gradient and the weight (for the input's gradient) or the input (for the
    // weight's), in the problem's layout. A weight's element sums so many products that a bound
    // for any order would let one that is left out pass: both must be multiples of 1/16 of at most
    // 1, whose sums, below 2^16, are exact in f32 in any order. What remains is one rounding to
    // the type.
    GradientReference(const Conv2dProblem &problem, Gradient gradient,
                      const std::vector<float> &output_gradient, const std::vector<float> &other);
};

}  // namespace hk::bench
