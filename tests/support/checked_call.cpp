#include "tests/support/checked_call.h"

#include <gtest/gtest.h>

#include <sstream>

#include "hk/error.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"

namespace hk::test {

Outcome CheckedCall::fail(const std::string &what) const {
    ADD_FAILURE() << what << "\nkernel  " << (row ? row->name : "chosen by selection")
                  << "\non      " << device.name() << "\nproblem " << problem << "\nseed    "
                  << seed << "\nrepeat  " << repeat_command(seed);
    return Outcome::failed;
}

Outcome CheckedCall::run() const {
    try {
        call();
        device.synchronize();
    } catch (const InvalidArgument &error) {
        if (row) {
            return Outcome::refused;
        }
        return fail(std::string("threw    ") + error.what());
    } catch (const std::exception &error) {
        return fail(std::string("threw    ") + error.what());
    }
    std::string faults;
    const auto add_fault = [&](const std::string &what, const std::string &fault) {
        faults += fault.empty() ? "" : "\n        " + what + ": " + fault;
    };
    for (const auto &[name, tensor, compare] : outputs) {
        add_fault(name, compare(tensor->fetch()));
        add_fault(std::string("around the ") + name, tensor->damage());
    }
    for (const auto &[name, tensor] : inputs) {
        add_fault(name, tensor ? tensor->change() : "");
    }
    return faults.empty() ? Outcome::passed : fail("differs" + faults);
}

Tensor tensor_of(const std::optional<Placed> &placed) {
    return placed ? placed->tensor() : Tensor();
}

const Placed *address_of(const std::optional<Placed> &placed) {
    return placed ? &*placed : nullptr;
}

std::string differences(const std::function<std::string(size_t)> &place,
                        const std::vector<double> &got,
                        const std::function<std::string(size_t)> &fault) {
    std::ostringstream text;
    int wrong = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const std::string wanted = fault(i);
        if (!wanted.empty() && wrong++ < 4) {
            text << "\n        " << place(i) << ": " << got[i] << ", should be " << wanted;
        }
    }
    return wrong ? std::to_string(wrong) + " of " + std::to_string(got.size()) + " elements" +
                       text.str()
                 : "";
}

std::string differences(const Conv2dProblem &problem, const std::vector<double> &got,
                        const std::function<std::string(size_t)> &fault) {
    return differences([&](size_t i) { return name_of_place(problem, i); }, got, fault);
}

std::string fault(DataType type, double got, double value, double bound) {
    if (reference::close(type, got, value, bound)) return "";
    std::ostringstream text;
    text.precision(9);
    text << value;
    if (bound != 0) text << " within " << bound;
    return text.str();
}

std::string fault_of_sum(DataType type, double got, double value, double magnitude, int64_t terms,
                         bool exact, const ActivationOptions &activation) {
    if (exact) return fault(type, got, reference::rounded(type, value), 0);
    return fault(type, got, value, reference::tolerance(type, terms, value, magnitude, activation));
}

std::string unwritten(const Tensor &output) {
    const int64_t place = size_of(output.type()) > 1 ? first_poison(output) : -1;
    return place < 0 ? "" : "\n        element " + std::to_string(place) + " was never written";
}

}  // namespace hk::test
