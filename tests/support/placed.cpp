#include "tests/support/placed.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/reference/elements.h"

namespace hk::test {
namespace {

constexpr uint32_t poison_f32 = 0x7fc0dead;
constexpr uint16_t poison_f16 = 0x7ead;
constexpr uint16_t poison_bf16 = 0x7fad;
constexpr uint8_t poison_byte = 0xad;

uint32_t poison_of(DataType type) {
    switch (type) {
        case DataType::f16:
            return poison_f16;
        case DataType::bf16:
            return poison_bf16;
        default:
            return size_of(type) == 1 ? poison_byte : poison_f32;
    }
}

uint32_t bits(const Tensor &packed, int64_t place) {
    switch (size_of(packed.type())) {
        case 1:
            return packed.data<uint8_t>()[place];
        case 2:
            return packed.data<uint16_t>()[place];
        default:
            return packed.data<uint32_t>()[place];
    }
}

// The first place where two packed host tensors of one shape differ; -1 where they don't.
int64_t first_difference(const Tensor &a, const Tensor &b) {
    for (int64_t i = 0; i < a.elements(); i++) {
        if (bits(a, i) != bits(b, i)) {
            return i;
        }
    }
    return -1;
}

std::string describe(const Tensor &base, int64_t place) {
    std::ostringstream text;
    text << "element " << place << " of the allocation " << to_string(base.shape())
         << " was overwritten";
    return text.str();
}

}  // namespace

const char *name_of(Placement placement) {
    switch (placement) {
        case Placement::packed:
            return "packed";
        case Placement::margins:
            return "margins";
        case Placement::steps:
            return "steps";
    }
    return "";
}

void poison(const Tensor &tensor) {
    Tensor filled(tensor.shape(), tensor.type());
    if (tensor.elements() == 0) {
        return;
    }
    const uint32_t pattern = poison_of(tensor.type());
    switch (size_of(tensor.type())) {
        case 1:
            std::fill_n(filled.data<uint8_t>(), filled.elements(), static_cast<uint8_t>(pattern));
            break;
        case 2:
            std::fill_n(filled.data<uint16_t>(), filled.elements(), static_cast<uint16_t>(pattern));
            break;
        default:
            std::fill_n(filled.data<uint32_t>(), filled.elements(), pattern);
    }
    tensor.copy_from(filled);
}

bool is_poison(const Tensor &tensor, int64_t place) {
    return bits(tensor, place) == poison_of(tensor.type());
}

Placed::Placed(const Shape &shape, DataType type, Device device, Placement placement,
               Random &random)
    : Placed(shape, type, device, placement, random, {}) {}

Placed::Placed(const Shape &shape, DataType type, Device device, Placement placement,
               Random &random, const std::vector<double> &values)
    : shape_(shape) {
    Shape base = shape;
    if (placement == Placement::packed) {
        int64_t elements = 1;
        for (const int64_t extent : shape) {
            elements *= extent;
        }
        // Not a multiple of any vector: the data need be aligned to its type alone.
        const int64_t guard = uniform(random, 61, 67);
        cuts_ = {{guard, 1}};
        base = {elements + 2 * guard};
    } else {
        draw_margins(shape, placement, random);
        for (size_t d = 0; d < shape.size(); d++) {
            base[d] = cuts_[d].start + shape[d] * cuts_[d].step + uniform(random, 1, 3);
        }
    }
    original_ = Tensor(base, type);
    poison(original_);
    if (!values.empty()) {
        reference::write(view_of(original_), values);
    }
    base_ = original_.to(device);
    tensor_ = view_of(base_);
}

void Placed::draw_margins(const Shape &shape, Placement placement, Random &random) {
    for (size_t d = 0; d < shape.size(); d++) {
        const bool innermost = d + 1 == shape.size() && shape.size() > 1;
        const bool stepped = placement == Placement::steps && !innermost;
        cuts_.push_back({uniform(random, 1, 4), stepped ? uniform(random, 1, 3) : 1});
    }
}

Tensor Placed::view_of(const Tensor &base) const {
    if (cuts_.size() != shape_.size()) {
        const int64_t elements = base.shape()[0] - 2 * cuts_[0].start;
        return base.slice(0, cuts_[0].start, elements).reshape(shape_);
    }
    Tensor view = base;
    for (size_t d = 0; d < shape_.size(); d++) {
        view = view.slice(static_cast<int>(d), cuts_[d].start, shape_[d], cuts_[d].step);
    }
    return view;
}

Tensor Placed::fetch() const { return tensor_.to(Device::cpu()); }

std::string Placed::damage() const {
    const Tensor now = Tensor(base_.shape(), base_.type());
    now.copy_from(base_);
    poison(view_of(now));
    for (int64_t i = 0; i < now.elements(); i++) {
        if (!is_poison(now, i)) {
            return describe(now, i);
        }
    }
    return "";
}

std::string Placed::change() const {
    const Tensor now = base_.to(Device::cpu());
    const int64_t place = first_difference(now, original_);
    return place < 0 ? "" : describe(now, place);
}

}  // namespace hk::test
