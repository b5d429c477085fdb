// hk::conv2d: weights plain and prepared, bias, residual, outputs apart, new and in place.

#include "hk/conv2d.h"

#include "tests/convolution/random_problem.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/support/checked_call.h"

namespace hk::fuzz {
namespace {

struct Call {
    Conv2dOptions options;
    bool prepared = false, in_place = false, into_new = false;
    const Operand *input, *weight, *bias, *residual, *output;
    Tensor made;  // where the call makes a new tensor

    void operator()() {
        const Filter filter = prepared ? prepare_filter(weight->tensor) : Filter(weight->tensor);
        for (int i = 0; i <= (prepared && !in_place); i++) {
            if (into_new) {
                made = hk::conv2d(input->tensor, filter, bias->tensor, {}, options);
            } else {
                hk::conv2d(input->tensor, filter, bias->tensor, residual->tensor,
                           in_place ? inplace(output->tensor) : Output(output->tensor), options);
            }
        }
    }

    std::string check() const {
        const Tensor &x = input->before, &w = weight->before;
        if (const std::string wrong = accepted(options); !wrong.empty()) return wrong;
        Conv2dProblem p = Conv2dProblem::from_shapes(x.shape(), w.shape(), x.type(), options);
        if (!small(p)) return "";
        p.prepared_filter = prepared;
        p.in_place = in_place;
        const Device device = input->tensor.device();
        const KernelInfo *const row = select_conv2d(p, device.type(), device.limits()).kernel;
        const Tensor got = into_new ? made.to(Device::cpu()) : output->after();
        const auto wanted = reference::conv2d(x, w, bias->before, residual->before, options, row);
        return compare(got.type(), reference::read(reference::channels_last(got, options.layout)),
                       wanted.value, wanted.magnitude, wanted.terms,
                       reference::activation_in(options)) +
               (in_place ? "" : test::unwritten(got));
    }
};

}  // namespace

Result conv2d(Case &c) {
    const DataType type = draw_type(c.random);
    const Layout layout = draw_layout(c.random);
    const Conv2dProblem p = draw_convolution(c, type, layout, conv2d_kernels());
    Call call{};
    call.options = p.options;
    draw_activation(c, Activation::gelu, call.options.activation, call.options.alpha,
                    call.options.beta);
    spoil(c, p, call.options);
    call.prepared = one_in(c.random, 3);
    call.into_new = one_in(c.random, 8);
    const bool has_residual = !call.into_new && one_in(c.random, 2);
    call.in_place = has_residual && one_in(c.random, 3);
    const Values values = one_in(c.random, 2) ? whole(-4, 4) : any_real();
    const bool adjacent = true;
    call.input = &c.place({"input", Use::read, test::input_shape(p), type, values, adjacent});
    call.weight = &c.place({"weight", Use::read, test::weight_shape(p), type, values, adjacent});
    call.bias = one_in(c.random, 3) ? &Case::none()
                                    : &c.place({"bias", Use::read, {p.filters}, type, values});
    call.residual = call.output = &Case::none();
    const Shape shape = p.output_shape();
    if (has_residual) {
        const Use use = call.in_place ? Use::update : Use::read;
        call.residual = &c.place({"residual", use, shape, type, values, adjacent});
    }
    if (call.in_place && !c.misplaces()) {
        call.output = call.residual;
    } else if (!call.into_new) {
        call.output = &c.place({"output", Use::write, shape, type, values, adjacent});
    }
    c.tell("conv2d " + test::to_string(p) + (call.prepared ? " prepared" : "") +
           (call.in_place ? " in place" : "") + (call.into_new ? " into a new tensor" : ""));
    return c.run([&] { call(); }, [&] { return call.check(); });
}

}  // namespace hk::fuzz
