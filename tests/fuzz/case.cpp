#include "tests/fuzz/case.h"

#include <algorithm>
#include <sstream>

#include "tests/reference/elements.h"
#include "tests/support/placed.h"

namespace hk::fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 20;  // that are read for a check

// A seed's own sequence, whatever its neighbours' (splitmix64).
uint64_t mixed(uint64_t seed) {
    uint64_t z = seed + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

// One step along dimensions whose elements are one.
View without_repeats(View view) {
    for (size_t d = 0; d < view.shape.size(); d++) {
        if (view.strides[d] == 0) view.shape[d] = std::min<int64_t>(view.shape[d], 1);
    }
    return view;
}

// At most `kMostElements` + 1.
int64_t elements_of(const Shape &shape) {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
        if (extent <= 0) return 0;
        elements = std::min(elements, kMostElements + 1) * std::min(extent, kMostElements + 1);
    }
    return std::min(elements, kMostElements + 1);
}

const char *name_of(Fault fault) {
    const char *names[] = {"none", "operator new fails", "the system has no memory",
                           "the pool has reached its limit", "the driver fails"};
    return names[static_cast<size_t>(fault)];
}

}  // namespace

Values whole(int64_t first, int64_t last) {
    return [=](Random &random) { return static_cast<double>(uniform(random, first, last)); };
}

Values any_real() {
    return [](Random &random) { return std::uniform_real_distribution<>(-1, 1)(random); };
}

Values listed(std::vector<double> values) {
    if (values.empty()) values.push_back(0);
    return [values = std::move(values), i = size_t{0}](Random &) mutable {
        return values[i++ % values.size()];
    };
}

Case::Case(uint64_t seed, Kind kind, Device device, int lane)
    : random(mixed(seed)), kind(kind), device(device), lane_(lane) {
    if (!hostile()) return;
    tame_ = one_in(random, 3);
    if (!tame_) return;
    std::vector<Fault> faults{Fault::allocation, Fault::allocation, Fault::system, Fault::limit};
    if (device.type() == DeviceType::opencl) {
        faults.insert(faults.end(), {Fault::driver, Fault::driver, Fault::driver});
    }
    fault_ = pick(random, faults);
}

const Operand &Case::none() {
    static const Operand absent{};
    return absent;
}

bool Case::hits(int64_t n) { return hostile() && !tame_ && one_in(random, n); }

bool Case::misplaces() {
    if (!hits(8)) return false;
    act("in place of another tensor");
    return true;
}

void Case::act(const std::string &what) { acts_ += (acts_.empty() ? "" : "; ") + what; }

void Case::spoil(int64_t &number) {
    if (!hits()) return;
    const int64_t edge = int64_t{1}
                         << pick(random, std::vector<int>{8, 16, 20, 30, 31, 32, 33, 62});
    const std::vector<int64_t> numbers{0,
                                       -1,
                                       1,
                                       number - 1,
                                       number + 1,
                                       edge,
                                       edge - 1,
                                       edge + 1,
                                       -edge,
                                       2 * number,
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min()};
    const int64_t was = number;
    number = pick(random, numbers);
    act("a number is " + std::to_string(number) + " instead of " + std::to_string(was));
}

void Case::spoil(float &number) {
    if (!hits()) return;
    using Limits = std::numeric_limits<float>;
    number =
        pick(random, std::vector<float>{0, -1, 1, Limits::quiet_NaN(), Limits::infinity(),
                                        -Limits::infinity(), Limits::max(), Limits::denorm_min()});
    act("a number is " + std::to_string(number));
    // No definition tells what comes of it.
    if (!(number >= -1 && number <= 1)) leave_unchecked();
}

std::string Case::text() const {
    std::ostringstream text;
    text << problem_;
    int operand = 0;
    for (const Operand &o : operands_) {
        text << "\n  " << o.name << ": ";
        if (!o.tensor.defined()) {
            text << "undefined";
            continue;
        }
        const auto block = std::ranges::find(blocks_, o.block) - blocks_.begin();
        text << hk::name_of(o.tensor.type()) << ' ' << hk::to_string(o.view.shape) << ", strides "
             << hk::to_string(o.view.strides) << ", from place " << o.view.first << " of "
             << o.block->places() << " of operand " << block;
        operand++;
    }
    if (!acts_.empty()) text << "\n  hostile: " << acts_;
    if (fault_ != Fault::none) text << "\n  fault: " << name_of(fault_);
    return text.str();
}

