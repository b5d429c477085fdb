#include "tests/conv2d/stand_in_kernels.h"

#include <array>
#include <cmath>

#include "HalideRuntimeOpenCL.h"

namespace hk::tests {

Failure failure;

namespace {

// In another order than the generator's, and the runtime's.
const test::Declared kDeclared({"output", "input", "weight", "bias", "residual"},
                               {"padding_left", "padding_top", "stride_x", "stride_y", "dilation_x",
                                "dilation_y", "slope", "low", "high", "smooth"},
                               {"has_bias", "has_residual"});

// The arguments of a kernel.
struct Arguments {
    explicit Arguments(const test::NotedCall &given)
        : user_context(given.take<void *>("__user_context")),
          input(given["input"].buffer),
          weight(given["weight"].buffer),
          bias(given["bias"].buffer),
          residual(given["residual"].buffer),
          output(given["output"].buffer),
          stride_x(given.number("stride_x")),
          stride_y(given.number("stride_y")),
          dilation_x(given.number("dilation_x")),
          dilation_y(given.number("dilation_y")),
          padding_left(given.number("padding_left")),
          padding_top(given.number("padding_top")),
          smooth(given.number("smooth")),
          has_bias(given.take<bool>("has_bias")),
          has_residual(given.take<bool>("has_residual")),
          slope(given.real("slope")),
          low(given.real("low")),
          high(given.real("high")) {}

    void *user_context;
    const halide_buffer_t *input, *weight, *bias, *residual, *output;
    int32_t stride_x, stride_y, dilation_x, dilation_y, padding_left, padding_top, smooth;
    bool has_bias, has_residual;
    float slope, low, high;
};

Arguments noted(const char *kernel, void **pointers) {
    KernelInfo row{};
    row.name = kernel;
    row.arguments = kDeclared.arguments;
    return Arguments(test::noted_calls.emplace_back(row, pointers));
}

float apply(const Arguments &a, double v) {
    if (a.smooth == 1) return static_cast<float>(v / (1 + std::exp(-v)));
    if (a.smooth == 2) return static_cast<float>(v * (1 + std::erf(v / std::sqrt(2.0))) / 2);
    return std::min(std::max(static_cast<float>(v < 0 ? a.slope * v : v), a.low), a.high);
}

// Where the dimensions c g x y n and c s r k g stand.
struct Order {
    std::array<int, 5> image, filter;
};
const Order kNhwc{{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}};
const Order kNchw{{2, 3, 0, 1, 4}, {2, 0, 1, 3, 4}};

// An element at the coordinates c g x y n (or c s r k g) of a buffer.
float &at(const halide_buffer_t &buffer, const std::array<int, 5> &order,
          std::array<int, 5> place) {
    int64_t offset = 0;
    for (size_t d = 0; d < 5; d++) {
        EXPECT_TRUE(place[d] >= 0 && place[d] < buffer.dim[order[d]].extent);
        offset += static_cast<int64_t>(place[d]) * buffer.dim[order[d]].stride;
    }
    return reinterpret_cast<float *>(buffer.host)[offset];
}

double sum_at(const Arguments &a, const Order &order, int k, int g, int x, int y, int n) {
    const auto extent = [](const halide_buffer_t *buffer, int d) { return buffer->dim[d].extent; };
    const auto &[im, fi] = order;
    double sum = 0;
    for (int r = 0; r < extent(a.weight, fi[2]); r++) {
        for (int s = 0; s < extent(a.weight, fi[1]); s++) {
            const int px = x * a.stride_x + s * a.dilation_x - a.padding_left;
            const int py = y * a.stride_y + r * a.dilation_y - a.padding_top;
            if (px < 0 || py < 0 || px >= extent(a.input, im[2]) || py >= extent(a.input, im[3]))
                continue;
            for (int c = 0; c < extent(a.input, im[0]); c++) {
                sum += static_cast<double>(at(*a.weight, fi, {c, s, r, k, g})) *
                       at(*a.input, im, {c, g, px, py, n});
            }
        }
    }
    if (a.has_bias) {
        const halide_dimension_t *dims = a.bias->dim;
        sum += reinterpret_cast<float *>(a.bias->host)[k * dims[0].stride + g * dims[1].stride];
    }
    if (a.has_residual) sum += at(*a.residual, im, {k, g, x, y, n});
    return sum;
}

int run_on_cpu(const char *name, void **argv, const Order &order) {
    const Arguments a = noted(name, argv);
    const auto size = [&](int d) {
        return a.output->dim[order.image[static_cast<size_t>(d)]].extent;
    };
    for (int n = 0; n < size(4); n++)
        for (int y = 0; y < size(3); y++)
            for (int x = 0; x < size(2); x++)
                for (int g = 0; g < size(1); g++)
                    for (int k = 0; k < size(0); k++)
                        at(*a.output, order.image, {k, g, x, y, n}) =
                            apply(a, sum_at(a, order, k, g, x, y, n));
    return 0;
}

int fail(void **argv) {
    const Arguments a = noted("failing", argv);
    halide_error(a.user_context, failure.message.c_str());
    return failure.status;
}

// nhwc, one group, no activation: the definition as an OpenCL program, run through Halide's runtime
// as a compiled kernel does it.
const char kProgram[] = R"(
__kernel void conv(int C, int H, int W, int K, int OW, int R, int S, int stride_x, int stride_y,
                   int dilation_x, int dilation_y, int left, int top, int has_bias,
                   int ix, int iy, int in, int wk, int ox, int oy, int on,
                   __global const float *input, __global const float *weight,
                   __global const float *bias, __global float *output, __local int *unused) {
    int k = get_global_id(0) % K, x = get_global_id(0) / K, y = get_global_id(1), n = get_global_id(2);
    if (x >= OW) return;
    float sum = has_bias ? bias[k] : 0;
    for (int r = 0; r < R; r++) for (int s = 0; s < S; s++) for (int c = 0; c < C; c++) {
        int px = x * stride_x + s * dilation_x - left, py = y * stride_y + r * dilation_y - top;
        if (px >= 0 && py >= 0 && px < W && py < H)
            sum += weight[k * wk + (r * S + s) * C + c] * input[px * ix + py * iy + n * in + c];
    }
    output[x * ox + y * oy + n * on + k] = sum;
}
)";

int run_on_opencl(void **argv) {
    const Arguments a = noted("opencl", argv);
    static void *state = nullptr;
    int status =
        halide_opencl_initialize_kernels(a.user_context, &state, kProgram, sizeof kProgram);
    if (status) return status;
    const halide_dimension_t *in = a.input->dim, *w = a.weight->dim, *out = a.output->dim;
    int32_t numbers[] = {in[0].extent, in[3].extent,   in[2].extent,  out[0].extent, out[2].extent,
                         w[2].extent,  w[1].extent,    a.stride_x,    a.stride_y,    a.dilation_x,
                         a.dilation_y, a.padding_left, a.padding_top, a.has_bias,    in[2].stride,
                         in[3].stride, in[4].stride,   w[3].stride,   out[2].stride, out[3].stride,
                         out[4].stride};
    std::vector<void *> arguments;
    std::vector<size_t> sizes;
    std::vector<int8_t> buffers;
    for (int32_t &number : numbers) {
        arguments.push_back(&number);
        sizes.push_back(sizeof number);
        buffers.push_back(0);
    }
    for (const halide_buffer_t *buffer : {a.input, a.weight, a.bias, a.output}) {
        arguments.push_back(const_cast<halide_buffer_t *>(buffer));
        sizes.push_back(sizeof(uint64_t));
        buffers.push_back(1);
    }
    arguments.push_back(nullptr);
    sizes.push_back(0);
    buffers.push_back(0);
    status = halide_opencl_run(a.user_context, state, "conv", out[0].extent * out[2].extent,
                               out[3].extent, out[4].extent, 1, 1, 1, 0, sizes.data(),
                               arguments.data(), buffers.data());
    halide_opencl_finalize_kernels(a.user_context, state);
    return status;
}

const Constraint kPointwise[] = {{"kernel_h", Constraint::Relation::equal, 1},
                                 {"kernel_w", Constraint::Relation::equal, 1},
                                 {"stride_x", Constraint::Relation::equal, 1},
                                 {"padding", Constraint::Relation::equal, 0}};
const Constraint kUngrouped[] = {{"groups", Constraint::Relation::equal, 1}};

KernelInfo row(const char *name, DataType type, Layout layout, DeviceType device,
               std::span<const Constraint> where, int (*call)(void **)) {
    KernelInfo kernel = test::plain_row("conv2d", name, type, layout, where, kDeclared, device);
    kernel.call = call;
    return kernel;
}

}  // namespace

