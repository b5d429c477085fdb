#include "record.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hk/error.h"
#include "program/file.h"

namespace hk::explorer {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const std::vector<std::string> columns = {
    "case",   "candidate", "algorithm", "schedule",      "fixed", "knobs",
    "status", "reason",    "compile_s", "seconds_total", "ns",    "table_ns",
    "ratio",  "rate",      "max_error", "at_s",          "part"};

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

Record record_of(const std::vector<std::string> &header, const std::vector<std::string> &fields) {
    std::map<std::string, std::string> cells;
    for (size_t i = 0; i < header.size() && i < fields.size(); i++) cells[header[i]] = fields[i];
    const auto value = [&](const char *name) { return std::atof(cells[name].c_str()); };
    return {.of = cells["case"],
            .candidate = cells["candidate"],
            .algorithm = cells["algorithm"],
            .schedule = cells["schedule"],
            .fixed = cells["fixed"],
            .knobs = cells["knobs"],
            .status = cells["status"],
            .reason = cells["reason"],
            .compile_seconds = value("compile_s"),
            .seconds = value("seconds_total"),
            .ns = value("ns"),
            .table_ns = value("table_ns"),
            .rate = value("rate"),
            .max_error = value("max_error"),
            .at = value("at_s"),
            .part = cells["part"]};
}

std::vector<Record> records_of(const std::string &text, const fs::path &path, size_t *whole) {
    const std::vector<std::vector<std::string>> lines = parse_csv(text, whole);
    std::vector<Record> records;
    if (lines.empty()) return records;
    if (lines[0] != columns)
        throw Error(path.string() + " is not a file of results: its first line is not " +
                    csv_header());
    for (size_t i = 1; i < lines.size(); i++) records.push_back(record_of(columns, lines[i]));
    return records;
}

}  // namespace

bool Record::failed() const { return !ok() && status != "does not take"; }

std::pair<int, int> part_of(const std::string &text) {
    int part = 0, parts = 0;
    const char *end = text.data() + text.size();
    const auto [slash, error] = std::from_chars(text.data(), end, part);
    bool right = error == std::errc() && slash != end && *slash == '/';
    if (right) {
        const auto [stop, wrong] = std::from_chars(slash + 1, end, parts);
        right = wrong == std::errc() && stop == end && part >= 1 && part <= parts;
    }
    if (!right) throw InvalidArgument("--part is " + text + ", allowed: 1/N to N/N, such as 2/4");
    return {part, parts};
}

std::string file_name_of(const std::string &text) {
    std::string name;
    for (const char c : text)
        name += std::isalnum(static_cast<unsigned char>(c)) || std::strchr("-_.", c) ? c : '_';
    return name;
}

std::string csv_line(const std::vector<std::string> &fields) {
    std::string line;
    for (const std::string &field : fields) {
        if (&field != &fields.front()) line += ',';
        if (field.find_first_of(",\"\r\n") == std::string::npos) {
            line += field;
            continue;
        }
        line += '"';
        for (const char c : field) line += c == '"' ? "\"\"" : std::string(1, c);
        line += '"';
    }
    return line + "\r\n";
}

std::vector<std::vector<std::string>> parse_csv(const std::string &text, size_t *whole) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> fields(1);
    bool quoted = false;
    size_t end = 0;
    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            fields.back() += '"';
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (quoted || (c != ',' && c != '\n' && c != '\r')) {
            fields.back() += c;
        } else if (c == ',') {
            fields.emplace_back();
        } else if (c == '\n') {
            lines.push_back(std::move(fields));
            fields.assign(1, "");
            end = i + 1;
        }
    }
    if (whole) *whole = end;
    return lines;
}

std::string to_csv(const Record &r) {
    return csv_line({r.of, r.candidate, r.algorithm, r.schedule, r.fixed, r.knobs, r.status,
                     r.reason, number(r.compile_seconds), number(r.seconds), number(r.ns),
                     number(r.table_ns), number(r.ratio()), number(r.rate), number(r.max_error),
                     number(r.at), r.part});
}

std::string csv_header() { return csv_line(columns); }

std::vector<Record> read_records(const fs::path &file) {
    return records_of(program::read_file(file), file, nullptr);
}

void write_records(const fs::path &file, const std::vector<Record> &records) {
    std::string text = csv_header();
    for (const Record &record : records) text += to_csv(record);
    program::write_file(file, text);
}

json read_json(const fs::path &file) {
    if (!fs::exists(file)) return json();
    const json value = json::parse(program::read_file(file), nullptr, false);
    if (value.is_discarded()) throw Error(file.string() + " is not JSON");
    return value;
}

void write_json(const fs::path &file, const json &value) {
    program::write_file(file, value.dump(1) + "\n");
}

Journal::Journal(fs::path file) : path_(std::move(file)) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw Error("can't open " + path_.string() + ": " + std::strerror(errno));
    struct flock all {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    if (fcntl(file_, F_SETLK, &all) != 0) {
        close(file_);
        throw InvalidArgument(path_.string() + " belongs to a sweep that runs now");
    }
    std::string text;
    char block[65536];
    for (ssize_t count; (count = pread(file_, block, sizeof block, text.size())) > 0;)
        text.append(block, static_cast<size_t>(count));
    size_t whole = 0;
    try {
        records_ = records_of(text, path_, &whole);
    } catch (...) {
        close(file_);
        throw;
    }
    const std::string header = whole == 0 ? csv_header() : "";
    if (ftruncate(file_, static_cast<off_t>(whole)) != 0 ||
        pwrite(file_, header.data(), header.size(), static_cast<off_t>(whole)) !=
            static_cast<ssize_t>(header.size()) ||
        lseek(file_, 0, SEEK_END) < 0) {
        close(file_);
        throw Error("can't write " + path_.string() + ": " + std::strerror(errno));
    }
}

Journal::~Journal() { close(file_); }

void Journal::append(const Record &record) {
    const std::string line = to_csv(record);
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw Error("can't write " + path_.string() + ": " + std::strerror(errno));
    fdatasync(file_);
    records_.push_back(record);
}

}  // namespace hk::explorer
