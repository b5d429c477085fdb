// Group normalisation and its gradients, with weight, bias and statistics. memcpy moves as many
// bytes as all tensors have. ONNX Runtime normalises, in nchw; it has no gradients.

#include "hk/group_norm.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "check.h"
#include "data.h"
#include "family.h"
#include "peers/memcpy.h"
#include "peers/onnx_model.h"
#include "peers/onnxruntime_session.h"
#include "peers/transpose.h"
#include "tests/group_norm/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"

namespace hk::bench {

namespace {

// A model of one node (onnx_group_norm_operation); images are transposed outside the time.
class OnnxruntimeGroupNorm : public Peer {
public:
    OnnxruntimeGroupNorm(const GroupNormProblem &problem, const Tensors &host, int threads)
        : problem_(problem),
          session_(onnx_group_norm_model(problem, bytes_of(host[1]), bytes_of(host[2])),
                   {"x", turned(bytes_of(host[0]), true), shape(), onnx_type(problem.type)}, made(),
                   threads) {}

    std::string name() const override { return "ONNX Runtime"; }
    std::string variant() const override { return onnx_group_norm_operation(problem_) + ", NCHW"; }
    void run() override { session_.run(); }
    Outputs outputs() override {
        Outputs result{turned(session_.outputs()[0].data.data(), false)};
        for (size_t i = 1; i < session_.outputs().size(); i++)
            result.push_back(session_.outputs()[i].data);
        return result;
    }

private:
    bool of_rows() const { return onnx_group_norm_operation(problem_) == "LayerNormalization"; }
    Shape shape() const {
        const GroupNormProblem &p = problem_;
        return of_rows() ? Shape{p.batch, p.channels}
                         : Shape{p.batch, p.channels, p.height, p.width};
    }
    // From the problem's layout to nchw, or back.
    std::vector<std::byte> turned(const std::byte *image, bool to_nchw) const {
        const GroupNormProblem &p = problem_;
        const int64_t pixels = p.height * p.width;
        const int64_t bytes = p.batch * p.channels * pixels * size_of(p.type);
        if (p.options.layout == Layout::nchw) return {image, image + bytes};
        return to_nchw ? transposed(image, size_of(p.type), p.batch, pixels, p.channels)
                       : transposed(image, size_of(p.type), p.batch, p.channels, pixels);
    }
    std::vector<OnnxTensor> made() const {
        const GroupNormProblem &p = problem_;
        const auto tensor = [](const char *name, const Shape &shape, DataType type) {
            int64_t bytes = size_of(type);
            for (const int64_t extent : shape) bytes *= extent;
            return OnnxTensor{name, std::vector<std::byte>(static_cast<size_t>(bytes)), shape,
                              onnx_type(type)};
        };
        std::vector<OnnxTensor> result{tensor("y", shape(), p.type)};
        if (of_rows()) {
            for (const char *name : {"mean", "rstd"})
                result.push_back(tensor(name, {p.batch, 1}, DataType::f32));
        }
        return result;
    }

    GroupNormProblem problem_;
    OnnxruntimeSession session_;
};

class GroupNorm : public Problem {
public:
    explicit GroupNorm(bool backward) : backward_(backward) {}

    std::vector<Field> fields() override {
        return {required(field("input", input_, 4, "NxHxWxC, or NxCxHxW for nchw")),
                field("groups", options_.groups, "of channels; 1 is layer normalisation")};
    }
    void prepare(Layout written) override {
        options_.layout = written;
        problem_ = GroupNormProblem::from_shape(input_, type(), options_, backward_);
        options_.layout = layout();
        problem_ = GroupNormProblem::from_shape(image(), type(), options_, backward_);
    }
    void set_batch(int64_t batch) override { input_[0] = batch; }

    // n8_56x56_256_g32: batch, height and width, channels, groups.
    std::string name(std::optional<DataType>) const override {
        const auto text = [](int64_t number) { return std::to_string(number); };
        return "n" + text(input_[0]) + "_" + text(input_[1]) + "x" + text(input_[2]) + "_" +
               text(input_[3]) + "_g" + text(options_.groups);
    }
    std::string kind() const override {
        const bool instance = options_.groups == input_[3];
        return options_.groups == 1 ? "layer" : instance ? "instance" : "group";
    }

    std::span<const KernelInfo> kernels() const override { return group_norm_kernels(); }
    bool serves(const KernelInfo &kernel) const override {
        const auto other = [&](const Constraint &constraint) {
            return std::string_view(constraint.field) == "backward" &&
                   constraint.value != static_cast<int64_t>(backward_);
        };
        if (std::ranges::any_of(kernel.where, other)) return false;
        return Problem::serves(kernel) || takes_a_pixel_of_nchw(kernel);
    }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return select_group_norm(problem_, device, limits, explain);
    }

    std::vector<Operand> operands() const override {
        const auto written = Operand::Use::written;
        const Shape channels{problem_.channels}, groups{problem_.batch, problem_.options.groups};
        if (backward_) {
            return {{"output_gradient", type(), image()},
                    {"input", type(), image()},
                    {"weight", type(), channels},
                    {"mean", DataType::f32, groups},
                    {"rstd", DataType::f32, groups},
                    {"input_gradient", type(), image(), written},
                    {"weight_gradient", type(), channels, written},
                    {"bias_gradient", type(), channels, written}};
        }
        return {{"input", type(), image()},
                {"weight", type(), channels},
                {"bias", type(), channels},
                {"output", type(), image(), written},
                {"mean", DataType::f32, groups, written},
                {"rstd", DataType::f32, groups, written}};
    }

