// Where a case's operands lie, and how a hostile one spoils them.

#include <algorithm>
#include <numeric>

#include "tests/fuzz/case.h"
#include "tests/reference/elements.h"
#include "tests/support/placed.h"

namespace hk::fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 20;  // that are filled

double product(const Shape &shape) {
    double elements = 1;
    for (const int64_t extent : shape) elements *= static_cast<double>(extent);
    return elements;
}

double bytes_of(const View &view, DataType type) {
    double places = 1;
    for (size_t d = 0; d < view.shape.size(); d++) {
        places +=
            std::abs(static_cast<double>(view.shape[d] - 1) * static_cast<double>(view.strides[d]));
    }
    return places * static_cast<double>(size_of(type));
}

}  // namespace

// Changes what is wanted, where that is a matter of shape and type.
Case::Spoil Case::draw_spoil(Wanted &wanted) {
    if (!hits(8)) return Spoil::none;
    auto spoil = static_cast<Spoil>(uniform(random, 1, static_cast<int64_t>(Spoil::alias)));
    Shape &shape = wanted.shape;
    if (shape.empty() && spoil == Spoil::extent) spoil = Spoil::rank;
    if (spoil == Spoil::extent) {
        int64_t &extent = shape[static_cast<size_t>(uniform(random, 0, std::ssize(shape) - 1))];
        const int64_t edge = int64_t{1} << uniform(random, 30, 33);
        extent = pick(random, std::vector<int64_t>{0, 1, extent - 1, extent + 1, 2 * extent, -1,
                                                   edge - 1, edge, edge + 1});
    } else if (spoil == Spoil::rank) {
        if (!shape.empty() && one_in(random, 2)) {
            shape.erase(shape.begin() + uniform(random, 0, std::ssize(shape) - 1));
        } else {
            shape.insert(shape.begin() + uniform(random, 0, std::ssize(shape)),
                         uniform(random, 1, 2));
        }
    } else if (spoil == Spoil::type) {
        wanted.type =
            static_cast<DataType>(uniform(random, 0, static_cast<int64_t>(DataType::u64)));
    } else if (spoil == Spoil::apart) {
        wanted.adjacent = false;
    }
    const char *names[] = {"",      "extent",   "rank", "type",    "undefined",
                           "apart", "repeated", "far",  "crowded", "alias"};
    act(std::string(wanted.name) + " " + names[static_cast<size_t>(spoil)]);
    return spoil;
}

const Operand &Case::place(const Wanted &asked) {
    Wanted wanted = asked;
    const Spoil spoil = draw_spoil(wanted);
    Operand &operand = operands_.emplace_back();
    operand.name = wanted.name;
    operand.use = wanted.use;
    if (spoil == Spoil::undefined) return operand;
    operand.view.shape = wanted.shape;
    const bool placed = spoil == Spoil::alias ? take_alias(wanted, operand)
                        : one_in(random, 2)   ? take_spare(wanted, operand)
                                              : false;
    if (!placed) draw_view(wanted, spoil, operand);
    fill(wanted, operand);
    operand.tensor = operand.block->on_host(operand.view);
    return operand;
}

void Case::draw_view(const Wanted &wanted, Spoil spoil, Operand &operand) {
    View &view = operand.view;
    int64_t apart = draw_strides(wanted, view);
    if (spoil != Spoil::none) apart = 0;
    spoil_strides(spoil, view);
    limit_strides(wanted, view);
    Reach reach = reach_of(view.shape, view.strides);
    if (reach.places() == 0) apart = 0;
    reach.high += apart;
    // Twice in four times at the end, where most reads too many are.
    const auto edge = static_cast<Edge>(std::max<int64_t>(uniform(random, -1, 2), 0));
    operand.block = std::make_shared<Block>(
        wanted.host ? Device::cpu() : device, wanted.type, reach, edge,
        lane_ * Block::kSlots + static_cast<int>(blocks_.size()), uniform(random, 0, 15));
    blocks_.push_back(operand.block);
    view.first = operand.block->first();
    if (apart == 0) return;
    Spare spare{operand.block, view, wanted.adjacent};
    spare.view.first += apart;
    if (one_in(random, 2)) std::swap(spare.view.first, view.first);
    spares_.push_back(spare);
}

// Repeated, what does not fit; and what is written that would fill the memory, so that it is
// refused.
void Case::limit_strides(const Wanted &wanted, View &view) const {
    const bool on_cpu = wanted.host || device.is_cpu();
    const double most = on_cpu ? static_cast<double>(window_bytes() - (1 << 20)) : 1e8;
    const double written = product(view.shape) * static_cast<double>(size_of(wanted.type));
    for (size_t d = 0; d < view.shape.size(); d++) {
        const bool fills = wanted.use != Use::read && written > 1e8 && view.shape[d] > 1000;
        if (fills || bytes_of(view, wanted.type) > most) view.strides[d] = 0;
    }
}

