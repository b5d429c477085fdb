// Modules and the heads of entries.
#include "software_cuda/ptx/parser.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "software_cuda/ptx/forms.h"

namespace software_cuda {

namespace {

constexpr uint32_t kNewestVersion = 90;  // PTX ISA 9.0, CUDA 13.0
constexpr uint32_t kMostSharedBytes = 1 << 20;
constexpr uint64_t kMostThreads = 1 << 10;       // a dimension of a block, and more than registers
constexpr uint32_t kMostParameterBytes = 32764;  // PTX ISA, section "Kernel Function Parameters"

uint32_t aligned(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

uint32_t alignment_of(TokenStream &tokens, uint32_t most) {
    const uint64_t value = tokens.number();
    if (!std::has_single_bit(value) || value > most) tokens.fail("alignment");
    return static_cast<uint32_t>(value);
}

class ModuleParser {
public:
    ModuleParser(std::string_view text, uint32_t target)
        : tokens_(tokens_of(text)), target_(target) {
        auto lines = std::make_shared<std::vector<std::string>>();
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('\n', at), text.size());
            lines->emplace_back(text.substr(at, end - at));
            at = end + 1;
        }
        text_ = std::move(lines);
    }

    Module run() {
        head();
        while (!tokens_.at_end()) {
            if (tokens_.take(".visible") || tokens_.take(".weak") || tokens_.take(".extern"))
                continue;
            if (tokens_.take(".entry")) {
                entry();
            } else if (tokens_.take(".shared")) {
                shared_end_ = shared_variable(tokens_, shared_, shared_end_);
            } else if (tokens_.take(".file") || tokens_.take(".pragma")) {
                skip_statement();
            } else if (tokens_.take(".section")) {
                while (!tokens_.at_end() && !tokens_.take("}")) tokens_.next();
            } else {
                tokens_.fail("'" + std::string(tokens_.peek().text) +
                             "' at module scope is not known");
            }
        }
        return std::move(module_);
    }

private:
    TokenStream tokens_;
    const uint32_t target_;
    Lines text_;
    Module module_;
    SharedVariables shared_;
    uint32_t shared_end_ = 0;

    void skip_statement() {
        const uint32_t line = tokens_.peek().line;
        while (!tokens_.at_end() && tokens_.peek().line == line) tokens_.next();
    }

    void head() {
        if (!tokens_.take(".version")) tokens_.fail("a module begins with .version");
        const Token version = tokens_.next();
        const size_t dot = version.text.find('.');
        uint64_t major = 0, minor = 0;
        if (dot == version.text.npos || !parse_number(version.text.substr(0, dot), major) ||
            !parse_number(version.text.substr(dot + 1), minor) || minor > 9 || major > 99) {
            tokens_.fail("version " + std::string(version.text));
        }
        module_.version = static_cast<uint32_t>(10 * major + minor);
        if (module_.version > kNewestVersion) {
            throw ModuleError(ModuleError::kUnsupportedPtxVersion,
                              "line " + std::to_string(version.line) + ": PTX version " +
                                  std::string(version.text) + " is newer than 9.0");
        }
        tokens_.expect(".target");
        do {
            const Token name = tokens_.next();
            if (!name.text.starts_with("sm_")) continue;
            uint64_t target = 0;
            const std::string_view digits =
                name.text.substr(3, name.text.find_first_not_of("0123456789", 3) - 3);
            if (!parse_number(digits, target))
                TokenStream::fail("target " + std::string(name.text), name.line);
            module_.target = static_cast<uint32_t>(target);
            if (target > target_) {
                // As the driver does for PTX of a later architecture than the device's.
                throw ModuleError(ModuleError::kInvalidPtx,
                                  "line " + std::to_string(name.line) + ": PTX for " +
                                      std::string(name.text) + " on a device of sm_" +
                                      std::to_string(target_));
            }
        } while (tokens_.take(","));
        if (tokens_.take(".address_size") && tokens_.number() != 64)
            tokens_.fail("addresses of other than 64 bits");
    }

    void entry() {
        Entry entry;
        entry.name = tokens_.next().text;
        std::map<std::string, Parameter, std::less<>> parameters;
        if (tokens_.take("(") && !tokens_.take(")")) {
            do parameter(entry, parameters);
            while (tokens_.take(","));
            tokens_.expect(")");
        }
        while (tokens_.peek().text.starts_with(".")) limit(entry);
        tokens_.expect("{");
        entry.shared_bytes = shared_end_;
        BodyParser(tokens_, shared_, parameters, module_.target, entry).run(text_);
        if (module_.find(entry.name)) tokens_.fail("a second entry " + entry.name);
        module_.entries.push_back(std::move(entry));
    }

