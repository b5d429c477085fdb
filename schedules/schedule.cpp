#include "schedules/schedule.h"

#include <charconv>
#include <sstream>

namespace hk::schedules {

Knobs::Knobs(const std::string &text) {
    std::istringstream in(text);
    for (std::string knob; std::getline(in, knob, ',');) {
        const size_t colon = knob.find(':');
        int value = 0;
        const char *end = knob.data() + knob.size();
        const char *digits = colon == std::string::npos ? end : knob.data() + colon + 1;
        const auto [stop, error] = std::from_chars(digits, end, value);
        if (error != std::errc() || stop != end || value < 0)
            throw Halide::CompileError("knob is " + knob + ", expected name:number");
        values_[knob.substr(0, colon)] = value;
    }
}

void Knobs::take(const std::string &name, int &value) {
    if (const auto found = values_.find(name); found != values_.end()) {
        value = found->second;
        values_.erase(found);
    }
}

void Knobs::end() const {
    if (values_.empty()) return;
    throw Halide::CompileError("no knob " + values_.begin()->first + " in this schedule");
}

}  // namespace hk::schedules
