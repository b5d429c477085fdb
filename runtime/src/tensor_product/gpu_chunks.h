#pragma once
// The pairs of a tensor product in the slices of
// generators/tensor_product/tensor_product_backward_weight_offsets.h, in memory of a device: chunks
// of one offset each, whatever rows they reach, and of as many as f32 adds up. Where memory is for
// fewer slices than there are, a kernel runs for some after the others.

#include <vector>

#include "tensor_product/chunks.h"
#include "tensor_product/device_array.h"

namespace hk::detail {

class TensorProductGpuChunks : public TensorProductMaps::Impl::Form {
public:
    // As many pairs a slice as make enough blocks for a GPU, and parts of 16 MB or one an offset.
    struct Sizes {
        Sizes(const KernelInfo &kernel, const TensorProductProblem &problem);

        bool operator==(const Sizes &) const = default;

        int64_t pairs;   // of a slice, at most
        int64_t slices;  // of a call, at most
    };

    struct Key {
        Sizes sizes;
        StreamKey stream;

        bool operator==(const Key &) const = default;
    };

    // Throws what TensorProductChunks throws, and DeviceError.
    TensorProductGpuChunks(const char *operation, const KernelInfo &kernel,
                           const TensorProductMaps::Impl &maps, const Sizes &sizes,
                           const CallContext &context);

    const Key &key() const { return key_; }
    size_t bytes() const override;
    bool empty() const { return !source_; }

    // Of the kernel's calls, [pair], [pair]; not where there are no pairs.
    halide_buffer_t source() const { return source_->view(); }
    halide_buffer_t target() const { return target_->view(); }
    int32_t most() const { return static_cast<int32_t>(key_.sizes.pairs); }

    // Of one call, [slice + 1], [slice], [offset + 1].
    struct Slices {
        std::unique_ptr<DeviceArray> begin, offset, first;
    };
    const std::vector<Slices> &calls() const { return calls_; }

private:
    Key key_;
    std::unique_ptr<DeviceArray> source_, target_;
    std::vector<Slices> calls_;
};

}  // namespace hk::detail
