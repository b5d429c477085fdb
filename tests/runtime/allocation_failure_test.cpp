// No memory for the host's own bookkeeping: each allocation of a call fails in turn, and all from
// one on. The call throws OutOfMemory or does without; its inputs stay as they were, and the next
// call works.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "family_calls.h"
#include "hk/error.h"

namespace {

// Which allocation fails: the n-th from now on, and with `all` those after it too. 0: none.
std::atomic<int64_t> left{0};
std::atomic<bool> all{false}, failed{false};

bool fails() {
    if (left == 0) return false;
    if (left > 1) {
        left--;
        return false;
    }
    if (!all) left = 0;
    failed = true;
    return true;
}

}  // namespace

void *operator new(size_t bytes) {
    void *memory = fails() ? nullptr : std::malloc(bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace hk {
namespace {

enum class Ending { done, out_of_memory, other };

// Whether an allocation was to fail after the call's last is in `failed`.
Ending run(const FamilyCall &call, int64_t which, bool and_later) {
    failed = false;
    all = and_later;
    left = which;
    Ending ending = Ending::done;
    try {
        call.run();
    } catch (const OutOfMemory &) {
        ending = Ending::out_of_memory;
    } catch (...) {
        ending = Ending::other;
    }
    left = 0;
    return ending;
}

std::vector<std::string> bytes_of(const std::vector<Tensor> &tensors) {
    std::vector<std::string> bytes;
    for (const Tensor &tensor : tensors) bytes.push_back(hk::bytes_of(tensor));
    return bytes;
}

std::vector<std::string> results_of(const FamilyCall &call) {
    std::vector<std::string> bytes;
    for (const auto &output : call.outputs) bytes.push_back(hk::bytes_of(*output));
    return bytes;
}

constexpr int64_t kMostAllocations = 5000;

// Calls that find everything made: caches, pools, the table.
void check_later_calls(const FamilyCall &call) {
    SCOPED_TRACE(call.name);
    const std::vector<std::string> inputs = bytes_of(call.inputs);
    call.run();
    const std::vector<std::string> expected = results_of(call);
    for (const bool and_later : {false, true}) {
        failed = true;
        for (int64_t n = 1; failed; n++) {
            ASSERT_LT(n, kMostAllocations);
            const Ending ending = run(call, n, and_later);
            EXPECT_NE(ending, Ending::other)
                << "allocation " << n << (and_later ? " and later" : "");
            EXPECT_TRUE(failed || ending == Ending::done);
        }
        EXPECT_EQ(bytes_of(call.inputs), inputs);
        EXPECT_EQ(results_of(call), expected);
    }
}

// Made while no allocation fails: a tensor takes its shape over.
Shape shape_of(std::initializer_list<int64_t> sizes) {
    const int64_t kept = left.exchange(0);
    Shape shape(sizes);
    left = kept;
    return shape;
}

const std::vector<int> turned{1, 0};

void use_tensors() {
    float data[24] = {};
    const Tensor made = Tensor::zeros(shape_of({4, 6}), DataType::f32);
    const Tensor lent = Tensor::borrow(data, DataType::f32, shape_of({4, 6}), shape_of({1, 4}));
    made.copy_from(lent);
    made.permute(turned).slice(0, 5, 3, -2).reshape(shape_of({3, 2, 2})).fill_zero();
    const Tensor back = Tensor::from_dlpack(made.to_dlpack());
    if (!back.overlaps(made)) throw Error("an exported tensor is another");
    Tensor(shape_of({3}), DataType::s32).to(Device::cpu());
}

std::vector<FamilyCall> tensor_calls() { return {{"tensors", {}, {}, use_tensors}}; }

using Calls = std::vector<FamilyCall>();

// In a child: the first call of each kind, with the allocation of that number failing in each.
// Status: 0, or 3 where no call had so many.
int run_in_child(Calls &make, int64_t which, bool and_later) {
    bool last = true;
    for (const FamilyCall &call : make()) {
        const std::vector<std::string> inputs = bytes_of(call.inputs);
        const Ending ending = run(call, which, and_later);
        const bool had_fewer = !failed;
        const bool wrong = ending == Ending::other || (had_fewer && ending != Ending::done);
        call.run();
        if (wrong || bytes_of(call.inputs) != inputs) {
            std::fprintf(stderr, "%s: allocation %d\n", call.name.c_str(), static_cast<int>(which));
            return wrong ? 1 : 2;
        }
        last &= had_fewer;
    }
    return last ? 3 : 0;
}

template<typename F>
int status_of_child(F &&child) {
    const pid_t process = fork();
    if (process == 0) _exit(child());
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void check_first_calls(Calls &make, bool and_later) {
    int status = 0;
    for (int64_t n = 1; status != 3; n++) {
        ASSERT_LT(n, kMostAllocations);
        status = status_of_child([&] { return run_in_child(make, n, and_later); });
        ASSERT_TRUE(status == 0 || status == 3) << "allocation " << n << ": " << status;
    }
}

// Before the others of this program: a process that has computed with threads must not fork.
TEST(AllocationFailure, InFirstCalls) {
    setenv("HL_NUM_THREADS", "1", 1);
    for (const bool and_later : {false, true}) {
        check_first_calls(tensor_calls, and_later);
        check_first_calls(family_calls, and_later);
    }
}

TEST(AllocationFailure, InLaterCalls) {
    check_later_calls(tensor_calls().front());
    for (const FamilyCall &call : family_calls()) check_later_calls(call);
}

}  // namespace
}  // namespace hk
