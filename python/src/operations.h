#pragma once
// What each file here adds to the module.

#include <nanobind/nanobind.h>

namespace hk::python {

void add_tensor(nanobind::module_ &module);
void add_library(nanobind::module_ &module);  // devices, threads, memory, errors
void add_selection(nanobind::module_ &module);
void add_convolution(nanobind::module_ &module);
void add_quantized_convolution(nanobind::module_ &module);
void add_pooling(nanobind::module_ &module);
void add_elementwise(nanobind::module_ &module);
void add_normalisation(nanobind::module_ &module);
void add_topk(nanobind::module_ &module);
void add_tensor_product(nanobind::module_ &module);
void add_kernel_map(nanobind::module_ &module);
void add_torch_calls(nanobind::module_ &module);
void add_jax(nanobind::module_ &module);  // where XLA's headers were found

}  // namespace hk::python
