// The families pool2d and pool2d_backward in the benchmark, on packed tensors. Work is counted in
// bytes of all tensors that a call needs, each once; memcpy reads and writes as many.

#include "hk/pool2d.h"

#include "conv2d_data.h"
#include "hk/error.h"
#include "lists.h"
#include "peers/memcpy.h"
#include "pool2d_check.h"

namespace hk::bench {

namespace {

struct PoolShape {
    std::string pooling;
    int64_t n = 1, c = 1, h = 1, w = 1, kernel = 2, stride = 2, padding = 0;

    Pool2dProblem problem(const Settings &settings) const {
        Pool2dOptions options;
        options.layout = settings.layout;
        options.pooling = pooling == "average" ? Pooling::average : Pooling::max;
        options.kernel = {kernel, kernel};
        options.stride = {stride, stride};
        options.padding = {padding, padding, padding, padding};
        const Shape nhwc{n, h, w, c}, nchw{n, c, h, w};
        return Pool2dProblem::from_shape(settings.layout == Layout::nhwc ? nhwc : nchw,
                                         settings.type, options);
    }

    // max_n64_8x8_32_2x2_s2: pooling, batch, input extents, channels, window, stride.
    std::string name() const {
        const auto by = [](int64_t a, int64_t b) {
            return std::to_string(a) + "x" + std::to_string(b);
        };
        return pooling + (n == 1 ? "" : "_n" + std::to_string(n)) + "_" + by(h, w) + "_" +
               std::to_string(c) + "_" + by(kernel, kernel) + "_s" + std::to_string(stride);
    }
};

std::vector<PoolShape> shapes_of(const std::string &list, const Settings &settings) {
    std::vector<PoolShape> result;
    for (ListLine &line : list_lines(list_text("pool2d", list))) {
        PoolShape shape;
        line.read("pooling", shape.pooling);
        for (const auto &[column, value] : {std::pair{"n", &shape.n},
                                            {"c", &shape.c},
                                            {"h", &shape.h},
                                            {"w", &shape.w},
                                            {"kernel", &shape.kernel},
                                            {"stride", &shape.stride},
                                            {"padding", &shape.padding}}) {
            line.read(column, *value);
        }
        line.finish();
        if (shape.pooling != "max" && shape.pooling != "average") {
            throw InvalidArgument("shape list: pooling is \"" + shape.pooling +
                                  "\", not max or average");
        }
        if (settings.batch > 0) shape.n = settings.batch;
        result.push_back(shape);
    }
    return result;
}

// Which of the two families.
struct Pass {
    std::string name;
    bool backward;

    std::span<const KernelInfo> kernels() const {
        return backward ? pool2d_backward_kernels() : pool2d_kernels();
    }
};

const KernelInfo *kernel_of(const Pass &pass, const Pool2dProblem &problem,
                            const Settings &settings) {
    const auto select = pass.backward ? select_pool2d_backward : select_pool2d;
    return select(problem, settings.device.type(), limits_of(settings), false).kernel;
}

class PoolCase : public Case {
public:
    PoolCase(const Pass &pass, const PoolShape &shape, const Settings &settings)
        : Case(kernel_of(pass, shape.problem(settings), settings)),
          pass_(pass),
          problem_(shape.problem(settings)),
          settings_(settings) {
        const Layout layout = settings.layout;
        const Shape nhwc{problem_.batch, problem_.height, problem_.width, problem_.channels};
        const Shape nchw{problem_.batch, problem_.channels, problem_.height, problem_.width};
        const Shape image = layout == Layout::nhwc ? nhwc : nchw;
        host_input_ = random_data(image, settings.type, 1);
        input_ = host_input_.tensor.to(settings.device);
        output_ = Tensor(problem_.output_shape(), settings.type, settings.device);
        if (!pass.backward) return;
        host_gradient_ = random_data(problem_.output_shape(), settings.type, 2);
        output_gradient_ = host_gradient_.tensor.to(settings.device);
        input_gradient_ = Tensor(image, settings.type, settings.device);
        if (problem_.options.pooling == Pooling::average) {
            input_ = output_ = Tensor();
        } else {
            pool2d(input_, output_, problem_.options);
        }
    }

    double work() const override {
        int64_t elements = 0;
        for (const Tensor &tensor : {input_, output_, output_gradient_, input_gradient_}) {
            if (tensor.defined()) elements += tensor.elements();
        }
        return static_cast<double>(elements * size_of(settings_.type));
    }
    std::map<std::string, Shape> shapes() const override {
        return {{"input", host_input_.tensor.shape()}, {"output", problem_.output_shape()}};
    }

    Check check() override {
        poison(pass_.backward ? input_gradient_ : output_);
        run(1);
        const Tensor result = (pass_.backward ? input_gradient_ : output_).to(Device::cpu());
        if (!pass_.backward) return check_pool2d(problem_, host_input_.values, result);
        return check_pool2d_backward(problem_, host_gradient_.values, host_input_.values, result);
    }

    void run(int count) override {
        for (int i = 0; i < count; ++i) {
            if (pass_.backward) {
                pool2d_backward_with(*kernel(), output_gradient_, input_, output_, input_gradient_,
                                     problem_.options);
            } else {
                pool2d_with(*kernel(), input_, output_, problem_.options);
            }
        }
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override { return memcpy_of(work(), settings_); }

private:
    Pass pass_;
    Pool2dProblem problem_;
    Settings settings_;
    Data host_input_, host_gradient_;
    Tensor input_, output_, output_gradient_, input_gradient_;  // undefined: not needed
};

std::vector<CaseInfo> cases(const Pass &pass, const std::string &list, const Settings &settings) {
    std::vector<CaseInfo> result;
    for (const PoolShape &shape : shapes_of(list, settings)) {
        result.push_back({list, shape.name(), shape.pooling, 1, [pass, shape, settings] {
                              return std::make_unique<PoolCase>(pass, shape, settings);
                          }});
        result.back().select = [pass, shape, settings] {
            return kernel_of(pass, shape.problem(settings), settings);
        };
    }
    return result;
}

Family pool_family(const Pass &pass) {
    return {pass.name,
            {DataType::f32, DataType::f16, DataType::bf16},
            embedded_lists("pool2d"),
            {"networks"},
            [pass](const std::string &list, const Settings &settings) {
                return cases(pass, list, settings);
            },
            [pass](const Settings &settings) { return rows_of(pass.kernels(), settings); },
            memcpy_library,
            [](const Settings &) {
                return Unit{"GB/s", nullptr, ""};
            },
            {Layout::nhwc, Layout::nchw}};
}

}  // namespace

Family pool2d_family() { return pool_family({"pool2d", false}); }
Family pool2d_backward_family() { return pool_family({"pool2d_backward", true}); }

}  // namespace hk::bench