    void run(const KernelInfo *row) override {
        const GroupNormOptions &options = problem_.options;
        if (backward_) {
            const GroupNormStatistics saved{tensor(3), tensor(4)};
            const GroupNormGradients made{tensor(5), tensor(6), tensor(7)};
            row ? group_norm_backward_with(*row, tensor(0), tensor(1), tensor(2), saved, made,
                                           options)
                : group_norm_backward(tensor(0), tensor(1), tensor(2), saved, made, options);
            return;
        }
        const GroupNormStatistics saved{tensor(4), tensor(5)};
        row ? group_norm_with(*row, tensor(0), tensor(1), tensor(2), tensor(3), saved, options)
            : group_norm(tensor(0), tensor(1), tensor(2), tensor(3), saved, options);
    }

    Tensors draw() override {
        Tensors host = Problem::draw();
        if (!backward_) return host;
        const std::vector<double> ones(static_cast<size_t>(problem_.channels), 1);
        const auto made = reference::group_norm(sizes(), in_order(host[1]), ones, ones,
                                                static_cast<double>(options_.epsilon));
        reference::write(host[3], made.mean);
        reference::write(host[4], made.rstd);
        return host;
    }

    Judge judge(const Tensors &host) const override {
        return backward_ ? judge_gradients(host) : judge_forward(host);
    }

    Peers libraries(const Tensors &host) const override {
        Peers peers;
        if (backward_ || !settings().device.is_cpu() || onnxruntime_version().empty()) return peers;
        try {
            peers.push_back(
                std::make_unique<OnnxruntimeGroupNorm>(problem_, host, settings().threads));
        } catch (const std::runtime_error &) {
            // It has no kernel of the operation for the type.
        }
        return peers;
    }
    std::vector<Contestant> variants(const Tensors &) override {
        return memcpy_of(work(), settings());
    }

private:
    // An image of one pixel is of both layouts: in nchw too it goes to the rows of nhwc for few
    // pixels, of which nchw has none.
    bool takes_a_pixel_of_nchw(const KernelInfo &kernel) const {
        const auto same_row = [&](const KernelInfo &row) {
            return row.layout == layout() && std::string_view(row.row) == kernel.row;
        };
        return layout() == Layout::nchw && kernel.type == type() &&
               std::ranges::any_of(kernel.where,
                                   [](const Constraint &constraint) {
                                       return std::string_view(constraint.field) == "pixels";
                                   }) &&
               std::ranges::none_of(kernels(), same_row);
    }

    Shape image() const {
        const GroupNormProblem &p = problem_;
        return layout() == Layout::nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                        : Shape{p.batch, p.channels, p.height, p.width};
    }
    reference::GroupNormSizes sizes() const {
        const GroupNormProblem &p = problem_;
        return {static_cast<size_t>(p.batch), static_cast<size_t>(p.height * p.width),
                static_cast<size_t>(p.channels), static_cast<size_t>(p.options.groups)};
    }
    std::vector<double> in_order(const Tensor &tensor) const {
        return reference::read(reference::channels_last(tensor, layout()));
    }

    // As the header bounds it, and a rounding to the type.
    Expected expected(const std::vector<double> &values, const std::vector<double> &magnitudes,
                      DataType type, bool is_image) const {
        Expected result{values, {}};
        for (size_t i = 0; i < values.size(); ++i) {
            result.tolerances.push_back(
                std::ldexp(magnitudes[i], -14) +
                reference::tolerance(type, 4, values[i], std::abs(values[i]), {}));
        }
        if (is_image) result.order = channels_last(layout());
        return result;
    }

    Judge judge_forward(const Tensors &host) const {
        const std::vector<double> weight = reference::read(host[1]),
                                  bias = reference::read(host[2]);
        const auto made = reference::group_norm(sizes(), in_order(host[0]), weight, bias,
                                                static_cast<double>(options_.epsilon));
        std::vector<double> output = made.output, mean;
        sizes().each([&](size_t i, size_t, size_t c) {
            output[i] =
                std::abs(weight[c]) * (1 + std::abs(made.normalised[i])) + std::abs(bias[c]);
        });
        for (const double rstd : made.rstd) mean.push_back(1 / rstd);
        return judge_of({{"output", expected(made.output, output, type(), true)},
                         {"mean", expected(made.mean, mean, DataType::f32, false)},
                         {"rstd", expected(made.rstd, made.rstd, DataType::f32, false)}});
    }

    Judge judge_gradients(const Tensors &host) const {
        const auto made = reference::group_norm_backward(
            sizes(), in_order(host[0]), in_order(host[1]), reference::read(host[2]),
            reference::read(host[3]), reference::read(host[4]));
        return judge_of(
            {{"input_gradient", expected(made.input, made.input_magnitude, type(), true)},
             {"weight_gradient", expected(made.weight, made.weight_magnitude, type(), false)},
             {"bias_gradient", expected(made.bias, made.bias_magnitude, type(), false)}});
    }

    bool backward_;
    Shape input_;
    GroupNormOptions options_;
    GroupNormProblem problem_;
};

std::vector<PeerLibrary> peers(const Settings &settings) {
    std::vector<PeerLibrary> result = memcpy_library(settings);
    if (settings.device.is_cpu() && !onnxruntime_version().empty())
        result.push_back({onnxruntime_version(), {"ONNX Runtime"}});
    return result;
}

Family family_of(std::string name, std::string description, bool backward) {
    Family family{std::move(name),
                  std::move(description),
                  [backward] { return std::make_unique<GroupNorm>(backward); },
                  "group_norm",
                  {"networks"}};
    family.layouts = {Layout::nhwc, Layout::nchw};
    if (!backward) family.peers = peers;
    return family;
}

}  // namespace

std::vector<Family> group_norm_families() {
    return {family_of("group_norm", "Group normalisation; layer and instance normalisation", false),
            family_of("group_norm_backward", "Its gradients", true)};
}

}  // namespace hk::bench
