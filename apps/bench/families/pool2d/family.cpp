// Pooling and its gradient.

#include "tests/pool2d/reference.h"

#include "check.h"
#include "data.h"
#include "family.h"
#include "peers/memcpy.h"
#include "peers/pool2d_peer.h"
#include "tests/reference/elements.h"

namespace hk::bench {

namespace {

class Pool2d : public Problem {
public:
    explicit Pool2d(bool backward) : backward_(backward) {}

    std::vector<Field> fields() override {
        return {field("pooling", options_.pooling, {Pooling::max, Pooling::average}, "of a window"),
                required(field("input", input_, 4, "NxHxWxC, or NxCxHxW for nchw")),
                field("kernel", options_.kernel, "of the window's pixels"),
                field("stride", options_.stride, "of the output's pixels"),
                field("padding", options_.padding, "of the input")};
    }
    void prepare(Layout written) override {
        options_.layout = written;
        problem_ = Pool2dProblem::from_shape(input_, type(), options_);
        problem_.options.layout = layout();
    }
    void set_batch(int64_t batch) override { input_[0] = batch; }

    // max_n64_8x8_32_2x2_s2: pooling, batch, input extents, channels, window, stride.
    std::string name(std::optional<DataType>) const override {
        const auto text = [](int64_t number) { return std::to_string(number); };
        return kind() + (input_[0] == 1 ? "" : "_n" + text(input_[0])) + "_" + text(input_[1]) +
               "x" + text(input_[2]) + "_" + text(input_[3]) + "_" + text(options_.kernel[0]) +
               "x" + text(options_.kernel[1]) + "_s" + text(options_.stride[0]);
    }
    std::string kind() const override { return std::string(name_of(options_.pooling)); }

    std::span<const KernelInfo> kernels() const override {
        return backward_ ? pool2d_backward_kernels() : pool2d_kernels();
    }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return (backward_ ? select_pool2d_backward : select_pool2d)(problem_, device, limits,
                                                                    explain);
    }

    // Of the maximum's gradient four tensors, of the mean's two.
    std::vector<Operand> operands() const override {
        const auto written = Operand::Use::written;
        const Shape output = problem_.output_shape();
        if (!backward_) return {{"input", type(), image()}, {"output", type(), output, written}};
        std::vector<Operand> all = {{"output_gradient", type(), output},
                                    {"input_gradient", type(), image(), written}};
        if (is_max()) {
            all.push_back({"input", type(), image()});
            all.push_back({"output", type(), output});
        }
        return all;
    }

    void run(const KernelInfo *row) override {
        const Pool2dOptions &options = problem_.options;
        if (!backward_) {
            row ? pool2d_with(*row, tensor(0), tensor(1), options)
                : pool2d(tensor(0), tensor(1), options);
            return;
        }
        const Tensor input = is_max() ? tensor(2) : Tensor();
        const Tensor output = is_max() ? tensor(3) : Tensor();
        row ? pool2d_backward_with(*row, tensor(0), input, output, tensor(1), options)
            : pool2d_backward(tensor(0), input, output, tensor(1), options);
    }

    Tensors draw() override {
        Tensors host = Problem::draw();
        if (backward_ && is_max()) {
            reference::write(host[3].permute(channels_last(layout())),
                             reference::pool2d(problem_, in_order(host[2])).value);
        }
        return host;
    }

    Judge judge(const Tensors &host) const override {
        auto made = backward_ ? reference::pool2d_backward(
                                    problem_, in_order(host[0]),
                                    is_max() ? in_order(host[2]) : std::vector<double>())
                              : reference::pool2d(problem_, in_order(host[0]));
        made.terms += 2;  // two roundings of a division
        const Sums sums = is_max() && !backward_ ? Sums::exact : Sums::rounded;
        return judge_of({{backward_ ? "input_gradient" : "output",
                          expected_of(type(), made, {}, channels_last(layout()), sums)}});
    }

    Peers libraries(const Tensors &host) const override {
        if (!settings().device.is_cpu()) return {};
        const Tensor *input = !backward_ ? &host[0] : is_max() ? &host[2] : nullptr;
        return onednn_pool2d({problem_, backward_, input ? bytes_of(*input) : nullptr,
                              backward_ ? bytes_of(host[0]) : nullptr},
                             settings().threads);
    }
    std::vector<Contestant> variants(const Tensors &) override {
        return memcpy_of(work(), settings());
    }

private:
    bool is_max() const { return options_.pooling == Pooling::max; }
    Shape image() const {
        const Pool2dProblem &p = problem_;
        return layout() == Layout::nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                        : Shape{p.batch, p.channels, p.height, p.width};
    }
    std::vector<double> in_order(const Tensor &tensor) const {
        return reference::read(reference::channels_last(tensor, layout()));
    }

    bool backward_;
    Shape input_;
    Pool2dOptions options_;
    Pool2dProblem problem_;
};

std::vector<PeerLibrary> peers(const Settings &settings) {
    std::vector<PeerLibrary> result = memcpy_library(settings);
    if (settings.device.is_cpu() && !onednn_version().empty())
        result.push_back({onednn_version(), {"oneDNN", "oneDNN blocked"}});
    return result;
}

Family family_of(std::string name, std::string description, bool backward) {
    Family family{std::move(name),
                  std::move(description),
                  [backward] { return std::make_unique<Pool2d>(backward); },
                  "pool2d",
                  {"networks"}};
    family.layouts = {Layout::nhwc, Layout::nchw};
    family.peers = peers;
    return family;
}

}  // namespace

std::vector<Family> pool2d_families() {
    return {family_of("pool2d", "Pooling, the maximum or the mean", false),
            family_of("pool2d_backward", "The gradient of pooling", true)};
}

}  // namespace hk::bench