// Returns how far behind each element is room for one of another operand; 0 where there is none.
int64_t Case::draw_strides(const Wanted &wanted, View &view) {
    const Shape &shape = view.shape;
    const auto rank = shape.size();
    view.strides.assign(rank, 1);
    std::vector<size_t> order(rank);
    for (size_t i = 0; i < rank; i++) order[i] = rank - 1 - i;
    const bool plain = wanted.packed || one_in(random, 4);
    if (!plain && rank > 1 && one_in(random, 3)) {
        std::shuffle(order.begin() + wanted.adjacent, order.end(), random);
    }
    const bool huge = product(shape) > 1e9;
    // Between the elements of this dimension, or of none.
    const int64_t doubled =
        plain || huge ? -1 : uniform(random, wanted.adjacent, 4 * std::ssize(shape));
    int64_t apart = 0;
    double next = 1;
    for (size_t i = 0; i < rank; i++) {
        const size_t d = order[i];
        const bool fixed = plain || (wanted.adjacent && d == rank - 1);
        if (static_cast<int64_t>(i) == doubled) {
            apart = static_cast<int64_t>(next);
            next *= 2;
        }
        next *= static_cast<double>(!fixed && one_in(random, 4) ? uniform(random, 2, 3) : 1);
        view.strides[d] = next < 1e15 ? static_cast<int64_t>(next) : 0;
        next *= static_cast<double>(std::max<int64_t>(shape[d], 1));
        // What interleaves does so as slices of one tensor do.
        const double unit = apart > 0 ? static_cast<double>(std::abs(view.strides[d])) : 1;
        if (!plain && one_in(random, 4)) next += unit * static_cast<double>(uniform(random, 0, 5));
        if (!fixed && one_in(random, 4)) view.strides[d] = -view.strides[d];
        // What is never stepped along may be any number.
        if (!wanted.packed && shape[d] == 1 && one_in(random, 3)) {
            const int64_t size = int64_t{1} << uniform(random, 0, one_in(random, 3) ? 40 : 10);
            view.strides[d] = uniform(random, -size, size);
        }
        const bool repeat = !fixed && (huge ? shape[d] > 65536 : one_in(random, 16));
        if (repeat && wanted.use == Use::read && wanted.repeats) view.strides[d] = 0;
    }
    return apart;
}

void Case::spoil_strides(Spoil spoil, View &view) {
    if (view.shape.empty()) return;
    int64_t &stride =
        view.strides[static_cast<size_t>(uniform(random, 0, std::ssize(view.shape) - 1))];
    if (spoil == Spoil::repeated) stride = 0;
    if (spoil == Spoil::crowded) stride = 1;
    if (spoil == Spoil::far) {
        stride = (int64_t{1} << uniform(random, 20, 33)) + uniform(random, -1, 1);
        if (one_in(random, 2)) stride = -stride;
    }
}

bool Case::take_spare(const Wanted &wanted, Operand &operand) {
    for (Spare &spare : spares_) {
        if (!spare.block || spare.view.shape != operand.view.shape || wanted.host ||
            wanted.packed || spare.block->type() != wanted.type ||
            (wanted.adjacent && !spare.adjacent)) {
            continue;
        }
        const bool repeats =
            std::ranges::any_of(spare.view.strides, [](int64_t s) { return s == 0; });
        if (repeats && (wanted.use != Use::read || !wanted.repeats)) continue;
        operand.block = spare.block;
        operand.view = spare.view;
        spare.block = nullptr;
        return true;
    }
    return false;
}

// Elements of another operand.
bool Case::take_alias(const Wanted &wanted, Operand &operand) {
    for (const Operand &other : operands_) {
        if (!other.block || other.block->large() || other.block->type() != wanted.type) continue;
        View &view = operand.view;
        if (other.view.shape == view.shape && one_in(random, 2)) {
            view = other.view;
        } else {
            Wanted alike = wanted;
            alike.repeats = false;
            draw_strides(alike, view);
            if (bytes_of(view, wanted.type) > 1e8) return false;
            const Reach reach = reach_of(view.shape, view.strides);
            const int64_t room = other.block->places() - reach.places();
            if (reach.places() < 1 || room < 0) return false;
            view.first = uniform(random, 0, room) - reach.low;
        }
        operand.block = other.block;
        return true;
    }
    return false;
}

void Case::fill(const Wanted &wanted, const Operand &operand) {
    View once = operand.view;
    for (size_t d = 0; d < once.shape.size(); d++) {
        if (once.strides[d] == 0) once.shape[d] = std::min<int64_t>(once.shape[d], 1);
    }
    if (product(once.shape) > static_cast<double>(kMostElements)) return;  // zeros
    const Tensor host = operand.block->on_host(once);
    if (wanted.use == Use::write) return test::poison(host);
    std::vector<double> values(static_cast<size_t>(host.elements()));
    std::ranges::generate(values, [&] { return wanted.values(random); });
    try {
        reference::write(host, values);
    } catch (const std::invalid_argument &) {
        // A type, of a hostile case, that can't hold them.
        std::vector<uint64_t> bits(values.size());
        std::ranges::generate(bits, std::ref(random));
        reference::write_bits(host, bits);
    }
}

}  // namespace hk::fuzz
