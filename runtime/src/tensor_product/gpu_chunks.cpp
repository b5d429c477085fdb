#include "tensor_product/gpu_chunks.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "tensor_product/operands.h"

namespace hk::detail {

namespace {

constexpr double kPartBytes = 16 << 20;
constexpr int64_t kMostSlices = 512;  // blocks for any GPU, where one tile is the whole matrix
constexpr int64_t kStep = 64;         // a multiple of the pairs that kernels stage at once

// Pairs of a slice, one addition each, or of 8 by tensor cores nine that are cut off, which lose
// twice as much as those that round: 18 for 8.
int64_t most_pairs(const KernelInfo &kernel, DataType type) {
    const int64_t most = most_additions(type);
    if (std::string_view(kernel.algorithm) != "products") return most;
    return std::min<int64_t>(most, 7 << 13) / 2;
}

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

TensorProductGpuChunks::Sizes::Sizes(const KernelInfo &kernel,
                                     const TensorProductProblem &problem) {
    const double part = static_cast<double>(problem.input_channels) *
                        static_cast<double>(problem.output_channels * problem.groups) *
                        (problem.type == DataType::f64 ? 8 : 4);
    const auto fit = static_cast<int64_t>(std::min<double>(kPartBytes / std::max(part, 1.0), 1e6));
    const int64_t cut = std::clamp<int64_t>(fit - problem.offsets, 1, kMostSlices);
    const int64_t of_cut = (problem.pairs + cut - 1) / cut;
    const int64_t least = fit > problem.offsets ? 4 * kStep : std::max(problem.pairs, kStep);
    const int64_t most =
        std::min<int64_t>(most_pairs(kernel, problem.type), std::numeric_limits<int32_t>::max()) /
        kStep * kStep;
    pairs = std::min((std::max(of_cut, least) + kStep - 1) / kStep * kStep, most);
    slices = cut + problem.offsets;
}

TensorProductGpuChunks::TensorProductGpuChunks(const char *operation, const KernelInfo &kernel,
                                               const TensorProductMaps::Impl &maps,
                                               const Sizes &sizes, const CallContext &context)
    : key_{sizes, StreamKey(context)} {
    const int64_t rows = std::max<int64_t>(maps.output_rows, 1);  // one block
    const TensorProductChunks chunks(operation, maps,
                                     {sizes.pairs, rows, 1, std::numeric_limits<int32_t>::max()});
    if (chunks.empty()) return;
    const auto array = [&](std::span<const int32_t> numbers) {
        return std::make_unique<DeviceArray>(operation, kernel, context, numbers.data(),
                                             static_cast<int64_t>(numbers.size()));
    };
    source_ = array(chunks.sources());
    target_ = array(chunks.targets());
    const std::vector<int32_t> first = first_chunks(chunks, maps.offsets);
    const auto all = static_cast<int64_t>(chunks.offsets().size());
    for (int64_t s = 0; s < all; s += sizes.slices) {
        const int64_t count = std::min(sizes.slices, all - s);
        std::vector<int32_t> of_call;
        for (const int64_t slice : first)
            of_call.push_back(static_cast<int32_t>(std::clamp<int64_t>(slice - s, 0, count)));
        const auto from = static_cast<size_t>(s), length = static_cast<size_t>(count);
        calls_.push_back({array(chunks.begins().subspan(from, length + 1)),
                          array(chunks.offsets().subspan(from, length)), array(of_call)});
    }
}

size_t TensorProductGpuChunks::bytes() const {
    size_t bytes = 0;
    for (const auto *array : {&source_, &target_})
        if (*array) bytes += (*array)->bytes();
    for (const Slices &slices : calls_)
        bytes += slices.begin->bytes() + slices.offset->bytes() + slices.first->bytes();
    return bytes;
}

}  // namespace hk::detail