void Case::report(const std::string &what) const { throw Finding(what); }

// The memory before the call.
void Case::prepare() {
    if (prepared_) return;
    prepared_ = true;
    for (const auto &block : blocks_) block->keep();
    for (Operand &o : operands_) {
        if (!o.tensor.defined()) continue;
        const View once = without_repeats(o.view);
        const bool readable = elements_of(once.shape) <= kMostElements;
        large_.push_back({});
        if (readable && o.block->large() && o.use == Use::read) {
            large_.back() = reference::bits(o.block->on_host(once));
        }
        if (elements_of(o.view.shape) <= kMostElements) {
            o.before = packed_copy(o.block->on_host(o.view));
        }
        o.tensor = o.block->on_device(o.view);
    }
}

Case::Thrown Case::attempt(const std::function<void()> &call) {
    message_.clear();
    try {
        call();
        device.synchronize();
        return Thrown::nothing;
    } catch (const InvalidArgument &error) {
        message_ = std::string("InvalidArgument: ") + error.what();
        return Thrown::invalid;
    } catch (const OutOfMemory &error) {
        message_ = std::string("OutOfMemory: ") + error.what();
        return Thrown::memory;
    } catch (const DeviceError &error) {
        message_ = std::string("DeviceError: ") + error.what();
        return Thrown::device;
    } catch (const KernelFailure &error) {
        message_ = std::string("KernelFailure: ") + error.what();
        return Thrown::kernel;
    } catch (const std::exception &error) {
        message_ = std::string("no error of the library: ") + error.what();
        return Thrown::other;
    }
}

// Everything around what is written, and what is only read. Where the call was refused, all.
void Case::verify(bool refused) const {
    for (const auto &block : blocks_) {
        std::vector<View> written;
        std::string names;
        for (const Operand &o : operands_) {
            if (o.block != block) continue;
            names += (names.empty() ? "" : ", ") + o.name;
            if (o.use != Use::read && !refused) written.push_back(o.view);
        }
        const std::string change = block->change(written);
        if (!change.empty()) report("memory of " + names + ": " + change);
    }
    size_t i = 0;
    for (const Operand &o : operands_) {
        if (!o.tensor.defined()) continue;
        const std::vector<uint64_t> &was = large_[i++];
        if (!was.empty() && reference::bits(o.block->on_host(without_repeats(o.view))) != was) {
            report(o.name + " was changed");
        }
    }
}

// The call with a fault; false where it threw, and is to be tried again.
bool Case::survives_fault(const std::function<void()> &call) {
    const int64_t nth = fault_ == Fault::limit ? 1 : uniform(random, 1, one_in(random, 2) ? 3 : 20);
    act("request " + std::to_string(nth) + " fails");
    arm(fault_, nth);
    const Thrown thrown = attempt(call);
    disarm();
    if (thrown == Thrown::nothing) return true;
    const bool of_driver = thrown == Thrown::device || thrown == Thrown::kernel;
    if (!fired() || !(thrown == Thrown::memory || (of_driver && fault_ == Fault::driver))) {
        report(std::string(name_of(fault_)) + ", and the call threw " + message_);
    }
    verify(false);
    // Large blocks don't keep what they held, but what is added to is known if it is checked.
    for (const auto &block : blocks_) block->restore();
    for (const Operand &o : operands_) {
        if (o.use == Use::update && o.before.defined()) o.tensor.copy_from(o.before);
    }
    return false;
}

Result Case::run(const std::function<void()> &call, const std::function<std::string()> &check) {
    prepare();
    if (fault_ == Fault::none || !survives_fault(call)) {
        const Thrown thrown = attempt(call);
        const bool allowed = !untouched() && fault_ == Fault::none;
        if (thrown == Thrown::invalid || thrown == Thrown::memory) {
            if (!allowed) report("a valid call threw " + message_);
            verify(thrown == Thrown::invalid);
            return Result::refused;
        }
        if (thrown != Thrown::nothing) report("the call threw " + message_);
    }
    verify(false);
    const bool readable = std::ranges::all_of(operands_, &Operand::checkable);
    if (unchecked_ || !readable) return Result::unchecked;
    const std::string wrong = check();
    if (!wrong.empty()) report("differs: " + wrong);
    return Result::right;
}

}  // namespace hk::fuzz
