#include "tests/fuzz/memory.h"

#include <dlpack/dlpack.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "tests/reference/elements.h"

namespace hk::fuzz {
namespace {

constexpr int64_t kCanary = 256;        // bytes
constexpr int64_t kCompared = 8 << 20;  // bytes: what is larger is not compared byte by byte
constexpr std::byte kFiller{0xa5};

constexpr int kWindows = Block::kSlots * Block::kLanes;

int64_t window_size = int64_t{1} << 36;
int64_t guard_size = int64_t{1} << 30;  // on each side of a window
std::array<std::byte *, kWindows> windows{};

std::byte *window(int slot) {
    std::byte *&at = windows.at(static_cast<size_t>(slot));
    if (at) return at;
    void *const all = mmap(nullptr, static_cast<size_t>(window_size + 2 * guard_size), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    std::byte *const inside = static_cast<std::byte *>(all) + guard_size;
    if (mprotect(inside, static_cast<size_t>(window_size), PROT_READ | PROT_WRITE) != 0) {
        throw std::system_error(errno, std::generic_category(), "mprotect");
    }
    return at = inside;
}

// A view of a flat tensor on a device, which has no function for it: by way of DLPack.
struct Strided {
    Shape shape, strides;
    DLManagedTensor *base;
    DLManagedTensor managed;
};

Tensor strided(const Tensor &base, const View &view) {
    auto *self = new Strided{view.shape, view.strides, base.to_dlpack(), {}};
    self->managed.dl_tensor = self->base->dl_tensor;
    DLTensor &tensor = self->managed.dl_tensor;
    tensor.ndim = static_cast<int32_t>(view.shape.size());
    tensor.shape = self->shape.data();
    tensor.strides = self->strides.data();
    tensor.byte_offset += static_cast<uint64_t>(view.first * size_of(base.type()));
    self->managed.manager_ctx = self;
    self->managed.deleter = [](DLManagedTensor *managed) {
        auto *strided = static_cast<Strided *>(managed->manager_ctx);
        strided->base->deleter(strided->base);
        delete strided;
    };
    return Tensor::from_dlpack(&self->managed);
}

}  // namespace

int64_t window_bytes() { return window_size; }

void use_small_windows() {
    window_size = int64_t{1} << 30;
    guard_size = int64_t{1} << 26;
}

Reach reach_of(const Shape &shape, const Shape &strides) {
    Reach reach{0, 0};
    for (size_t d = 0; d < shape.size(); d++) {
        if (shape[d] <= 0) return {0, -1};
        const int64_t last = (shape[d] - 1) * strides[d];
        (last < 0 ? reach.low : reach.high) += last;
    }
    return reach;
}

Block::Block(Device device, DataType type, Reach reach, Edge edge, int slot, int64_t shift)
    : device_(device), type_(type), size_(size_of(type)) {
    const int64_t canary = kCanary / size_;
    const bool flush_start = device.is_cpu() && edge == Edge::start;
    const bool flush_end = device.is_cpu() && edge == Edge::end;
    const int64_t before = flush_start ? 0 : canary + shift, after = flush_end ? 0 : canary;
    first_ = before - reach.low;
    places_ = before + reach.places() + after;
    large_ = places_ * size_ > kCompared;
    if (device.is_cpu()) {
        std::byte *const at = window(slot);
        host_ = flush_end ? at + window_size - places_ * size_ : at;
    } else {
        copy_.resize(static_cast<size_t>(places_ * size_));
        host_ = copy_.data();
    }
    if (!large_) std::fill_n(host_, places_ * size_, kFiller);
}

Block::~Block() {
    if (large_ && device_.is_cpu())
        madvise(host_, static_cast<size_t>(places_ * size_), MADV_DONTNEED);
}

Tensor Block::on(std::byte *bytes, const View &view) const {
    return Tensor::borrow(bytes + view.first * size_, type_, view.shape, view.strides);
}

Tensor Block::on_host(const View &view) const { return on(host_, view); }

void Block::keep() {
    if (!large_) original_.assign(host_, host_ + places_ * size_);
    if (device_.is_cpu()) return;
    base_ = on(host_, {{places_}, {1}, 0}).to(device_);
}

Tensor Block::on_device(const View &view) const {
    return device_.is_cpu() ? on(host_, view) : strided(base_, view);
}

void Block::restore() const {
    if (large_) return;
    const auto bytes = const_cast<std::byte *>(original_.data());
    if (device_.is_cpu()) {
        std::copy(original_.begin(), original_.end(), host_);
    } else {
        base_.copy_from(on(bytes, {{places_}, {1}, 0}));
    }
}

std::vector<std::byte> Block::download() const {
    if (device_.is_cpu()) return {host_, host_ + places_ * size_};
    std::vector<std::byte> now(static_cast<size_t>(places_ * size_));
    on(now.data(), {{places_}, {1}, 0}).copy_from(base_);
    return now;
}

Tensor Block::fetch(const View &view) const {
    if (device_.is_cpu()) return packed_copy(on(host_, view));
    std::vector<std::byte> now = download();
    return packed_copy(on(now.data(), view));
}

std::string Block::change(const std::vector<View> &written) const {
    if (large_) return "";
    std::vector<std::byte> now = download();
    const auto was = const_cast<std::byte *>(original_.data());
    for (const View &view : written) {
        if (reach_of(view.shape, view.strides).places() == 0) continue;
        reference::write_bits(on(now.data(), view), reference::bits(on(was, view)));
    }
    const auto [here, there] = std::mismatch(now.begin(), now.end(), original_.begin());
    if (here == now.end()) return "";
    const int64_t byte = here - now.begin();
    return "byte " + std::to_string(byte % size_) + " of place " +
           std::to_string(byte / size_ - first_) + " (0: the first element) was overwritten";
}

Tensor packed_copy(const Tensor &host) {
    Tensor copy(host.shape(), host.type());
    reference::write_bits(copy, reference::bits(host));
    return copy;
}

void describe_address(const void *address, char *text, size_t size) noexcept {
    const auto at = static_cast<const std::byte *>(address);
    for (size_t slot = 0; slot < windows.size(); slot++) {
        const std::byte *const first = windows[slot];
        if (!first || at < first - guard_size || at >= first + window_size + guard_size) continue;
        const bool below = at < first, above = at >= first + window_size;
        const auto far = static_cast<long long>(below   ? first - at
                                                : above ? at - first - window_size
                                                        : at - first);
        std::snprintf(text, size, "operand %zu, %lld bytes %s", slot % Block::kSlots, far,
                      below   ? "before its pages"
                      : above ? "behind its pages"
                              : "inside its pages");
        return;
    }
    std::snprintf(text, size, "address %p, of no operand", address);
}

}  // namespace hk::fuzz
