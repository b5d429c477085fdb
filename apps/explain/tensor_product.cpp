#include "hk/tensor_product.h"

#include <algorithm>

#include "tensor_product/operands.h"
#include "verb.h"

namespace hk::explain {

namespace {

class TensorProductVerb : public Verb {
public:
    std::string name() const override { return "tensor_product"; }
    std::string description() const override {
        return "Gather, multiply, scatter: sparse convolution";
    }

    void add_flags(program::Flags &flags) override {
        const auto number = [&](const char *flag, int64_t &value, const char *what) {
            return flags.add(flag, value, what).check(program::range(int64_t{0}, int64_t{1} << 31));
        };
        flags.add("--type", type_, "f32, f16, bf16 or f64").show_default();
        number("--rows", rows_, "of the input").required();
        number("--output-rows", output_rows_, "as many as of the input where not given");
        number("--pairs", pairs_, "of an offset, on average").required();
        number("--offsets", offsets_, "of the kernel").show_default();
        number("--c", channels_, "channels of the input, of all groups").required();
        number("--m", output_channels_, "channels of the output, of all groups").required();
        number("--groups", options_.groups, "of channels").show_default();
        flags.add("--mode", mode_, "deterministic or atomic").show_default();
    }

    void prepare() override {
        options_.summation = summation_of(mode_);
        if (output_rows_ < 0) output_rows_ = rows_;
        weight_ = {offsets_, channels_ / std::max<int64_t>(options_.groups, 1), output_channels_};
        problem_ = TensorProductProblem::from_shapes({rows_, channels_}, weight_, offsets_ * pairs_,
                                                     {output_rows_, output_channels_},
                                                     data_type_of(type_), options_);
        for (const DeviceType device : {DeviceType::cpu, DeviceType::opencl}) {
            const auto rows = detail::tensor_product_kernels_for(problem_, device);
            kernels_.insert(kernels_.end(), rows.begin(), rows.end());
        }
    }

    std::string problem() const override { return "tensor_product " + detail::to_string(problem_); }
    DataType type() const override { return problem_.type; }
    Layout layout() const override { return Layout::any; }
    std::span<const KernelInfo> kernels() const override { return kernels_; }

    Selection select(const Target &target) const override {
        return select_tensor_product(problem_, target.type, target.limits, true);
    }

    std::vector<std::string> kind_fields() const override { return {"adjacent"}; }
    int64_t field(std::string_view name) const override {
        return detail::tensor_product_fields(problem_)[name];
    }

    std::optional<Arithmetic> arithmetic() const override {
        const auto pairs = static_cast<double>(problem_.pairs);
        const auto size = static_cast<double>(size_of(problem_.type));
        const auto of = [](int64_t a, int64_t b) {
            return static_cast<double>(a) * static_cast<double>(b);
        };
        const double bytes = size * (of(rows_, channels_) + of(output_rows_, output_channels_) +
                                     of(weight_[0], weight_[1]) * static_cast<double>(weight_[2])) +
                             pairs * 8;
        return Arithmetic{
            2 * pairs * static_cast<double>(weight_[1]) * static_cast<double>(weight_[2]), bytes,
            pairs * static_cast<double>(channels_) * size,
            pairs * static_cast<double>(output_channels_) * size};
    }

    void launch(const KernelInfo &kernel) const override {
        MadeUpTensors tensors;
        const Tensor input = tensors.next(problem_.type, {rows_, channels_});
        const Tensor weight = tensors.next(problem_.type, weight_);
        const Tensor output = tensors.next(problem_.type, {output_rows_, output_channels_});
        const Tensor map = Tensor::zeros({offsets_, pairs_}, DataType::s32);
        tensor_product_with(kernel, input, weight,
                            TensorProductMaps(map, map, rows_, output_rows_, {}, false), output,
                            options_);
    }

private:
    std::string type_ = "f32", mode_ = "deterministic";
    int64_t rows_ = 0, output_rows_ = -1, pairs_ = 0, offsets_ = 27, channels_ = 0,
            output_channels_ = 0;
    Shape weight_;
    std::vector<KernelInfo> kernels_;
    TensorProductOptions options_;
    TensorProductProblem problem_;
};

}  // namespace

std::unique_ptr<Verb> tensor_product_verb() { return std::make_unique<TensorProductVerb>(); }

}  // namespace hk::explain
