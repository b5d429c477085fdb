#include "hk/tensor.h"

#include "hk/error.h"
#include "rethrow.h"
#include "shape.h"
#include "storage.h"

namespace hk {

using detail::Span;

std::shared_ptr<Tensor::Storage> Tensor::Storage::allocate(Device device, int64_t bytes) {
    MemoryPool::Impl &pool = detail::memory_pool(device);
    detail::Block *block = pool.allocate(static_cast<size_t>(bytes), detail::memory_label());
    if (!block) throw OutOfMemory(pool.shortage(static_cast<size_t>(bytes)));
    try {
        return std::make_shared<Storage>(pool, block);
    } catch (const std::bad_alloc &) {
        pool.free(block);
        throw;
    }
}

Tensor Tensor::Access::make(std::shared_ptr<Storage> storage, DataType type, Shape shape,
                            Shape strides, int64_t offset) {
    Tensor tensor;
    tensor.storage_ = std::move(storage);
    tensor.type_ = type;
    tensor.shape_ = std::move(shape);
    tensor.strides_ = std::move(strides);
    tensor.offset_ = offset;
    return tensor;
}

Tensor::Tensor() = default;

Tensor::Tensor(Shape shape, DataType type, Device device) try
    : shape_(std::move(shape)), type_(type) {
    const int64_t elements = detail::checked_elements("tensor", shape_, type);
    strides_ = detail::packed_strides(shape_);
    storage_ = Storage::allocate(device, elements * size_of(type));
} catch (...) {
    detail::rethrow_as_error("tensor");
}

Tensor Tensor::zeros(Shape shape, DataType type, Device device) {
    Tensor tensor(std::move(shape), type, device);
    tensor.fill_zero();
    return tensor;
}

Tensor Tensor::Access::over(const char *operation, void *data, DataType type, Shape shape,
                            Shape strides, Device device) {
    const auto fail = [&](const std::string &what) {
        throw InvalidArgument(std::string(operation) + ": " + what);
    };
    const int64_t elements = detail::checked_elements(operation, shape, type);
    if (strides.empty()) strides = detail::packed_strides(shape);
    if (strides.size() != shape.size()) {
        fail("strides " + to_string(strides) + " are " + std::to_string(strides.size()) +
             ", shape " + to_string(shape) + " has " + std::to_string(shape.size()) +
             " dimensions");
    }
    detail::checked_span(operation, shape, strides, type);
    if (!data && elements > 0) {
        fail("data is null, shape " + to_string(shape) + " has " + std::to_string(elements) +
             " elements");
    }
    const auto address = reinterpret_cast<uintptr_t>(data);
    const auto alignment = static_cast<uintptr_t>(size_of(type));
    if (device.type() != DeviceType::opencl && address % alignment != 0) {
        fail("data is at address " + std::to_string(address) + ", " + std::string(name_of(type)) +
             " needs a multiple of " + std::to_string(alignment));
    }
    if (!device.is_cpu()) detail::require(device);
    return make(std::make_shared<Storage>(device, data, nullptr), type, std::move(shape),
                std::move(strides));
}

Tensor Tensor::borrow(void *data, DataType type, Shape shape, Shape strides, Device device) try {
    return Access::over("borrow", data, type, std::move(shape), std::move(strides), device);
} catch (...) {
    detail::rethrow_as_error("borrow");
}

Device Tensor::device() const noexcept { return storage_ ? storage_->device : Device::cpu(); }

int64_t Tensor::elements() const noexcept {
    if (!defined()) return 0;
    int64_t elements = 1;
    for (const int64_t size : shape_) elements *= size;
    return elements;
}

bool Tensor::packed() const noexcept { return detail::is_packed(shape_, strides_); }

void *Tensor::host_data(size_t element_size) const try {
    if (!defined()) throw InvalidArgument("data: the tensor is undefined");
    if (!device().is_cpu()) {
        throw InvalidArgument("data: the tensor is on " + device().name() + ", not on cpu");
    }
    if (static_cast<int64_t>(element_size) != size_of(type_)) {
        throw InvalidArgument("data: asked for elements of " + std::to_string(element_size) +
                              " bytes, " + std::string(name_of(type_)) + " has " +
                              std::to_string(size_of(type_)));
    }
    if (!storage_->memory) return nullptr;
    return static_cast<char *>(storage_->memory) + Access::byte_offset(*this);
} catch (...) {
    detail::rethrow_as_error("data");
}

namespace {

size_t checked_dim(const char *operation, int dim, int rank) {
    if (dim < -rank || dim >= rank) {
        throw InvalidArgument(std::string(operation) + ": dimension " + std::to_string(dim) +
                              " of a tensor with " + std::to_string(rank));
    }
    return static_cast<size_t>(dim < 0 ? dim + rank : dim);
}

}  // namespace

Tensor Tensor::slice(int dim, int64_t start, int64_t length, int64_t step) const try {
    const size_t d = checked_dim("slice", dim, rank());
    const int64_t size = shape_[d];
    const auto last_is_inside = [&] {
        int64_t last = 0;
        return !__builtin_mul_overflow(length - 1, step, &last) &&
               !__builtin_add_overflow(last, start, &last) && last >= 0 && last < size;
    };
    const bool inside =
        start >= 0 &&
        (length == 0 ? start <= size : start < size && length > 0 && last_is_inside());
    if (step == 0 || !inside) {
        throw InvalidArgument("slice: start " + std::to_string(start) + ", length " +
                              std::to_string(length) + ", step " + std::to_string(step) +
                              " of dimension " + std::to_string(dim) + ", which has size " +
                              std::to_string(size));
    }
    Tensor view = *this;
    view.shape_[d] = length;
    if (elements() == 0) return view;  // whose strides are never used, and may be any
    if (length > 0) view.offset_ += start * strides_[d];
    // A step beyond the size has length 1 at most; its stride is never used.
    if (length > 1) view.strides_[d] *= step;
    return view;
} catch (...) {
    detail::rethrow_as_error("slice");
}

Tensor Tensor::permute(const std::vector<int> &order) const try {
    const auto fail = [&](const std::string &what) {
        throw InvalidArgument("permute: " + what + " of a tensor with " + std::to_string(rank()) +
                              " dimensions");
    };
    if (order.size() != shape_.size()) fail(std::to_string(order.size()) + " places");
    Tensor view = *this;
    std::vector<bool> taken(shape_.size());
    for (size_t i = 0; i < order.size(); i++) {
        const size_t d = checked_dim("permute", order[i], rank());
        if (taken[d]) fail("dimension " + std::to_string(order[i]) + " stands twice in the order");
        taken[d] = true;
        view.shape_[i] = shape_[d];
        view.strides_[i] = strides_[d];
    }
    return view;
} catch (...) {
    detail::rethrow_as_error("permute");
}

Tensor Tensor::reshape(Shape shape) const try {
    const int64_t count = detail::checked_elements("reshape", shape, type_);
    if (!defined() || count != elements()) {
        throw InvalidArgument("reshape: shape " + to_string(shape) + " has " +
                              std::to_string(count) + " elements, the tensor has " +
                              std::to_string(elements()));
    }
    Tensor view = *this;
    view.strides_ = detail::packed_strides(shape);
    view.shape_ = std::move(shape);
    if (packed()) return view;
    // Old dimensions form runs, packed in themselves, that new dimensions divide.
    std::vector<std::pair<int64_t, int64_t>> runs;  // size, stride; innermost first
    for (size_t i = shape_.size(); i-- > 0;) {
        if (shape_[i] == 1) continue;
        if (!runs.empty() && strides_[i] == runs.back().first * runs.back().second) {
            runs.back().first *= shape_[i];
        } else {
            runs.emplace_back(shape_[i], strides_[i]);
        }
    }
    size_t run = 0;
    for (size_t i = view.shape_.size(); i-- > 0;) {
        const int64_t size = view.shape_[i];
        if (size == 1) continue;
        auto &[left, stride] = runs[run];
        if (left % size != 0) {
            throw InvalidArgument("reshape: shape " + to_string(view.shape_) + " of strides " +
                                  to_string(strides_) + " and shape " + to_string(shape_) +
                                  " needs a copy");
        }
        view.strides_[i] = stride;
        stride *= size;
        left /= size;
        if (left == 1) run++;
    }
    return view;
} catch (...) {
    detail::rethrow_as_error("reshape");
}

namespace {

// The bytes between a view's first and last, from the start of its storage.
Span span_of(const Tensor &tensor) {
    const int64_t size = size_of(tensor.type()), start = tensor.offset() * size;
    Span span{start, start + size};
    for (size_t d = 0; d < tensor.shape().size(); d++) {
        const int64_t reach = (tensor.shape()[d] - 1) * tensor.strides()[d] * size;
        (reach < 0 ? span.first : span.end) += reach;
    }
    return span;
}

}  // namespace

bool Tensor::overlaps(const Tensor &other) const try {
    if (elements() == 0 || other.elements() == 0 || device() != other.device()) return false;
    // Addresses, where the device has them; a cl_mem is an object of its own.
    const bool addressed = device().type() != DeviceType::opencl;
    if (!addressed && storage_->memory != other.storage_->memory) return false;
    const auto base = [&](const Tensor &tensor) {
        return addressed ? reinterpret_cast<uint64_t>(tensor.storage_->memory) : 0;
    };
    const auto away = static_cast<int64_t>(base(other) - base(*this));  // modulo 2^64
    if (away < -2 * detail::kMostReach || away > 2 * detail::kMostReach) return false;
    const Span a = span_of(*this), b = span_of(other);
    if (a.end <= away + b.first || away + b.end <= a.first) return false;
    const auto walks = [](const Tensor &tensor) {
        return detail::walks(tensor.shape_, tensor.strides_, size_of(tensor.type_));
    };
    return detail::bytes_meet(Access::byte_offset(*this), walks(*this),
                              away + Access::byte_offset(other), walks(other));
} catch (...) {
    detail::rethrow_as_error("overlaps");
}

}  // namespace hk
