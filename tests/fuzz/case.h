#pragma once
// One random call of the library: its operands, what is done to them, and what must be true after
// it.

#include <deque>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "hk/error.h"
#include "tests/fuzz/faults.h"
#include "tests/fuzz/memory.h"
#include "tests/support/seed.h"

namespace hk::fuzz {

using test::one_in;
using test::pick;
using test::Random;
using test::uniform;

// valid: the call must work and be right. hostile: arguments are spoilt here and there, or memory
// or the driver fails; the call is right, or throws what its header promises and has changed
// nothing.
enum class Kind { valid, hostile };

// What must not happen.
struct Finding : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Use { read, write, update };  // update: the call reads what is there and writes

// Elements of an operand, as doubles that its type holds.
using Values = std::function<double(Random &)>;
Values whole(int64_t first, int64_t last);
Values any_real();                          // in -1..1
Values listed(std::vector<double> values);  // in this order, again and again

struct Wanted {
    const char *name;
    Use use = Use::read;
    Shape shape;
    DataType type = DataType::f32;
    Values values = whole(-4, 4);
    bool adjacent = false;  // elements of the last dimension lie next to each other
    bool packed = false;    // no view at all
    bool repeats = true;    // of one that is read: a stride may be 0
    Device device{};        // set by the case, but for operands that are always on the host
    bool host = false;
};

struct Operand {
    std::string name;
    Use use = Use::read;
    Tensor tensor;  // undefined where a hostile case left it out
    Tensor before;  // packed, on the host; undefined where that is too large to be checked
    std::shared_ptr<Block> block;
    View view;

    bool checkable() const { return !tensor.defined() || before.defined(); }
    Tensor after() const { return block->fetch(view); }  // packed, on the host
};

enum class Result { right, unchecked, refused };

class Case {
public:
    // `lane`: of the thread that runs it.
    Case(uint64_t seed, Kind kind, Device device, int lane = 0);

    Random random;
    const Kind kind;
    const Device device;

    bool hostile() const { return kind == Kind::hostile; }

    // An operand, placed at random.
    const Operand &place(const Wanted &wanted);
    // None, which a hostile case may not turn into one.
    static const Operand &none();

    // A hostile case changes these now and then.
    void spoil(int64_t &number);
    void spoil(float &number);
    template<typename Enum>
    void spoil_enum(Enum &value) {
        if (!hits()) return;
        value = static_cast<Enum>(pick(random, std::vector<int>{0, 1, 2, 3, 7, 64, 200, 255}));
        act("an enum is " + std::to_string(static_cast<int>(value)));
    }
    bool misplaces();           // whether inplace() is to be given another tensor
    bool hits(int64_t n = 16);  // whether to change this; never in a case that is to stay valid
    void act(const std::string &what);
    bool untouched() const { return acts_.empty(); }
    void leave_unchecked() { unchecked_ = true; }  // no definition tells what is right

    // What the call is of, in words.
    void tell(const std::string &problem) { problem_ = problem; }
    std::string text() const;

    // Makes the call. `check` returns what is wrong of the outputs, and is not asked where operands
    // are too large to be read. Throws Finding.
    // After the last place(): tensors are of the device from here on. run() does it where nobody
    // copies them before.
    void prepare();
    Result run(const std::function<void()> &call, const std::function<std::string()> &check);

private:
    enum class Spoil { none, extent, rank, type, undefined, apart, repeated, far, crowded, alias };
    enum class Thrown { nothing, invalid, memory, device, kernel, other };

    // A place for another operand between the elements of one.
    struct Spare {
        std::shared_ptr<Block> block;
        View view;
        bool adjacent = false;  // its last dimension's elements
    };

    Spoil draw_spoil(Wanted &wanted);
    void draw_view(const Wanted &wanted, Spoil spoil, Operand &operand);
    int64_t draw_strides(const Wanted &wanted, View &view);
    void limit_strides(const Wanted &wanted, View &view) const;
    void spoil_strides(Spoil spoil, View &view);
    bool take_spare(const Wanted &wanted, Operand &operand);
    bool take_alias(const Wanted &wanted, Operand &operand);
    void fill(const Wanted &wanted, const Operand &operand);
    Thrown attempt(const std::function<void()> &call);
    bool survives_fault(const std::function<void()> &call);
    void verify(bool refused) const;
    [[noreturn]] void report(const std::string &what) const;

    std::deque<Operand> operands_;
    std::vector<std::shared_ptr<Block>> blocks_;
    std::vector<Spare> spares_;
    std::string problem_, acts_, message_;  // of what was thrown
    std::vector<std::vector<uint64_t>>
        large_;  // elements that are read of operands not compared whole
    const int lane_;
    Fault fault_ = Fault::none;
    bool tame_ = false;  // a hostile case whose arguments stay valid
    bool unchecked_ = false, prepared_ = false;
};

}  // namespace hk::fuzz
