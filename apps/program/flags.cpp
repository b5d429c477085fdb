#include "flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "quote.h"

namespace hk::program {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

Check number(const std::string &words, const std::function<bool(double)> &is_one) {
    const auto complaint = [=](std::string &text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && is_one(value)) return {};
        return in_quotes(text) + " is not " + words;
    };
    return {complaint, ""};
}

std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

Check check_of(const CLI::Validator &validator) { return {validator, validator.get_description()}; }

}  // namespace

Check one_of(const std::vector<std::string> &words) { return check_of(CLI::IsMember(words)); }

Check range(int64_t least, int64_t most) { return check_of(CLI::Range(least, most)); }

Check between(double least, double most) {
    return number("a number from " + text_of(least) + " to " + text_of(most),
                  [=](double value) { return least <= value && value <= most; });
}

Check finite() {
    return number("a finite number",
                  [](double value) { return -kMost <= value && value <= kMost; });
}

Check positive() {
    return number("a finite number above 0",
                  [](double value) { return 0 < value && value <= kMost; });
}

Check not_negative() {
    return number("a finite number from 0",
                  [](double value) { return 0 <= value && value <= kMost; });
}

Flag &Flag::required() {
    option_->required();
    return *this;
}

Flag &Flag::optional() {
    option_->required(false);
    return *this;
}

Flag &Flag::check(const Check &check) {
    option_->check(CLI::Validator(check.complaint, check.description));
    return *this;
}

Flag &Flag::needs(Flag other) {
    option_->needs(other.option_);
    return *this;
}

Flag &Flag::excludes(Flag other) {
    option_->excludes(other.option_);
    return *this;
}

Flag &Flag::show_default() {
    option_->capture_default_str();
    return *this;
}

Flags::Flags(const std::string &description)
    : program_(std::make_unique<CLI::App>(description)), app_(program_.get()) {}

Flags::Flags(CLI::App *verb) : app_(verb) {}

Flags::~Flags() = default;

template<typename Value>
Flag Flags::add(const std::string &name, Value &value, const std::string &help) {
    return Flag(app_->add_option(name, value, help));
}

template Flag Flags::add(const std::string &, float &, const std::string &);
template Flag Flags::add(const std::string &, double &, const std::string &);
template Flag Flags::add(const std::string &, int &, const std::string &);
template Flag Flags::add(const std::string &, int64_t &, const std::string &);
template Flag Flags::add(const std::string &, uint32_t &, const std::string &);
template Flag Flags::add(const std::string &, uint64_t &, const std::string &);
template Flag Flags::add(const std::string &, std::string &, const std::string &);
template Flag Flags::add(const std::string &, std::filesystem::path &, const std::string &);
template Flag Flags::add(const std::string &, std::vector<std::string> &, const std::string &);

Flag Flags::add(const std::string &name, bool &is_given, const std::string &help) {
    return Flag(app_->add_flag(name, is_given, help));
}

Flags &Flags::add_verb(const std::string &name, const std::string &description) {
    app_->require_subcommand(1);
    verbs_.push_back(std::unique_ptr<Flags>(new Flags(app_->add_subcommand(name, description))));
    return *verbs_.back();
}

Flag Flags::find(const std::string &name) { return Flag(app_->get_option(name)); }

std::optional<int> Flags::parse(int argc, char **argv) try {
    app_->parse(argc, argv);
    return std::nullopt;
} catch (const CLI::ParseError &error) {
    return app_->exit(error) == 0 ? 0 : 2;
}

bool Flags::given() const { return app_->parsed(); }

bool Flags::given(const std::string &name) const { return app_->count(name) > 0; }

}  // namespace hk::program