Tensor numbers(const Shape &shape, int seed) {
    Tensor tensor(shape, DataType::f32);
    for (int64_t i = 0; i < tensor.elements(); i++) {
        tensor.data<float>()[i] = static_cast<float>((i * 7 + seed * 5 + i / 11) % 9 - 4);
    }
    return tensor;
}

std::vector<float> values(const Tensor &tensor) {
    const Tensor packed = tensor.to(Device::cpu());
    return {packed.data<float>(), packed.data<float>() + packed.elements()};
}

}  // namespace hk::tests

namespace hk {

std::span<const KernelInfo> conv2d_kernels() {
    using namespace tests;
    static const KernelInfo kernels[] = {
        row("pointwise_nhwc", DataType::f32, Layout::nhwc, DeviceType::cpu, kPointwise,
            [](void **a) { return run_on_cpu("pointwise_nhwc", a, kNhwc); }),
        row("any_nhwc", DataType::f32, Layout::nhwc, DeviceType::cpu, {},
            [](void **a) { return run_on_cpu("any_nhwc", a, kNhwc); }),
        row("pointwise_nchw", DataType::f32, Layout::nchw, DeviceType::cpu, kPointwise,
            [](void **a) { return run_on_cpu("pointwise_nchw", a, kNchw); }),
        row("any_nchw", DataType::f32, Layout::nchw, DeviceType::cpu, {},
            [](void **a) { return run_on_cpu("any_nchw", a, kNchw); }),
        row("failing", DataType::f16, Layout::nhwc, DeviceType::cpu, {}, fail),
        row("opencl", DataType::f32, Layout::nhwc, DeviceType::opencl, kUngrouped, run_on_opencl),
    };
    return kernels;
}

std::span<const KernelInfo> conv2d_filter_kernels() { return {}; }

}  // namespace hk
