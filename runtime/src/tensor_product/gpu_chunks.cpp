#include "tensor_product/gpu_chunks.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace hk::detail {

namespace {

constexpr double kPartBytes = 16 << 20;
constexpr int64_t kMostSlices = 512;  // blocks for any GPU, where one tile is the whole matrix
constexpr int64_t kStep = 64;         // a multiple of the pairs that kernels stage at once

// Where the chunks of each offset begin.
std::vector<int32_t> first_chunks(const TensorProductChunks &chunks, int64_t offsets) {
    const std::span<const int32_t> of_chunks = chunks.offsets();
    std::vector<int32_t> first;
    for (int64_t n = 0; n <= offsets; n++) {
        const auto found = std::lower_bound(of_chunks.begin(), of_chunks.end(), n);
        first.push_back(static_cast<int32_t>(found - of_chunks.begin()));
    }
    return first;
}

}  // namespace

int64_t TensorProductGpuChunks::pairs_of_slice(const TensorProductProblem &problem) {
    const double part = static_cast<double>(problem.input_channels) *
                        static_cast<double>(problem.output_channels * problem.groups) *
                        (problem.type == DataType::f64 ? 8 : 4);
    const auto fit = static_cast<int64_t>(std::min<double>(kPartBytes / std::max(part, 1.0), 1e6));
    const int64_t slices = std::clamp<int64_t>(fit - problem.offsets, 1, kMostSlices);
    const int64_t pairs = (problem.pairs + slices - 1) / slices;
    const int64_t least = fit > problem.offsets ? 4 * kStep : std::max(problem.pairs, kStep);
    const int64_t most = std::numeric_limits<int32_t>::max() / kStep * kStep;
    return std::min((std::max(pairs, least) + kStep - 1) / kStep * kStep, most);
}

TensorProductGpuChunks::TensorProductGpuChunks(const char *operation, const KernelInfo &kernel,
                                               const TensorProductMaps::Impl &maps, int64_t pairs,
                                               const CallContext &context)
    : key_{pairs, StreamKey(context)} {
    const int64_t rows = std::max<int64_t>(maps.output_rows, 1);  // one block
    const TensorProductChunks chunks(operation, maps, {pairs, rows, 1});
    if (chunks.empty()) return;
    const auto array = [&](std::span<const int32_t> numbers) {
        return std::make_unique<DeviceArray>(operation, kernel, context, numbers.data(),
                                             static_cast<int64_t>(numbers.size()));
    };
    source_ = array(chunks.sources());
    target_ = array(chunks.targets());
    begin_ = array(chunks.begins());
    offset_ = array(chunks.offsets());
    first_ = array(first_chunks(chunks, maps.offsets));
}

size_t TensorProductGpuChunks::bytes() const {
    size_t bytes = 0;
    for (const auto *array : {&source_, &target_, &begin_, &offset_, &first_})
        if (*array) bytes += (*array)->bytes();
    return bytes;
}

}  // namespace hk::detail
