#pragma once
// The problems of all families of convolutions: their sizes and options, and their lists.

#include "check.h"
#include "family.h"
#include "hk/conv2d.h"

namespace hk::bench {

// 56x56_128-128_3x3_s2_g32: input extents, channels to filters, kernel, then what is not 1.
std::string name_of(const Conv2dProblem &problem);

// "depthwise", "grouped", "dense 1x1", "dense, larger".
std::string kind_of(const Conv2dProblem &problem);

// The same problem in another type and layout.
Conv2dProblem in(Conv2dProblem problem, DataType type, Layout layout);

// Of its tensors, in its layout.
Shape input_shape(const Conv2dProblem &problem);
Shape weight_shape(const Conv2dProblem &problem);

// The distinct convolutions of a list that run the pass ("fwd", "bwd_data", "bwd_weight"), of f32
// and nhwc. Batch 0: the list's own. Throws InvalidArgument.
std::vector<Conv2dProblem> convolutions(const std::string &list, std::string_view pass = "fwd",
                                        int64_t batch = 0);

// Whether a row, which may be null, takes no prepared filter.
bool wants_plain(const KernelInfo *row);

class Convolution : public Problem {
public:
    std::vector<Field> fields() override;
    void prepare(Layout written) override;
    void set_batch(int64_t batch) override { input_[0] = batch; }

    std::string name(std::optional<DataType>) const override { return name_of(sizes()); }
    std::string kind() const override { return kind_of(sizes()); }
    double work() const override { return problem_.operations(); }

    const Conv2dProblem &conv() const { return problem_; }

protected:
    Conv2dProblem sizes() const;  // of shapes in nhwc, not checked

    // Whether a row of nhwc takes images in nchw, of copies, as those of conv2d and its gradients
    // do on a CPU.
    bool takes_copies(const KernelInfo &kernel) const {
        return kernel.device == DeviceType::cpu && kernel.type == type() &&
               settings().layout == Layout::nchw;
    }

    Conv2dProblem problem_;

private:
    Shape input_, weight_;
    Conv2dOptions options_;
};

// What families of convolutions share: lists, units, layouts.
Family convolution_family(std::string name, std::string description,
                          std::function<std::unique_ptr<Problem>()> problem, std::string pass);

}  // namespace hk::bench
