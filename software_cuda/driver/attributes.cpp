#include "software_cuda/driver/attributes.h"

#include <climits>
#include <iterator>

namespace software_cuda {

namespace {

struct Attribute {
    int number;
    int (*value)(const Device &);
};

template<int Value>
int constant(const Device &) {
    return Value;
}

// Where a value is not a chip's it is that of every chip since compute capability 8.0, or says that
// the device does not have it: textures, surfaces, managed memory, graphs, multicast.
const Attribute kAttributes[] = {
    {1, constant<int{Chip::kThreadsPerBlock}>},
    {2, constant<int{Chip::kBlockLimit[0]}>},
    {3, constant<int{Chip::kBlockLimit[1]}>},
    {4, constant<int{Chip::kBlockLimit[2]}>},
    {5, constant<int{Chip::kGridLimit[0]}>},
    {6, constant<int{Chip::kGridLimit[1]}>},
    {7, constant<int{Chip::kGridLimit[2]}>},
    {8, constant<int{Chip::kSharedBytesPerBlock}>},
    {9, constant<65536>},              // TOTAL_CONSTANT_MEMORY
    {10, constant<int{Chip::kWarp}>},  // WARP_SIZE
    {11, constant<INT_MAX>},           // MAX_PITCH
    {12, constant<int{Chip::kRegistersPerBlock}>},
    {13, [](const Device &d) { return static_cast<int>(d.chip.clock_khz); }},
    {14, constant<512>},  // TEXTURE_ALIGNMENT
    {15, constant<1>},    // GPU_OVERLAP
    {16, [](const Device &d) { return static_cast<int>(d.chip.multiprocessors); }},
    {30, constant<512>},                                  // SURFACE_ALIGNMENT
    {31, constant<1>},                                    // CONCURRENT_KERNELS
    {33, [](const Device &d) { return d.ordinal + 1; }},  // PCI_BUS_ID
    {36, [](const Device &d) { return static_cast<int>(d.chip.memory_clock_khz); }},
    {37, [](const Device &d) { return static_cast<int>(d.chip.memory_bus_bits); }},
    {38, [](const Device &d) { return static_cast<int>(d.chip.l2_bytes); }},
    {39, constant<int{Chip::kThreadsPerMultiprocessor}>},
    {40, constant<1>},   // ASYNC_ENGINE_COUNT
    {41, constant<1>},   // UNIFIED_ADDRESSING
    {51, constant<32>},  // TEXTURE_PITCH_ALIGNMENT
    {75, [](const Device &d) { return static_cast<int>(d.chip.capability / 10); }},
    {76, [](const Device &d) { return static_cast<int>(d.chip.capability % 10); }},
    {78, constant<1>},  // STREAM_PRIORITIES_SUPPORTED
    {81, [](const Device &d) { return static_cast<int>(d.chip.shared_bytes_per_multiprocessor); }},
    {82, constant<int{Chip::kRegistersPerBlock}>},    // MAX_REGISTERS_PER_MULTIPROCESSOR
    {85, [](const Device &d) { return d.ordinal; }},  // MULTI_GPU_BOARD_GROUP_ID
    {87, constant<2>},                                // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    {97, [](const Device &d) { return static_cast<int>(d.chip.shared_bytes_per_block_optin); }},
    {106, constant<int{Chip::kBlocksPerMultiprocessor}>},
    {111, constant<int{Chip::kReservedSharedBytes}>},
};
constexpr int kLastAttribute = 145;

}  // namespace

std::optional<int> attribute_of(const Device &device, int attribute) {
    if (attribute < 1 || attribute > kLastAttribute) return std::nullopt;
    for (const Attribute &known : kAttributes) {
        if (known.number == attribute) return known.value(device);
    }
    return 0;
}

}  // namespace software_cuda
