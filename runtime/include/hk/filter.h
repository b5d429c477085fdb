#pragma once
// The weight of a convolution: as it is, or prepared once for many calls.
//
//   hk::conv2d(input, weight, bias, residual, output, options);  // a weight that changes
//   const hk::Filter filter = hk::prepare_filter(weight);        // one that does not
//   hk::conv2d(input, filter, bias, residual, output, options);
//
// hk::quantized_conv2d takes a quantised weight in the same two ways.
//
// Most kernels of the CPU read a copy of the weight in vectors of filters, in f32, where pairs of
// bf16 are multiplied (hk/conv2d.h) in bf16, of a quantised one in bytes, or one that is
// transformed for Winograd's convolution. Of a plain weight each call makes that copy, which takes
// the longer the fewer pixels there are; of a prepared one the first call keeps it. The results are
// equal within the errors that hk/conv2d.h names, as another row may be selected.

#include <memory>

#include "hk/quantization.h"
#include "hk/tensor.h"

namespace hk {

class Filter {
public:
    // Refers to the tensor: to be made in the call that it is for.
    Filter(const Tensor &weight) : tensor_(&weight) {}

    const Tensor &tensor() const noexcept { return *tensor_; }
    bool is_prepared() const noexcept { return prepared_ != nullptr; }
    size_t bytes() const;  // that are kept beside the weight, so far

    struct Prepared;
    const std::shared_ptr<Prepared> &prepared() const noexcept { return prepared_; }

private:
    friend Filter prepare_filter(const Tensor &weight);

    const Tensor *tensor_;
    std::shared_ptr<Prepared> prepared_;
};

// A quantised weight. What was said of Filter holds for its values. Throws OutOfMemory.
struct QuantizedFilter {
    QuantizedFilter(const QuantizedTensor &weight);
    QuantizedFilter(const Tensor &weight, Quantization quantization = {})
        : values(weight), quantization(std::move(quantization)) {}

    Filter values;
    Quantization quantization;
};

// Keeps the weight's storage, and what kernels make of it from the first call on that needs it: 4
// bytes an element, 2 of pairs of bf16, and 16 for Winograd, filters filled up to a multiple of 16,
// and for products of matrices channels to one of 32, for each layout and number of groups that
// calls have; of a quantised one a byte, channels filled up to a multiple of 4, or 64. The weight
// must not change as long as this or a copy lives, which share all that. Safe to use from several
// threads at once. On a GPU it is the weight as it is.
Filter prepare_filter(const Tensor &weight);
QuantizedFilter prepare_filter(const QuantizedTensor &weight);

}  // namespace hk
