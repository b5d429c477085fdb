#include "hk/softmax_cross_entropy.h"

#include <bit>
#include <optional>

#include "hk/error.h"
#include "kernel_buffer.h"
#include "kernel_call.h"
#include "operand_check.h"
#include "rethrow.h"
#include "selection_cache.h"

namespace hk {

using namespace detail;

namespace {

using Use = KernelBuffer::Use;

constexpr const char *kOperation = "softmax_cross_entropy";

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument(std::string(kOperation) + ": " + what);
}

struct Arguments {
    const Tensor &logits, &labels, &loss;
    const Output &gradient;

    int64_t rows() const { return logits.shape()[0]; }
    int64_t classes() const { return logits.shape()[1]; }
};

template<typename Label>
void check_labels(const Arguments &arguments) {
    const int64_t classes = arguments.classes(), stride = arguments.labels.strides()[0];
    const Label *label = arguments.labels.data<Label>();
    for (int64_t n = 0; n < arguments.rows(); n++) {
        if (label[n * stride] >= 0 && label[n * stride] < classes) continue;
        fail("label " + std::to_string(n) + " is " + std::to_string(label[n * stride]) +
             ", it must be 0 to " + std::to_string(classes - 1));
    }
}

void check_shapes(const Arguments &arguments) {
    const auto &[logits, labels, loss, output] = arguments;
    const Tensor &gradient = output.tensor();
    if (logits.rank() != 2) {
        fail("logits have " + std::to_string(logits.rank()) + " dimensions, " +
             hk::to_string(logits.shape()) + ", they need 2");
    }
    if (arguments.classes() < 1) fail("logits have 0 classes, they need 1");
    check_shape(kOperation, {"labels", labels}, {logits.shape().data(), 1});
    check_shape(kOperation, {"loss", loss}, {logits.shape().data(), 1});
    check_shape(kOperation, {"gradient", gradient}, logits.shape());
}

void check_memory(const Arguments &arguments) {
    const auto &[logits, labels, loss, output] = arguments;
    const Tensor &gradient = output.tensor();
    const Input inputs[] = {{{"logits", logits}, true}, {{"labels", labels}}};
    check_innermost(kOperation, {"logits", logits}, "classes");
    if (gradient.defined()) {
        check_innermost(kOperation, {"gradient", gradient}, "classes");
        check_elements_disjoint(kOperation, {"gradient", gradient});
        check_output(kOperation, "gradient", output, inputs);
    } else if (output.is_inplace()) {
        fail("gradient is inplace() of an undefined tensor");
    }
    if (loss.defined()) {
        check_elements_disjoint(kOperation, {"loss", loss});
        for (const Operand &operand :
             {Operand{"logits", logits}, {"labels", labels}, {"gradient", gradient}}) {
            check_disjoint(kOperation, operand, {"loss", loss});
        }
    }
}

void check(const Arguments &arguments) {
    const auto &[logits, labels, loss, output] = arguments;
    const Tensor &gradient = output.tensor();
    if (!logits.defined()) fail("logits are undefined");
    if (!labels.defined()) fail("labels are undefined");
    if (!loss.defined() && !gradient.defined()) fail("loss and gradient are both undefined");
    for (const Operand &operand :
         {Operand{"labels", labels}, {"loss", loss}, {"gradient", gradient}}) {
        check_device(kOperation, operand, {"logits", logits});
    }
    check_float(kOperation, logits.type());
    if (labels.type() != DataType::s32 && labels.type() != DataType::s64) {
        fail("labels are " + std::string(name_of(labels.type())) + ", they must be s32 or s64");
    }
    if (loss.defined() && loss.type() != DataType::f32) {
        fail("loss is " + std::string(name_of(loss.type())) + ", it must be f32");
    }
    check_type(kOperation, {"gradient", gradient}, {"logits", logits});
    check_shapes(arguments);
    check_memory(arguments);
    if (!labels.device().is_cpu()) return;
    labels.type() == DataType::s64 ? check_labels<int64_t>(arguments)
                                   : check_labels<int32_t>(arguments);
}

Fields fields_of(DataType type, int64_t rows, int64_t classes) {
    Fields fields(type, Layout::any);
#include "softmax_cross_entropy/fields.def"
    return fields;
}

const KernelInfo &kernel_for(const KernelInfo *given, const Arguments &arguments) {
    const Tensor &logits = arguments.logits;
    const Fields fields = fields_of(logits.type(), arguments.rows(), arguments.classes());
    SelectionCache &cache = selections<softmax_cross_entropy_kernels>(kOperation);
    return cache.find(given, fields, logits.device(), [&] {
        return std::string(kOperation) + " " + std::string(name_of(logits.type())) + ", logits " +
               hk::to_string(logits.shape());
    });
}

// The dimensions of a tensor as a kernel's buffer.
BufferView view_of(const char *name, const Tensor &tensor) {
    BufferView view(tensor, {});
    for (size_t d = tensor.shape().size(); d-- > 0;)
        view.dims.push_back({tensor.shape()[d], tensor.strides()[d]});
    canonicalise(view.dims);
    check_fits_kernel(kOperation, name, view);
    return view;
}

// As s32, which kernels read: of s64 the lower halves, which hold every label that was checked.
BufferView view_of_labels(const Tensor &labels) {
    static_assert(std::endian::native == std::endian::little);
    BufferView view(labels, {{labels.shape()[0], labels.strides()[0]}});
    if (labels.type() == DataType::s64) {
        view.type = DataType::s32;
        view.offset *= 2;
        if (view.dims[0].extent > 1) view.dims[0].stride *= 2;
    }
    canonicalise(view.dims);
    check_fits_kernel(kOperation, "labels", view);
    return view;
}

// Where a result is not wanted: over the logits, but of no elements.
BufferView none_of(BufferView logits, DataType type, const Dims &dims) {
    logits.type = type;
    logits.offset = 0;
    logits.dims = dims;
    return logits;
}

// `row`: null for the one that selection takes.
void run(const KernelInfo *row, const Arguments &arguments, float scale, const Stream &stream) try {
    check(arguments);
    const auto &[logits, labels, loss, output] = arguments;
    const Tensor &gradient = output.tensor();
    const Device device = logits.device();
    const Operand all[] = {
        {"logits", logits}, {"labels", labels}, {"loss", loss}, {"gradient", gradient}};
    OperationCall context(kOperation, device, all, stream);
    const bool own_queue = on_own_queue(stream);
    const BufferView from = view_of("logits", logits), which = view_of_labels(labels);
    const BufferView losses =
        loss.defined() ? view_of("loss", loss) : none_of(from, DataType::f32, {{0, 1}});
    const BufferView to = gradient.defined()
                              ? view_of("gradient", gradient)
                              : none_of(from, logits.type(), {{0, 1}, {arguments.rows(), 0}});
    const KernelInfo &kernel = kernel_for(row, arguments);
    if (arguments.rows() == 0) return;

    const auto use = [](const Tensor &tensor) {
        return tensor.defined() ? Use::write : Use::absent;
    };
    const bool in_place = output.is_inplace();
    KernelBuffer labels_buffer(which, {kOperation, "labels", Use::read, own_queue});
    KernelBuffer loss_buffer(losses, {kOperation, "loss", use(loss), own_queue});
    KernelBuffer gradient_buffer(
        to, {kOperation, "gradient", in_place ? Use::update : use(gradient), own_queue});
    std::optional<KernelBuffer> logits_buffer;
    if (!in_place)
        logits_buffer.emplace(from, KernelBuffer::Role{kOperation, "logits", Use::read, own_queue});
    call_kernel(context, KernelArguments(kOperation, kernel)
                             .add({{"logits", in_place ? gradient_buffer : *logits_buffer},
                                   {"labels", labels_buffer},
                                   {"scale", scale},
                                   {"loss", loss_buffer},
                                   {"gradient", gradient_buffer}}));
    loss_buffer.finish();
    gradient_buffer.finish();
} catch (...) {
    rethrow_as_error(kOperation);
}

}  // namespace

void softmax_cross_entropy(const Tensor &logits, const Tensor &labels, const Tensor &loss,
                           const Output &gradient, float scale, const Stream &stream) {
    run(nullptr, {logits, labels, loss, gradient}, scale, stream);
}

void softmax_cross_entropy_with(const KernelInfo &kernel, const Tensor &logits,
                                const Tensor &labels, const Tensor &loss, const Output &gradient,
                                float scale, const Stream &stream) {
    run(&kernel, {logits, labels, loss, gradient}, scale, stream);
}

Selection select_softmax_cross_entropy(int64_t rows, int64_t classes, DataType type,
                                       DeviceType device, const DeviceLimits &limits,
                                       bool explain) {
    return select(softmax_cross_entropy_kernels(), fields_of(type, rows, classes), device, limits,
                  explain);
}

}  // namespace hk
