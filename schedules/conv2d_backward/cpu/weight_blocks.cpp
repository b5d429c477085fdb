#include "schedules/conv2d_backward/cpu/weight_blocks.h"

#include "generators/ceil_div.h"

using namespace Halide;
using hk::generators::ceil_div;

namespace hk::schedules::cpu {

Expr parts_that_pay(const Conv2dBackwardWeightContext &context, const Expr &pixels) {
    constexpr float products = 32768;  // of vectors
    const int taps = std::max(context.kernel_w, 1) * std::max(context.kernel_h, 1),
              lanes = context.target.natural_vector_size<float>();
    const Expr all = cast<float>(pixels) * context.channels * context.filters * context.groups *
                     (1.f * taps / lanes);
    const Expr threads = number_of_threads();
    const Expr most = select(threads > 1, 2 * threads, 1);
    return cast<int>(clamp(all / products, 1.f, cast<float>(most)));
}

Expr block_of(const Expr &size, int most, int sums, int least, const Expr &parts) {
    if (most <= sums) return most;
    const Expr part = min(size, max(ceil_div(size, parts), least));
    return min(most, ceil_div(part, sums) * sums);
}

}  // namespace hk::schedules::cpu
