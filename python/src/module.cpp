// The module halide_kernels._core.

#include <nanobind/nanobind.h>

#include "operations.h"
#include "unlocked.h"

NB_MODULE(_core, module) {
    module.doc() = "Deep-learning kernels compiled ahead of time from Halide.";
    module.attr("__version__") = HK_VERSION;
    // Objects may live in modules that end after this one.
    nanobind::set_leak_warnings(false);
    hk::python::wait_at_forks();
    hk::python::add_tensor(module);
    hk::python::add_library(module);
    hk::python::add_selection(module);
    hk::python::add_convolution(module);
    hk::python::add_quantized_convolution(module);
    hk::python::add_pooling(module);
    hk::python::add_elementwise(module);
    hk::python::add_normalisation(module);
    hk::python::add_topk(module);
    hk::python::add_tensor_product(module);
    hk::python::add_kernel_map(module);
    hk::python::add_torch_calls(module);
#if HK_JAX
    hk::python::add_jax(module);
#endif
}
