#pragma once
// The maps of a tensor product as a GPU's kernels read them, in memory of the device. Made once,
// they serve any number of calls of one family's kernels with tiles of one size, on one stream.

#include <memory>

#include "tensor_product/device_array.h"
#include "tensor_product/maps.h"

namespace hk::detail {

class TensorProductGpuMaps : public TensorProductMaps::Impl::Form {
public:
    using Direction = TensorProductMaps::Impl::Direction;

    struct Key {
        Direction direction;
        bool atomic;          // of rows of tensor_product_atomic
        int64_t rows, pairs;  // of a block, 0 of atomic; of a tile, 0 of slots
        StreamKey stream;

        bool operator==(const Key &) const = default;
    };
    static Key key_of(const KernelInfo &kernel, Direction direction, const CallContext &context);

    // Throws InvalidArgument for more than a kernel counts; OutOfMemory, DeviceError.
    TensorProductGpuMaps(const char *operation, const KernelInfo &kernel,
                         const TensorProductMaps::Impl &maps, Direction direction,
                         const CallContext &context);

    const Key &key() const { return key_; }
    size_t bytes() const override;
    bool empty() const { return empty_; }  // no pairs: a kernel reads neither input nor weight

    // Of tensor_product_atomic [i, tile], [i, tile], [tile], of tensor_product_stationary [i,
    // slot], of tiles [i, tile], [slot], [block + 1] and [i, block].
    halide_buffer_t source() const { return source_->view(); }
    halide_buffer_t target() const { return target_->view(); }
    halide_buffer_t offset() const { return offset_->view(); }
    halide_buffer_t first() const { return first_->view(); }
    halide_buffer_t row() const { return row_->view(); }
    int32_t most() const { return most_; }  // slots of a block

private:
    using Array = std::unique_ptr<DeviceArray>;

    const Key key_;
    Array source_, target_, offset_, first_, row_;
    int32_t most_ = 0;
    bool empty_ = false;
};

}  // namespace hk::detail
