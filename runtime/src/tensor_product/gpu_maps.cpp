#include "tensor_product/gpu_maps.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tensor_product/slots.h"
#include "tensor_product/tiles.h"

namespace hk::detail {

TensorProductGpuMaps::Key TensorProductGpuMaps::key_of(const KernelInfo &kernel,
                                                       Direction direction,
                                                       const CallContext &context) {
    const TileSizes sizes(kernel);
    const bool atomic = std::string_view(kernel.family) == "tensor_product_atomic";
    return {direction, atomic, atomic ? 0 : sizes.rows,
            atomic ? sizes.pairs : kernel.extent("target_row", 0), StreamKey(context)};
}

TensorProductGpuMaps::TensorProductGpuMaps(const char *operation, const KernelInfo &kernel,
                                           const TensorProductMaps::Impl &maps, Direction direction,
                                           const CallContext &context)
    : key_(key_of(kernel, direction, context)) {
    const PairMaps pairs = maps.pairs(direction);
    const auto array = [&](const int32_t *host, int64_t inner, int64_t outer = 0) {
        return std::make_unique<DeviceArray>(operation, kernel, context, host, inner, outer);
    };
    if (!key_.atomic) {
        const TensorProductSlots slots(operation, pairs, key_.rows, key_.pairs);
        const int64_t places = key_.pairs > 0 ? key_.pairs : key_.rows;
        // Of no slots one, which no block has.
        const std::vector<int32_t> none(static_cast<size_t>(places), -1);
        empty_ = slots.slots() == 0;
        const int64_t count = std::max<int64_t>(slots.slots(), 1);
        source_ = array(empty_ ? none.data() : slots.source(), places, count);
        if (key_.pairs > 0) target_ = array(empty_ ? none.data() : slots.target(), places, count);
        offset_ = array(empty_ ? none.data() : slots.offset(), count);
        row_ = array(slots.row(), key_.rows, slots.blocks());
        first_ = array(slots.first(), slots.blocks() + 1);
        most_ = slots.most();
        return;
    }
    TileSizes sizes(kernel);
    sizes.rows = std::max<int64_t>(pairs.target.rows, 1);  // one block
    const TensorProductTiles tiles(operation, maps, direction, sizes);
    empty_ = tiles.empty();
    if (empty_) {  // a tile of no pairs
        const std::vector<int32_t> from(static_cast<size_t>(key_.pairs), 0),
            to(from.size(), static_cast<int32_t>(pairs.target.rows));
        source_ = array(from.data(), key_.pairs, 1);
        target_ = array(to.data(), key_.pairs, 1);
        offset_ = array(from.data(), 1);
        return;
    }
    IndexBuffer source = tiles.source(), target = tiles.target(), offset = tiles.offset();
    const auto upload = [&](IndexBuffer &buffer) {
        const halide_buffer_t &b = *buffer.get();
        return array(reinterpret_cast<const int32_t *>(b.host), b.dim[0].extent,
                     b.dimensions > 1 ? b.dim[1].extent : 0);
    };
    source_ = upload(source);
    target_ = upload(target);
    offset_ = upload(offset);
}

size_t TensorProductGpuMaps::bytes() const {
    size_t bytes = 0;
    for (const Array *array : {&source_, &target_, &offset_, &first_, &row_})
        if (*array) bytes += (*array)->bytes();
    return bytes;
}

}  // namespace hk::detail
