#pragma once
// A weight's gradient in the parts that conv2d_backward/parts.h makes.

#include "conv2d_backward/check.h"
#include "conv2d_backward/parts.h"
#include "conv2d_backward/passes.h"

namespace hk::detail {

// A node adds its children up, so that a type of 16 bits rounds once more a level, however many
// parts there are.
class WeightTree {
public:
    // `whole`: with the tensors' operands in it.
    WeightTree(const Pass &whole, const Conv2dProblem &problem,
               const Conv2dBackwardTensors &tensors, const Stream &stream)
        : whole_(whole),
          problem_(problem),
          tensors_(tensors),
          stream_(stream),
          parts_(*whole.kernel, whole.operands.problem) {}

    int64_t parts() const { return parts_.count(); }

    // `count` parts from `first` on.
    void add(int64_t first, int64_t count, const Tensor &gradient, bool accumulate,
             CallContext &context) const;

private:
    void add_part(int64_t i, const Tensor &gradient, bool accumulate, CallContext &context) const;
    void add_up(const Tensor &sums, const Tensor &gradient, int dim, bool accumulate,
                CallContext &context) const;

    const Pass &whole_;
    const Conv2dProblem &problem_;
    const Conv2dBackwardTensors &tensors_;
    const Stream &stream_;
    const WeightParts parts_;
};

}  // namespace hk::detail