    void parameter(Entry &entry, std::map<std::string, Parameter, std::less<>> &parameters) {
        tokens_.expect(".param");
        uint32_t bytes = 0, alignment = 0;
        while (tokens_.peek().text.starts_with(".")) {
            const std::string_view word = tokens_.next().text;
            if (word == ".align") {
                alignment = std::max(alignment, alignment_of(tokens_, kMostParameterBytes));
            } else if (word == ".ptr") {
                // Says what the parameter points to.
                while (tokens_.peek().text.starts_with(".")) {
                    if (tokens_.next().is(".align")) tokens_.number();
                }
            } else if (const auto type = type_named(word.substr(1))) {
                bytes = bytes_of(*type);
            } else {
                tokens_.fail("parameter with " + std::string(word));
            }
        }
        const Token name = tokens_.next();
        if (!bytes) TokenStream::fail("a parameter without type", name.line);
        alignment = std::max(alignment, bytes);
        if (tokens_.take("[")) {
            const uint64_t count = tokens_.number();
            // Before it is multiplied: 8 times of it fit 32 bits.
            if (count > kMostParameterBytes) fail_for_parameters();
            bytes *= static_cast<uint32_t>(count);
            tokens_.expect("]");
        }
        const Parameter parameter{aligned(entry.parameter_bytes, alignment), bytes};
        if (parameter.offset + bytes > kMostParameterBytes) fail_for_parameters();
        entry.parameter_bytes = parameter.offset + bytes;
        entry.parameters.push_back(parameter);
        parameters.emplace(name.text, parameter);
    }

    [[noreturn]] void fail_for_parameters() const {
        tokens_.fail("parameters of more than " + std::to_string(kMostParameterBytes) + " bytes");
    }

    void limit(Entry &entry) {
        const Token word = tokens_.next();
        uint32_t sizes[3] = {1, 1, 1};
        unsigned n = 0;
        do {
            const uint64_t size = tokens_.number();
            if (n == 3 || size > kMostThreads) tokens_.fail("numbers of " + std::string(word.text));
            sizes[n++] = static_cast<uint32_t>(size);
        } while (tokens_.take(","));
        if (word.is(".maxntid")) {
            entry.max_threads = sizes[0] * sizes[1] * sizes[2];
        } else if (word.is(".reqntid")) {
            std::copy(sizes, sizes + 3, entry.required_block);
        } else if (!word.is(".minnctapersm") && !word.is(".maxnreg") && !word.is(".maxnctapersm")) {
            TokenStream::fail("directive " + std::string(word.text), word.line);
        }
    }
};

}  // namespace

uint32_t shared_variable(TokenStream &tokens, SharedVariables &variables, uint32_t end) {
    uint32_t alignment = 1, bytes = 0;
    if (tokens.take(".align")) alignment = alignment_of(tokens, kMostSharedBytes);
    const std::string_view word = tokens.peek().text;
    const auto type = word.starts_with(".") ? type_named(word.substr(1)) : std::nullopt;
    if (!type) tokens.fail("a shared variable of type '" + std::string(word) + "'");
    tokens.next();
    bytes = bytes_of(*type);
    alignment = std::max(alignment, bytes);
    const std::string name(tokens.next().text);
    while (tokens.take("[")) {
        if (tokens.take("]")) {
            bytes = 0;
            break;
        }
        const uint64_t count = tokens.number();
        if (count > kMostSharedBytes || count * bytes > kMostSharedBytes)
            tokens.fail("a shared variable of more than 1 MiB");
        bytes *= static_cast<uint32_t>(count);
        tokens.expect("]");
    }
    tokens.expect(";");
    const uint32_t address = aligned(end, alignment);
    if (address + bytes > kMostSharedBytes) tokens.fail("shared variables of more than 1 MiB");
    if (!variables.emplace(name, address).second) tokens.fail("a second variable " + name);
    return address + bytes;
}

void TokenStream::fail(const std::string &what, uint32_t line) {
    throw ModuleError(ModuleError::kInvalidPtx, "line " + std::to_string(line) + ": " + what);
}

bool TokenStream::take(std::string_view text) {
    if (!peek().is(text)) return false;
    next();
    return true;
}

void TokenStream::expect(std::string_view text) {
    if (!take(text))
        fail("'" + std::string(text) + "' expected, not '" + std::string(peek().text) + "'");
}

uint64_t TokenStream::number() {
    uint64_t value = 0;
    if (!parse_number(peek().text, value))
        fail("a number expected, not '" + std::string(peek().text) + "'");
    next();
    return value;
}

bool parse_number(std::string_view text, uint64_t &value) {
    int base = 10;
    if (text.size() > 2 && text[0] == '0' &&
        std::string_view("xXfFdD").find(text[1]) != text.npos) {
        base = 16;
        text.remove_prefix(2);
    } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
        base = 2;
        text.remove_prefix(2);
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
    }
    if (text.ends_with('U')) text.remove_suffix(1);  // unsigned, in every base (PTX ISA 4.5.1)
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size();
}

const Entry *Module::find(std::string_view name) const {
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry &e) { return e.name == name; });
    return entry == entries.end() ? nullptr : &*entry;
}

Module parse_module(std::string_view text, uint32_t target) {
    return ModuleParser(text, target).run();
}

}  // namespace software_cuda
