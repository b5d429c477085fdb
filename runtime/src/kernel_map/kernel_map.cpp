#include "hk/kernel_map.h"

#include <limits>

#include "kernel_map/pairs.h"
#include "rethrow.h"

namespace hk {

using namespace detail;

namespace {

constexpr int64_t kMostOffsets = int64_t{1} << 20;

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

void check_coordinates(const char *operation, const Tensor &coordinates) {
    if (!coordinates.defined()) fail(operation, "the coordinates are undefined");
    if (coordinates.device() != Device::cpu()) {
        fail(operation,
             "the coordinates are on " + coordinates.device().name() + ", they must be on cpu");
    }
    if (coordinates.type() != DataType::s32 && coordinates.type() != DataType::s64) {
        fail(operation, "the coordinates are " + std::string(name_of(coordinates.type())) +
                            ", not s32 or s64");
    }
    if (coordinates.rank() != 2 || coordinates.shape()[1] != 4) {
        fail(operation, "the coordinates have shape " + to_string(coordinates.shape()) +
                            ", it must be [rows, 4]");
    }
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (coordinates.shape()[0] > kMost) {
        fail(operation, "there are " + std::to_string(coordinates.shape()[0]) +
                            " rows of coordinates, at most " + std::to_string(kMost) +
                            " are possible");
    }
    if (coordinates.shape()[0] > 1 && coordinates.strides()[0] == 0) {
        fail(operation, std::to_string(coordinates.shape()[0]) +
                            " rows of the coordinates are the same: their stride is 0");
    }
}

void check_options(const char *operation, const KernelMapOptions &options) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const auto check = [&](const char *what, const std::array<int64_t, 3> &values) {
        for (int a = 0; a < 3; a++) {
            if (values[a] >= 1 && values[a] <= kMost) continue;
            fail(operation, std::string(what) + " along " + "xyz"[a] + " is " +
                                std::to_string(values[a]) + ", it must be 1 to " +
                                std::to_string(kMost));
        }
    };
    check("kernel_size", options.kernel_size);
    check("stride", options.stride);
    check("dilation", options.dilation);
    __int128 offsets = 1;
    for (const int64_t size : options.kernel_size) offsets *= size;
    if (offsets > kMostOffsets) {
        const auto &size = options.kernel_size;
        fail(operation, "kernel_size " + to_string(Shape(size.begin(), size.end())) +
                            " has too many offsets, at most " + std::to_string(kMostOffsets) +
                            " are possible");
    }
}

Tensor as_s32(const Tensor &coordinates) {
    Tensor result(coordinates.shape(), DataType::s32);
    if (coordinates.type() == DataType::s32) {
        result.copy_from(coordinates);
        return result;
    }
    const auto *from = coordinates.data<int64_t>();
    auto *to = result.data<int32_t>();
    const Shape &strides = coordinates.strides();
    each_chunk(coordinates.shape()[0], [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i++) {
            for (int a = 0; a < 4; a++)
                to[4 * i + a] = static_cast<int32_t>(from[i * strides[0] + a * strides[1]]);
        }
    });
    return result;
}

template<typename Make>
KernelMap make_map(const char *operation, const Tensor &coordinates,
                   const KernelMapOptions &options, Make make) try {
    check_coordinates(operation, coordinates);
    check_options(operation, options);
    try {
        KernelMap map;
        const Cloud cloud(operation, coordinates, options);
        map.input_rows = cloud.size();
        make(cloud, map);
        map.output_rows = map.coordinates.shape()[0];
        return map;
    } catch (const OutOfMemory &error) {
        throw OutOfMemory(std::string(operation) + ": " + error.what());
    }
} catch (...) {
    rethrow_as_error(operation);
}

constexpr const char *kTransposed = "transposed", *kTo = "KernelMap::to";

}  // namespace

KernelMap submanifold_map(const Tensor &coordinates, const KernelMapOptions &options) {
    constexpr const char *kOperation = "submanifold_map";
    for (int a = 0; a < 3; a++) {
        if (options.stride[a] == 1) continue;
        fail(kOperation, std::string("stride along ") + "xyz"[a] + " is " +
                             std::to_string(options.stride[a]) + ", it must be 1");
    }
    return make_map(kOperation, coordinates, options, [&](const Cloud &cloud, KernelMap &map) {
        map.coordinates = as_s32(coordinates);
        find_pairs({cloud, options, nullptr}, map);
    });
}

KernelMap strided_map(const Tensor &coordinates, const KernelMapOptions &options) {
    return make_map("strided_map", coordinates, options, [&](const Cloud &cloud, KernelMap &map) {
        const Array<int64_t> keys = strided_keys(cloud);
        map.coordinates = strided_coordinates(cloud, keys);
        find_pairs({cloud, options, &keys}, map);
    });
}

KernelMap KernelMap::transposed(const Tensor &input_coordinates) const try {
    check_coordinates(kTransposed, input_coordinates);
    if (input_coordinates.shape()[0] != input_rows) {
        fail(kTransposed, "there are " + std::to_string(input_coordinates.shape()[0]) +
                              " rows of input coordinates, the map has " +
                              std::to_string(input_rows) + " input rows");
    }
    check_values(kTransposed, input_coordinates);
    KernelMap map = *this;
    map.coordinates = as_s32(input_coordinates);
    std::swap(map.imap, map.omap);
    std::swap(map.input_rows, map.output_rows);
    return map;
} catch (...) {
    rethrow_as_error(kTransposed);
}

KernelMap KernelMap::to(Device device) const try {
    KernelMap map = *this;
    for (Tensor *tensor : {&map.coordinates, &map.imap, &map.omap, &map.starts})
        *tensor = tensor->to(device);
    return map;
} catch (...) {
    rethrow_as_error(kTo);
}

}  // namespace hk
