// Copies between tensors: any strides, any two devices.

#include <algorithm>
#include <cstring>

#include "fill_zero.h"
#include "hk/error.h"
#include "operand_check.h"
#include "rethrow.h"
#include "shape.h"
#include "storage.h"
#include "transposed_copy.h"

namespace hk {

namespace {

using detail::Backend;
using detail::Rows;

// A copy as rows of bytes that lie next to each other on both sides, and loops over such rows.
struct Plan {
    struct Loop {
        int64_t extent = 1, to = 0, from = 0;  // strides in bytes
    };
    int64_t width = 0;        // bytes of a row
    std::vector<Loop> loops;  // outermost first
};

Plan plan_copy(const Tensor &to, const Tensor &from) {
    const int64_t size = size_of(to.type());
    Plan plan;
    plan.width = size;
    bool contiguous = true;
    for (size_t i = to.shape().size(); i-- > 0;) {
        if (to.shape()[i] == 1) continue;  // its stride may be any
        const Plan::Loop loop{to.shape()[i], to.strides()[i] * size, from.strides()[i] * size};
        if (contiguous && loop.to == plan.width && loop.from == plan.width) {
            plan.width *= loop.extent;
            continue;
        }
        contiguous = false;
        Plan::Loop *inner = plan.loops.empty() ? nullptr : &plan.loops.back();
        if (inner && loop.to == inner->extent * inner->to &&
            loop.from == inner->extent * inner->from) {
            inner->extent *= loop.extent;
        } else {
            plan.loops.push_back(loop);
        }
    }
    std::reverse(plan.loops.begin(), plan.loops.end());
    return plan;
}

// Calls f(offset in `to`, offset in `from`) for each step of the outer loops.
template<typename F>
void for_each(const std::vector<Plan::Loop> &loops, size_t count, int64_t to, int64_t from, F &&f) {
    if (count == 0) return f(to, from);
    const Plan::Loop &loop = loops[loops.size() - count];
    for (int64_t i = 0; i < loop.extent; i++) {
        for_each(loops, count - 1, to + i * loop.to, from + i * loop.from, f);
    }
}

// Rows of one loop. Single elements have a size that the compiler knows.
template<int64_t kWidth>
void copy_rows(const Plan::Loop &loop, char *to, const char *from, int64_t width) {
    for (int64_t i = 0; i < loop.extent; i++) {
        std::memcpy(to + i * loop.to, from + i * loop.from,
                    static_cast<size_t>(kWidth ? kWidth : width));
    }
}

auto rows_of_width(int64_t width) {
    switch (width) {
        case 1:
            return copy_rows<1>;
        case 2:
            return copy_rows<2>;
        case 4:
            return copy_rows<4>;
        case 8:
            return copy_rows<8>;
        default:
            return copy_rows<0>;
    }
}

// The loop whose steps are neighbours of a tensor; none: null.
const Plan::Loop *neighbours(const Plan &plan, int64_t Plan::Loop::*stride) {
    const auto found = std::ranges::find(plan.loops, plan.width, stride);
    return found == plan.loops.end() ? nullptr : &*found;
}

// Elements that are neighbours along one dimension of the target, and along another of the source.
bool copied_transposed(const Plan &plan, char *to, const char *from) {
    const Plan::Loop *const columns = neighbours(plan, &Plan::Loop::to);
    const Plan::Loop *const rows = neighbours(plan, &Plan::Loop::from);
    const bool elements = plan.width <= 8 && (plan.width & (plan.width - 1)) == 0;
    if (!elements || !columns || !rows || columns == rows) return false;
    const detail::Transposition all{plan.width, rows->extent, columns->extent, rows->to,
                                    columns->from};
    std::vector<Plan::Loop> around;
    for (const Plan::Loop &loop : plan.loops) {
        if (&loop != columns && &loop != rows) around.push_back(loop);
    }
    for_each(around, around.size(), 0, 0,
             [&](int64_t t, int64_t f) { detail::copy_transposed(all, to + t, from + f); });
    return true;
}

void copy_on_host(const Plan &plan, const Tensor &to, const Tensor &from) {
    char *target = static_cast<char *>(Tensor::Access::storage(to).memory);
    const char *source = static_cast<const char *>(Tensor::Access::storage(from).memory);
    if (copied_transposed(plan, target + Tensor::Access::byte_offset(to),
                          source + Tensor::Access::byte_offset(from)))
        return;
    const bool one = plan.loops.empty();
    const Plan::Loop rows = one ? Plan::Loop() : plan.loops.back();
    const std::vector<Plan::Loop> around(plan.loops.begin(), plan.loops.end() - !one);
    const auto copy = rows_of_width(plan.width);
    for_each(around, around.size(), Tensor::Access::byte_offset(to),
             Tensor::Access::byte_offset(from),
             [&](int64_t t, int64_t f) { copy(rows, target + t, source + f, plan.width); });
}

Rows rows_of(const Tensor &tensor) {
    return {Tensor::Access::storage(tensor).memory, 0, 0, tensor.device().is_cpu()};
}

void copy_on_device(Plan plan, const Tensor &to, const Tensor &from) {
    const Device device = to.device().is_cpu() ? from.device() : to.device();
    Backend &backend = detail::require(device);
    // A driver copies many rows at once where the next row starts behind the last one's end.
    int64_t count = 1, to_pitch = plan.width, from_pitch = plan.width;
    if (!plan.loops.empty()) {
        const Plan::Loop inner = plan.loops.back();
        if (inner.to >= plan.width && inner.from >= plan.width) {
            count = inner.extent;
            to_pitch = inner.to;
            from_pitch = inner.from;
            plan.loops.pop_back();
        }
    }
    Rows target = rows_of(to), source = rows_of(from);
    target.pitch = to_pitch;
    source.pitch = from_pitch;
    void *const on_device = target.host ? source.memory : target.memory;
    for (const Tensor *tensor : {&to, &from}) Tensor::Access::storage(*tensor).order_own_queue();
    try {
        for_each(plan.loops, plan.loops.size(), Tensor::Access::byte_offset(to),
                 Tensor::Access::byte_offset(from), [&](int64_t t, int64_t f) {
                     target.offset = t;
                     source.offset = f;
                     backend.copy(device.index(), target, source, plan.width, count);
                 });
    } catch (...) {
        // The copies that are queued already still use the caller's memory.
        try {
            backend.wait(device.index(), on_device);
        } catch (const Error &) {
        }
        throw;
    }
    backend.wait(device.index(), on_device);
}

}  // namespace

void Tensor::copy_from(const Tensor &source) const try {
    if (!defined() || !source.defined()) {
        throw InvalidArgument(std::string("copy_from: the ") + (defined() ? "source" : "target") +
                              " is undefined");
    }
    if (shape_ != source.shape_) {
        throw InvalidArgument("copy_from: the source has shape " + to_string(source.shape_) +
                              ", the target " + to_string(shape_));
    }
    if (type_ != source.type_) {
        throw InvalidArgument("copy_from: the source is " + std::string(name_of(source.type_)) +
                              ", the target " + std::string(name_of(type_)));
    }
    if (elements() == 0) return;
    detail::check_disjoint("copy_from", {"source", source}, {"target", *this});
    detail::check_elements_disjoint("copy_from", {"target", *this});
    const bool host = device().is_cpu() && source.device().is_cpu();
    const bool two_devices =
        !device().is_cpu() && !source.device().is_cpu() && device() != source.device();
    if (two_devices) return copy_from(source.to(Device::cpu()));
    const Plan plan = plan_copy(*this, source);
    host ? copy_on_host(plan, *this, source) : copy_on_device(plan, *this, source);
} catch (...) {
    detail::rethrow_as_error("copy_from");
}

Tensor Tensor::to(Device device) const try {
    if (!defined()) throw InvalidArgument("to: the tensor is undefined");
    Tensor copy(shape_, type_, device);
    copy.copy_from(*this);
    return copy;
} catch (...) {
    detail::rethrow_as_error("to");
}

Tensor Tensor::contiguous() const try {
    if (!defined()) throw InvalidArgument("contiguous: the tensor is undefined");
    return packed() ? *this : to(device());
} catch (...) {
    detail::rethrow_as_error("contiguous");
}

void detail::queue_zeros(const Tensor &tensor, const Stream &stream) {
    using Access = Tensor::Access;
    if (tensor.elements() == 0) return;
    Plan plan = plan_copy(tensor, tensor);
    Rows rows = rows_of(tensor);
    const int64_t start = Access::byte_offset(tensor);
    if (rows.host) {
        for_each(plan.loops, plan.loops.size(), start, start, [&](int64_t offset, int64_t) {
            std::memset(static_cast<char *>(rows.memory) + offset, 0,
                        static_cast<size_t>(plan.width));
        });
        return;
    }
    int64_t count = 1;
    if (!plan.loops.empty() && plan.loops.back().to >= plan.width) {
        count = plan.loops.back().extent;
        rows.pitch = plan.loops.back().to;
        plan.loops.pop_back();
    }
    Backend &backend = require(tensor.device());
    for_each(plan.loops, plan.loops.size(), start, start, [&](int64_t offset, int64_t) {
        rows.offset = offset;
        backend.fill_zero(tensor.device().index(), rows, plan.width, count, stream);
    });
}

void Tensor::fill_zero() const try {
    if (!defined()) throw InvalidArgument("fill_zero: the tensor is undefined");
    if (elements() == 0) return;
    storage_->order_own_queue();
    detail::queue_zeros(*this, {});
    if (!device().is_cpu()) detail::require(device()).wait(device().index(), storage_->memory);
} catch (...) {
    detail::rethrow_as_error("fill_zero");
}

}  // namespace hk
