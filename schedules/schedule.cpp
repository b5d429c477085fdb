#include "schedules/schedule.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <sstream>

namespace hk::schedules {

namespace {

thread_local KnobListener *listener = nullptr;

template<typename T>
std::string list(const std::vector<T> &items, const std::string &none) {
    std::ostringstream text;
    for (const T &item : items) text << (&item == &items.front() ? "" : ", ") << item;
    return items.empty() ? none : text.str();
}

}  // namespace

std::vector<int> steps(int first, int last, int step) {
    std::vector<int> result;
    for (int value = first; value <= last; value += step) result.push_back(value);
    return result;
}

std::vector<int> powers(int first, int last) {
    std::vector<int> result;
    for (int value = first; value <= last; value *= 2) result.push_back(value);
    return result;
}

int vector_registers(const Halide::Target &target) {
    return target.natural_vector_size<float>() >= 16 ? 32 : 16;
}

bool one_multiply_add(const Halide::Target &target) {
    using Halide::Target;
    return target.has_feature(Target::AVX512_Zen4) &&
           !target.features_any_of({Target::AVX512_Zen5, Target::AVX512_SapphireRapids});
}

std::string knobs_for(const Halide::Target &target, const std::string &knobs) {
    static const std::regex both("([0-9]+)/([0-9]+)");
    return std::regex_replace(knobs, both, one_multiply_add(target) ? "$2" : "$1");
}

Halide::Expr number_of_threads() {
    using Halide::Internal::Call;
    return Call::make(Halide::Int(32), "halide_get_num_threads", {}, Call::PureExtern);
}

Knobs::Knobs(const std::string &text, std::source_location chooser) {
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
    if (listener && listener->space_.file.empty()) {
        listener->space_.file = chooser.file_name();
        listener->space_.line = static_cast<int>(chooser.line());
    }
}

void Knobs::take(const std::string &name, int &value, const std::vector<int> &legal) {
    taken_.push_back(name);
    if (const auto found = values_.find(name); found != values_.end()) {
        value = found->second;
        values_.erase(found);
        if (std::find(legal.begin(), legal.end(), value) == legal.end())
            throw Halide::CompileError("knob " + name + " is " + std::to_string(value) +
                                       ", allowed: " + list(legal, "none"));
    }
    if (!listener) return;
    std::vector<Knob> &heard = listener->space_.knobs;
    const auto known = std::find_if(heard.begin(), heard.end(),
                                    [&](const Knob &knob) { return knob.name == name; });
    if (known == heard.end())
        heard.push_back({name, value, legal});
    else
        *known = {name, value, legal};
}

void Knobs::require(bool holds, const std::string &what) {
    if (!holds) throw Halide::CompileError("these knobs don't go together: " + what);
}

void Knobs::estimate(const std::string &what, int64_t uses, int64_t has) {
    if (!listener) return;
    std::vector<Estimate> &heard = listener->space_.estimates;
    const auto known =
        std::find_if(heard.begin(), heard.end(), [&](const Estimate &e) { return e.what == what; });
    if (known == heard.end())
        heard.push_back({what, uses, has});
    else
        *known = {what, uses, has};
}

void Knobs::end() const {
    if (values_.empty()) return;
    throw Halide::CompileError("no knob " + values_.begin()->first + " in this schedule, only " +
                               list(taken_, "none at all"));
}

KnobListener::KnobListener() { listener = this; }
KnobListener::~KnobListener() { listener = nullptr; }

}  // namespace hk::schedules
