#include "hk/kernel_map.h"

#include <nanobind/nanobind.h>

#include "call.h"
#include "operations.h"
#include "sparse_maps.h"

namespace hk::python {

namespace {

using namespace nb::literals;

KernelMapObject submanifold(First coordinates, Triple kernel_size, Triple dilation) {
    Call call("submanifold_map");
    const Tensor rows = call.read(coordinates, "coordinates");
    const KernelMapOptions options{read_triple(call.operation(), "kernel_size", kernel_size),
                                   {1, 1, 1},
                                   read_triple(call.operation(), "dilation", dilation)};
    KernelMap map;
    call.run([&] { map = submanifold_map(rows, options); });
    return {std::move(map), call.kind()};
}

KernelMapObject strided(First coordinates, Triple kernel_size, Triple stride, Triple dilation) {
    Call call("strided_map");
    const Tensor rows = call.read(coordinates, "coordinates");
    const KernelMapOptions options{read_triple(call.operation(), "kernel_size", kernel_size),
                                   read_triple(call.operation(), "stride", stride),
                                   read_triple(call.operation(), "dilation", dilation)};
    KernelMap map;
    call.run([&] { map = strided_map(rows, options); });
    return {std::move(map), call.kind()};
}

KernelMapObject transposed(const KernelMapObject &self, Array input_coordinates) {
    Call call("transposed");
    const Tensor rows = call.read(input_coordinates, "input_coordinates");
    KernelMap map;
    call.run([&] { map = self.map().transposed(rows); });
    return {std::move(map), self.kind()};
}

template<Tensor KernelMap::*kPart>
nb::object part(const KernelMapObject &self) {
    return export_tensor(self.map().*kPart, self.kind());
}

constexpr const char *kClass =
    R"(The pairs of rows that each offset of a sparse convolution's kernel connects.

tensor_product and its gradients take it as their maps.)";

constexpr const char *kSubmanifold =
    R"(Map of a sparse convolution whose output voxels are its input's.

Args:
    coordinates: [rows, 4], int32 or int64 of up to 32 bits, on the CPU: batch, x, y, z of each
        voxel; none twice.
    kernel_size, dilation: voxels; an int, or (x, y, z). An odd size s reaches (s-1)/2 to each side,
        an even one 0 to s-1. In a weight [offsets, C, M] x is slowest and z fastest.

Raises: ValueError for a voxel that is there twice, with both rows.

Source: runtime/include/hk/kernel_map.h; MinkowskiEngine's convention.)";

constexpr const char *kStrided = R"(Map of a strided sparse convolution.

Output voxels are all different floor(coordinate / stride), ascending by batch, x, y and z; they are
the result's coordinates.

Args: as submanifold_map's; stride in voxels, an int or (x, y, z).

Source: runtime/include/hk/kernel_map.h.)";

}  // namespace

void add_kernel_map(nb::module_ &module) {
    nb::class_<KernelMapObject>(module, "KernelMap", kClass)
        .def_prop_ro("coordinates", part<&KernelMap::coordinates>,
                     "Of the output rows, int32 [output rows, 4].")
        .def_prop_ro("imap", part<&KernelMap::imap>, "Input row of each pair, int32.")
        .def_prop_ro("omap", part<&KernelMap::omap>, "Output row of each pair, int32.")
        .def_prop_ro("starts", part<&KernelMap::starts>,
                     "Place of each offset's first pair, and their number, int64 [offsets + 1].")
        .def_prop_ro("input_rows",
                     [](const KernelMapObject &self) { return self.map().input_rows; })
        .def_prop_ro("output_rows",
                     [](const KernelMapObject &self) { return self.map().output_rows; })
        .def_prop_ro("offsets", [](const KernelMapObject &self) { return self.map().offsets; })
        .def_prop_ro("pairs", [](const KernelMapObject &self) { return self.map().pairs(); })
        .def("transposed", transposed, "input_coordinates"_a,
             "The map of the convolution back from the output rows to these input rows.")
        .def("__repr__", [](const KernelMapObject &self) {
            const KernelMap &map = self.map();
            return "KernelMap(input_rows=" + std::to_string(map.input_rows) +
                   ", output_rows=" + std::to_string(map.output_rows) +
                   ", offsets=" + std::to_string(map.offsets) +
                   ", pairs=" + std::to_string(map.pairs()) + ")";
        });
    module.def("submanifold_map", submanifold, "coordinates"_a, "kernel_size"_a = 3, nb::kw_only(),
               "dilation"_a = 1, kSubmanifold);
    module.def("strided_map", strided, "coordinates"_a, "kernel_size"_a = 2, "stride"_a = 2,
               nb::kw_only(), "dilation"_a = 1, kStrided);
}

}  // namespace hk::python
