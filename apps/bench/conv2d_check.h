#pragma once
// An independent check of a convolution: sums in double, in the order of the definition, at every
// output where there are few, at a sample of them where there are many.

#include <cstddef>
#include <vector>

#include "conv_samples.h"
#include "family.h"
#include "hk/conv2d.h"

namespace hk::bench {

class Conv2dReference {
public:
    // Input and weight in the problem's layout, rounded to its type.
    Conv2dReference(const Conv2dProblem &problem, const std::vector<float> &input,
                    const std::vector<float> &weight);

    // Compares an output of the problem's type and layout. A difference may be as large as an f32
    // sum of this length in any order may be off, plus one rounding to the type:
    //   (length + 2) 2^-24 sum |w x| + u |sum|,  u = 2^-24, 2^-11, 2^-8 for f32, f16, bf16
    Check check(const std::byte *output) const;

private:
    struct Sample {
        OutputPlace at;
        double value, magnitude;  // the sum of w x, and of |w x|
    };

    Conv2dProblem problem_;
    std::vector<Sample> samples_;
};

}  // namespace hk::bench
