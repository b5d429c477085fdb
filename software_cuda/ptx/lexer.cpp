#include "software_cuda/ptx/lexer.h"

#include <cctype>
#include <string>

#include "software_cuda/ptx/module.h"

namespace software_cuda {

namespace {

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> run() {
        while (skip_space(), at_ < text_.size()) tokens_.push_back(next());
        tokens_.push_back({{}, line_});
        return std::move(tokens_);
    }

private:
    std::string_view text_;
    size_t at_ = 0;
    uint32_t line_ = 1;
    std::vector<Token> tokens_;

    [[noreturn]] void fail(const std::string &what) const {
        throw ModuleError(ModuleError::kInvalidPtx, "line " + std::to_string(line_) + ": " + what);
    }

    void skip_space() {
        while (at_ < text_.size()) {
            const std::string_view rest = text_.substr(at_);
            if (rest[0] == '\n') {
                line_++;
                at_++;
            } else if (std::isspace(static_cast<unsigned char>(rest[0]))) {
                at_++;
            } else if (rest.starts_with("//")) {
                at_ += std::min(rest.find('\n'), rest.size());
            } else if (rest.starts_with("/*")) {
                const size_t end = rest.find("*/", 2);
                if (end == rest.npos) fail("comment without end");
                for (const char c : rest.substr(0, end)) line_ += c == '\n';
                at_ += end + 2;
            } else {
                return;
            }
        }
    }

    Token next() {
        const size_t begin = at_;
        const char first = text_[at_++];
        if (first == '"') {
            const size_t end = text_.find('"', at_);
            if (end == text_.npos) fail("string without end");
            at_ = end + 1;
        } else if (in_word(first)) {
            // "::" is part of a suffix, as in .L2::128B.
            while (at_ < text_.size() && (in_word(text_[at_]) || is_double_colon())) {
                at_ += text_[at_] == ':' ? 2 : 1;
            }
        } else if (!std::ispunct(static_cast<unsigned char>(first))) {
            fail("a byte that is not text");
        }
        return {text_.substr(begin, at_ - begin), line_};
    }

    bool is_double_colon() const { return text_.substr(at_).starts_with("::"); }
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace software_cuda
