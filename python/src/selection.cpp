#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "element_types.h"
#include "hk/activation.h"
#include "hk/conv2d_backward.h"
#include "hk/error.h"
#include "hk/group_norm.h"
#include "hk/pool2d.h"
#include "hk/quantized_conv2d.h"
#include "hk/sgd.h"
#include "hk/softmax_cross_entropy.h"
#include "hk/tensor_product_backward.h"
#include "hk/topk.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

thread_local bool asked = false;

// For as long as the function is called that is to be explained.
struct Asking {
    Asking() : before(std::exchange(asked, true)) {}
    ~Asking() { asked = before; }
    bool before;
};

Selection explain(nb::callable function, nb::args arguments, nb::kwargs options) {
    nb::object found;
    {
        const Asking asking;
        found = function(*arguments, **options);
    }
    const Selection *selection = nullptr;
    if (nb::try_cast(found, selection) && selection) return *selection;
    refuse_type("explain: function is " + shown(function) +
                ", it must be an operation of halide_kernels that chooses among rows");
}

std::vector<const KernelInfo *> kernels() {
    std::vector<const KernelInfo *> result;
    for (const std::span<const KernelInfo> rows : {conv2d_kernels(),
                                                   conv2d_filter_kernels(),
                                                   conv2d_backward_data_kernels(),
                                                   conv2d_backward_weight_kernels(),
                                                   conv2d_backward_bias_kernels(),
                                                   quantized_conv2d_kernels(),
                                                   quantized_conv2d_filter_kernels(),
                                                   pool2d_kernels(),
                                                   pool2d_backward_kernels(),
                                                   activate_kernels(),
                                                   activate_backward_kernels(),
                                                   group_norm_kernels(),
                                                   softmax_cross_entropy_kernels(),
                                                   sgd_kernels(),
                                                   topk_kernels(),
                                                   topk_tiles_kernels(),
                                                   topk_merge_kernels(),
                                                   topk_unpack_kernels(),
                                                   tensor_product_kernels(),
                                                   tensor_product_stationary_kernels(),
                                                   tensor_product_atomic_kernels(),
                                                   tensor_product_backward_weight_kernels()})
        for (const KernelInfo &row : rows) result.push_back(&row);
    return result;
}

// Those that the kernel compiler knows.
nb::dict resources(const KernelInfo &kernel) {
    nb::dict result;
    const KernelResources &r = kernel.resources;
    const std::pair<const char *, int> all[] = {{"registers", r.registers},
                                                {"stack_bytes", r.stack_bytes},
                                                {"spill_bytes", r.spill_bytes},
                                                {"shared_bytes", r.shared_bytes()},
                                                {"threads", r.threads}};
    for (const auto &[name, value] : all)
        if (value >= 0) result[name] = value;
    return result;
}

std::string text_of(const Selection &selection) {
    std::string text = selection.kernel ? selection.kernel->name : "no row takes the problem";
    for (const Rung &rung : selection.ladder)
        if (!rung.shortage.empty())
            text += "\n  not " + std::string(rung.kernel->row) + ": " + rung.shortage;
    for (const Rejection &rejected : selection.rejected)
        text += "\n  not " + std::string(rejected.kernel->row) + ": " + rejected.reason;
    return text;
}

constexpr auto kStatic = nb::rv_policy::reference;  // rows live as long as the process

void add_kernel(nb::module_ &module) {
    nb::class_<KernelInfo>(module, "Kernel", "A row of the table: one compiled function.")
        .def_ro("name", &KernelInfo::name)
        .def_ro("family", &KernelInfo::family)
        .def_ro("row", &KernelInfo::row)
        .def_ro("algorithm", &KernelInfo::algorithm)
        .def_ro("schedule", &KernelInfo::schedule)
        .def_ro("knobs", &KernelInfo::knobs)
        .def_prop_ro("dtype", [](const KernelInfo &self) { return numpy_name(self.type); })
        .def_prop_ro("layout",
                     [](const KernelInfo &self) { return std::string(name_of(self.layout)); })
        .def_prop_ro("device",
                     [](const KernelInfo &self) { return std::string(name_of(self.device)); })
        .def_prop_ro("resources", resources,
                     "Registers and bytes a thread, shared bytes and threads a block, as far as "
                     "known.",
                     nb::sig("def resources(self) -> dict[str, int]"))
        .def("__repr__",
             [](const KernelInfo &self) { return "<Kernel " + std::string(self.name) + ">"; });
}

}  // namespace

bool explaining() noexcept { return asked; }

Result explained(Selection selection) { return {nb::cast(std::move(selection))}; }

void add_selection(nb::module_ &module) {
    add_kernel(module);
    nb::class_<Selection>(module, "Selection",
                          "Which row a call takes, and why not those before it.")
        .def_prop_ro(
            "kernel", [](const Selection &self) { return self.kernel; }, kStatic,
            nb::sig("def kernel(self) -> Kernel | None"))
        .def_prop_ro(
            "rejected",
            [](const Selection &self) {
                nb::list rows;
                for (const Rejection &one : self.rejected) {
                    rows.append(nb::make_tuple(nb::cast(one.kernel, kStatic), one.reason));
                }
                return rows;
            },
            "(Kernel, reason) of each row that does not take the problem.",
            nb::sig("def rejected(self) -> list[tuple[Kernel, str]]"))
        .def_prop_ro(
            "ladder",
            [](const Selection &self) {
                nb::list rows;
                for (const Rung &rung : self.ladder) {
                    rows.append(nb::make_tuple(nb::cast(rung.kernel, kStatic), rung.shortage));
                }
                return rows;
            },
            "(Kernel, what the device lacks for it, or \"\") of each row that does.",
            nb::sig("def ladder(self) -> list[tuple[Kernel, str]]"))
        .def_prop_ro("fell_back", &Selection::fell_back,
                     "Whether the device is too small for the row of a larger one.")
        .def("__str__", text_of)
        .def("__repr__", text_of);
    module.def("explain", explain, "function"_a, "args"_a, "kwargs"_a,
               "Which kernel a call would run: explain(conv2d, x, w, stride=2). Nothing runs.",
               nb::sig("def explain(function: collections.abc.Callable[..., typing.Any], "
                       "*args: typing.Any, **kwargs: typing.Any) -> Selection"));
    module.def("kernels", kernels, kStatic, "All rows of the table, in its order.");
}

}  // namespace hk::python
