#pragma once
// Convolutions on CUDA, launched against a stand-in for the driver: what is tried of each family.

#include <set>
#include <string>

#include "families/convolution/convolution.h"
#include "tests/runtime/cuda_rows.h"

namespace hk::tests {

// As many rows as columns, and an output as large.
inline Conv2dProblem square(int64_t channels, int64_t size, int64_t filters, int64_t kernel,
                            int64_t groups = 1, int64_t batch = 1) {
    Conv2dProblem p{.batch = batch,
                    .channels = channels,
                    .height = size,
                    .width = size,
                    .filters = filters,
                    .kernel_height = kernel,
                    .kernel_width = kernel,
                    .options = {}};
    p.options.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    p.options.groups = groups;
    return p;
}

// At the ends of what kernels take: nearly nothing, large filters, many channels, images, columns.
inline std::vector<Conv2dProblem> ends() {
    return {square(1, 1, 1, 1),       square(3, 40, 1, 31),
            square(4096, 1, 4096, 3), square(1, 3, 2, 3, 1, 70000),
            square(1, 20000, 1, 3),   square(4099, 9, 4099, 5, 4099, 5)};
}

// Not written to, so that large ones take no memory.
struct ConvolutionTensors {
    explicit ConvolutionTensors(const Conv2dProblem &p)
        : input(bench::input_shape(p), p.type, kCuda),
          weight(bench::weight_shape(p), p.type, kCuda),
          output(p.output_shape(), p.type, kCuda) {}

    Tensor input, weight, output;
};

// Calls launch(row, problem) with every rung that takes a shape, not just the first, in all types
// and layouts. The rows that were launched.
template<typename Select, typename Launch>
std::set<std::string> launch_every_rung(const std::vector<Conv2dProblem> &shapes, Select select,
                                        Launch launch) {
    std::set<std::string> launched;
    const DeviceLimits limits = kCuda.limits();
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const Conv2dProblem &s : shapes) {
                Conv2dProblem problem = bench::in(s, type, layout);
                problem.options.allow_tf32 = true;  // which leaves no row out
                for (const Rung &rung : select(problem, DeviceType::cuda, limits, true).ladder) {
                    SCOPED_TRACE(rung.kernel->name + (": " + bench::name_of(s)));
                    launch(*rung.kernel, problem);
                    launched.insert(rung.kernel->name);
                    if (testing::Test::HasFailure()) return launched;
                }
            }
        }
    }
    return launched;
}

}  // namespace hk::tests
