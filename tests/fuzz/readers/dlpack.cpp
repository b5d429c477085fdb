// Imports by DLPack. The bytes are fields of the structure that another library hands over; its
// arrays are as long as it says, as its contract is.

#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>

#include "hk/error.h"
#include "hk/tensor.h"
#include "readers.h"

namespace hk::fuzz {
namespace {

// The next bytes as a number; zeros at the end.
class Fields {
public:
    explicit Fields(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    template<typename T>
    T next() {
        T value{};
        const size_t size = std::min(sizeof value, bytes_.size());
        std::copy_n(bytes_.data(), size, reinterpret_cast<uint8_t *>(&value));
        bytes_ = bytes_.subspan(size);
        return value;
    }

private:
    std::span<const uint8_t> bytes_;
};

constexpr size_t kMost = 64;  // dimensions whose arrays are there
constexpr int64_t kBytes = 4096;

// Another library's tensor. Layout of the bytes: ndim, type code, bits, lanes, device type, device,
// flags (1 no data, 2 no strides, 4 no deleter), byte offset, then shape and strides in turns.
struct Foreign {
    alignas(64) std::array<uint8_t, kBytes> memory{};
    std::array<int64_t, kMost> shape{}, strides{};
    DLManagedTensor managed{};
    int deleted = 0;

    explicit Foreign(std::span<const uint8_t> bytes) {
        Fields fields(bytes);
        DLTensor &tensor = managed.dl_tensor;
        tensor.ndim = std::min<int32_t>(fields.next<int16_t>(), kMost);
        tensor.dtype.code = fields.next<uint8_t>();
        tensor.dtype.bits = fields.next<uint8_t>();
        tensor.dtype.lanes = fields.next<uint16_t>();
        // Memory of CUDA and OpenCL would have to be theirs.
        const auto kind = fields.next<uint8_t>();
        const bool missing = kind == kDLCUDA || kind == kDLCUDAManaged || kind == kDLOpenCL;
        tensor.device = {static_cast<DLDeviceType>(missing ? 0 : kind), fields.next<int32_t>()};
        const auto flags = fields.next<uint8_t>();
        tensor.byte_offset = fields.next<uint64_t>();
        for (size_t d = 0; d < kMost; d++) {
            shape[d] = fields.next<int64_t>();
            strides[d] = fields.next<int64_t>();
        }
        tensor.data = flags & 1 ? nullptr : memory.data();
        tensor.shape = shape.data();
        tensor.strides = flags & 2 ? nullptr : strides.data();
        managed.manager_ctx = this;
        if (!(flags & 4)) {
            managed.deleter = [](DLManagedTensor *self) {
                static_cast<Foreign *>(self->manager_ctx)->deleted++;
            };
        }
    }

    // Whether all elements lie within `memory`.
    bool holds(const Tensor &tensor) const {
        const DLTensor &source = managed.dl_tensor;
        if (!source.data || source.byte_offset > kBytes) return false;
        const __int128 size = size_of(tensor.type());
        __int128 first = static_cast<__int128>(source.byte_offset), end = first + size;
        for (size_t d = 0; d < tensor.shape().size(); d++) {
            if (tensor.shape()[d] > kBytes) return false;
            const __int128 reach = size * (tensor.shape()[d] - 1) * tensor.strides()[d];
            (reach < 0 ? first : end) += reach;
        }
        return first >= 0 && end <= kBytes;
    }
};

void expect(bool right, const char *what) {
    if (!right) throw Fault(what);
}

// What asks nothing of the elements.
void look_at(const Tensor &tensor) {
    expect(tensor.elements() >= 0, "a negative number of elements");
    tensor.packed();
    expect(tensor.elements() == 0 || tensor.overlaps(tensor), "a tensor apart from itself");
    std::vector<int> turned;
    for (int d = tensor.rank(); d-- > 0;) turned.push_back(d);
    const Tensor view = tensor.permute(turned);
    for (int d = 0; d < view.rank(); d++) {
        const int64_t size = view.shape()[static_cast<size_t>(d)];
        if (size > 0) view.slice(d, size - 1, size, -1).overlaps(tensor);
    }
    try {
        view.reshape({tensor.elements()});
        view.reshape(tensor.shape());
    } catch (const InvalidArgument &) {  // that needs a copy
    }
    DLManagedTensor *exported = view.to_dlpack();
    const Tensor again = Tensor::from_dlpack(exported);
    expect(again.shape() == view.shape() && again.strides() == view.strides(),
           "an exported tensor comes back otherwise");
}

}  // namespace

bool takes_dlpack(std::span<const uint8_t> bytes) {
    Foreign foreign(bytes);
    bool taken = false;
    try {
        const Tensor tensor = Tensor::from_dlpack(&foreign.managed);
        taken = true;
        expect(foreign.deleted == 0, "deleted while it is in use");
        if (tensor.device().is_cpu()) look_at(tensor);
        if (foreign.holds(tensor) && tensor.elements() <= kBytes) tensor.to(Device::cpu());
    } catch (const InvalidArgument &) {
        expect(!taken, "a tensor that was taken is refused later");
    }
    expect(foreign.deleted == (foreign.managed.deleter ? 1 : 0), "not deleted once");
    return taken;
}

}  // namespace hk::fuzz
