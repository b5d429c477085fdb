#include "tests/support/placed.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <sstream>

#include "tests/reference/elements.h"

namespace hk::test {
namespace {

uint64_t poison_of(DataType type) {
    if (type == DataType::bf16) return 0x7fad;
    if (type == DataType::f64) return 0x7ff8deaddeaddead;
    const uint64_t of_sizes[] = {0xad, 0x7ead, 0x7fc0dead, 0x7fc0deaddeaddead};
    return of_sizes[std::countr_zero(static_cast<unsigned>(size_of(type)))];
}

// Empty where there is no such place.
std::string overwritten(const Tensor &base, int64_t place) {
    if (place < 0) return "";
    std::ostringstream text;
    text << "element " << place << " of the allocation " << to_string(base.shape())
         << " was overwritten";
    return text.str();
}

}  // namespace

const char *name_of(Placement placement) {
    const char *names[] = {"packed",  "margins", "steps",  "reversed", "permuted",
                           "flipped", "aligned", "spaced", "vectors",  "planes"};
    return names[static_cast<size_t>(placement)];
}

void poison(const Tensor &tensor) { reference::fill_bits(tensor, poison_of(tensor.type())); }

int64_t first_poison(const Tensor &packed) {
    return reference::first_with_bits(packed, poison_of(packed.type()));
}

// Of every remainder of a vector.
bool ends_memory(int64_t elements) {
    return std::popcount(static_cast<uint64_t>(elements / 4)) % 2 == 1;
}

Placed::Placed(const Shape &shape, DataType type, Placement placement, Random &random)
    : shape_(shape),
      packed_(shape.empty() || placement == Placement::packed || placement == Placement::aligned),
      permuted_(placement == Placement::permuted) {
    original_ = Tensor(draw_cuts(placement, random, size_of(type) == 1 ? 16 : 8), type);
    poison(original_);
}

Placed::Placed(const Shape &shape, DataType type, Device device, Placement placement,
               Random &random)
    : Placed(shape, type, placement, random) {
    move_to(device);
}

Placed::Placed(const Tensor &values, Device device, Placement placement, Random &random)
    : Placed(values.shape(), values.type(), placement, random) {
    view_of(original_).copy_from(values);
    move_to(device);
}

void Placed::move_to(Device device) {
    if (device.is_cpu()) {
        // Either end, without a draw: seeds keep their meaning.
        guarded_.emplace(original_, original_.elements() % 2 == 1);
        base_ = guarded_->tensor();
    } else {
        // CUDA's device in software finds loads past either end of the memory. Not a draw either.
        if (packed_) {
            const int64_t guard = cuts_[0].start;
            const bool ends = ends_memory(elements());
            if (!ends) cuts_[0].start = 0;
            original_ = original_.slice(0, ends ? 0 : guard, guard + elements());
        }
        base_ = original_.to(device);
    }
    tensor_ = view_of(base_);
}

Shape Placed::draw_cuts(Placement placement, Random &random, int64_t vector) {
    const size_t rank = shape_.size();
    if (packed_) {
        // Not a multiple of any vector: the data need be aligned to its type alone.
        const int64_t guard = placement == Placement::aligned ? 64 : uniform(random, 61, 67);
        cuts_ = {{guard, 1}};
        return {elements() + 2 * guard};
    }
    if (placement == Placement::spaced) {
        Shape base = shape_;
        cuts_.assign(rank, {0, 1});
        cuts_.back().start = vector * uniform(random, 1, 2);
        base.back() += cuts_.back().start + vector * uniform(random, 1, 3);
        return base;
    }
    const bool vectors = placement == Placement::vectors;
    const bool steps = placement == Placement::steps || placement == Placement::permuted || vectors;
    Shape base = shape_;
    const auto elements = [&] {
        return std::accumulate(base.begin(), base.end(), int64_t{1}, std::multiplies<>());
    };
    // Margins of five short dimensions would make a thousand elements of each.
    const int64_t most = std::max<int64_t>(16 * elements(), 1 << 18);
    for (size_t d = 0; d < rank; d++) {
        if (placement == Placement::planes && d + 2 >= rank) {
            cuts_.push_back({0, 1});
            continue;
        }
        const bool innermost = d + 1 == rank && rank > 1 && !permuted_;
        const int64_t unit = innermost && vectors ? vector : 1;
        int64_t start = unit * uniform(random, 1, 4);
        int64_t step = steps && !innermost ? uniform(random, 1, 3) : 1;
        base[d] = start + shape_[d] * step + unit * uniform(random, 1, 3);
        if (elements() > most) {
            base[d] = shape_[d];
            start = 0;
            step = 1;
        }
        if (placement == Placement::reversed || (placement == Placement::flipped && d + 1 < rank)) {
            start += std::max<int64_t>(shape_[d] - 1, 0);
            step = -1;
        }
        cuts_.push_back({start, step});
    }
    if (permuted_) {
        std::ranges::reverse(base);
    }
    return base;
}

int64_t Placed::elements() const {
    return std::accumulate(shape_.begin(), shape_.end(), int64_t{1}, std::multiplies<>());
}

Tensor Placed::view_of(const Tensor &base) const {
    if (packed_) return base.slice(0, cuts_[0].start, elements()).reshape(shape_);
    Tensor view = base;
    if (permuted_) {
        std::vector<int> order(shape_.size());
        for (size_t d = 0; d < order.size(); d++) {
            order[d] = static_cast<int>(order.size() - 1 - d);
        }
        view = view.permute(order);
    }
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
    return overwritten(now, reference::first_without_bits(now, poison_of(now.type())));
}

std::string Placed::change() const {
    const Tensor now = base_.to(Device::cpu());
    return overwritten(now, reference::first_difference(now, original_));
}

}  // namespace hk::test
