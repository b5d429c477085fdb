#pragma once
// The pairs of a tensor product in the slices of
// generators/tensor_product_backward_weight/offsets.h, in memory of a device: chunks of one offset
// each, whatever rows they reach.

#include "tensor_product/chunks.h"
#include "tensor_product/device_array.h"

namespace hk::detail {

class TensorProductGpuChunks : public TensorProductMaps::Impl::Form {
public:
    struct Key {
        int64_t pairs;  // of a slice, at most
        StreamKey stream;

        bool operator==(const Key &) const = default;
    };

    // As many pairs a slice as make enough blocks for a GPU, and parts of 16 MB or one an offset.
    static int64_t pairs_of_slice(const TensorProductProblem &problem);

    // Throws what TensorProductChunks throws, and DeviceError.
    TensorProductGpuChunks(const char *operation, const KernelInfo &kernel,
                           const TensorProductMaps::Impl &maps, int64_t pairs,
                           const CallContext &context);

    const Key &key() const { return key_; }
    size_t bytes() const override;
    bool empty() const { return !source_; }

    // Of a kernel, [pair], [pair], [slice + 1], [slice], [offset + 1]; not where there are no
    // pairs.
    halide_buffer_t source() const { return source_->view(); }
    halide_buffer_t target() const { return target_->view(); }
    halide_buffer_t begin() const { return begin_->view(); }
    halide_buffer_t offset() const { return offset_->view(); }
    halide_buffer_t first() const { return first_->view(); }
    int32_t most() const { return static_cast<int32_t>(key_.pairs); }

private:
    Key key_;
    std::unique_ptr<DeviceArray> source_, target_, begin_, offset_, first_;
};

}  // namespace hk::detail
