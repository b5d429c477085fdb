#include "software_cuda/driver/copy.h"

#include <cstdlib>
#include <cstring>

#include "software_cuda/driver/call.h"

namespace software_cuda {

namespace {

// The bytes from the first to the last of the rows; throws Failure where they overflow.
uint64_t span_of(const Rows &rows, const Copy &copy) {
    uint64_t planes = 0, lines = 0, span = 0;
    const bool overflow = __builtin_mul_overflow(copy.planes - 1, rows.plane, &planes) ||
                          __builtin_mul_overflow(copy.rows - 1, rows.pitch, &lines) ||
                          __builtin_add_overflow(planes, lines, &span) ||
                          __builtin_add_overflow(span, copy.width, &span);
    require(!overflow, CUDA_ERROR_INVALID_VALUE, "the size of the copy overflows");
    return span;
}

void check_side(const Rows &rows, const Copy &copy, const char *name) {
    require(copy.rows == 1 || rows.pitch >= copy.width, CUDA_ERROR_INVALID_VALUE,
            std::string(name) + ": the pitch is less than the width");
    require(copy.planes == 1 || rows.plane / copy.rows >= rows.pitch, CUDA_ERROR_INVALID_VALUE,
            std::string(name) + ": planes overlap");
    const uint64_t bytes = span_of(rows, copy);
    require(rows.address, CUDA_ERROR_INVALID_VALUE, std::string(name) + " is null");
    if (!rows.device) return;
    const std::optional<Allocation> found = rows.device->memory.find(rows.address);
    const bool inside = found && bytes <= found->base + found->bytes - rows.address;
    require(inside, CUDA_ERROR_INVALID_VALUE,
            std::string(name) + ": " + std::to_string(bytes) + " bytes from " +
                hexadecimal(rows.address) + ", which is " +
                rows.device->memory.describe(rows.address));
}

void *host(uint64_t address) { return reinterpret_cast<void *>(address); }

bool move(const Rows &to, uint64_t to_address, const Rows &from, uint64_t from_address,
          size_t bytes) {
    if (!to.device && !from.device) {
        std::memmove(host(to_address), host(from_address), bytes);
        return true;
    }
    if (!to.device) return from.device->memory.read(host(to_address), from_address, bytes);
    if (!from.device) return to.device->memory.write(to_address, host(from_address), bytes);
    if (to.device == from.device) return to.device->memory.copy(to_address, from_address, bytes);
    const uint8_t *source = from.device->memory.host_bytes(from_address, bytes);
    return source && to.device->memory.write(to_address, source, bytes);
}

Status perform(const Copy &c) {
    for (size_t plane = 0; plane < c.planes; plane++) {
        for (size_t row = 0; row < c.rows; row++) {
            const uint64_t to = c.to.address + plane * c.to.plane + row * c.to.pitch;
            const uint64_t from = c.from.address + plane * c.from.plane + row * c.from.pitch;
            if (!move(c.to, to, c.from, from, c.width)) return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
    }
    return CUDA_SUCCESS;
}

// Rows without gaps are one.
Copy joined(Copy copy) {
    if (copy.planes > 1 && copy.to.plane == copy.rows * copy.to.pitch &&
        copy.from.plane == copy.rows * copy.from.pitch) {
        copy.rows *= copy.planes;
        copy.planes = 1;
    }
    if (copy.planes == 1 && copy.to.pitch == copy.width && copy.from.pitch == copy.width) {
        copy.width *= copy.rows;
        copy.rows = 1;
    }
    return copy;
}

// A copy of the host's rows, packed, so that the caller may change them at once.
std::shared_ptr<std::vector<uint8_t>> stage(Copy &copy) {
    const size_t plane = copy.width * copy.rows;
    auto bytes = std::make_shared<std::vector<uint8_t>>(plane * copy.planes);
    Copy in = copy;
    in.to = {nullptr, reinterpret_cast<uint64_t>(bytes->data()), copy.width, plane, true};
    perform(in);
    copy.from = in.to;
    return bytes;
}

}  // namespace

Rows rows_at(const void *host_or_device) {
    const auto address = reinterpret_cast<uint64_t>(host_or_device);
    Rows rows{driver().device_of(address), address};
    rows.pageable = !rows.device && !pinned_memory().contains(host_or_device);
    return rows;
}

Rows device_rows(CUdeviceptr address) {
    Rows rows = rows_at(host(address));
    // Pinned host memory is mapped into the device's addresses.
    require(rows.device || !rows.pageable, CUDA_ERROR_INVALID_VALUE,
            hexadecimal(address) + " is not an address of a device");
    return rows;
}

void check(const Copy &copy) {
    check_side(copy.to, copy, "destination");
    check_side(copy.from, copy, "source");
}

void queue(const Copy &given, const std::shared_ptr<Stream> &stream, bool wait) {
    if (given.empty()) return;
    check(given);
    Copy copy = joined(given);
    std::shared_ptr<void> kept;
    if (copy.from.pageable && copy.to.device && !wait) kept = stage(copy);
    const Point done = driver().scheduler.submit(stream, [copy, kept] { return perform(copy); });
    if (wait || copy.to.pageable) wait_for(done);
}

void *PinnedMemory::allocate(size_t bytes) {
    constexpr size_t kPage = 4096;
    if (bytes > SIZE_MAX - kPage) return nullptr;
    void *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    if (!memory) return nullptr;
    const std::lock_guard lock(mutex_);
    blocks_[reinterpret_cast<uint64_t>(memory)] = bytes;
    return memory;
}

bool PinnedMemory::release(void *memory) {
    {
        const std::lock_guard lock(mutex_);
        if (!blocks_.erase(reinterpret_cast<uint64_t>(memory))) return false;
    }
    std::free(memory);
    return true;
}

bool PinnedMemory::contains(const void *pointer) const {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const std::lock_guard lock(mutex_);
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return false;
    --block;
    return address - block->first < block->second;
}

PinnedMemory &pinned_memory() {
    static PinnedMemory *memory = new PinnedMemory;
    return *memory;
}

}  // namespace software_cuda
