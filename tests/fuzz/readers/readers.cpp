#include "readers.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <stdexcept>

#include "explorer/record.h"
#include "hk/error.h"
#include "memory/workload.h"
#include "pictures/image.h"
#include "pointcloud/cloud.h"
#include "software_cuda/ptx/loops.h"
#include "software_cuda/ptx/module.h"
#include "software_cuda/ptx/program.h"
#include "train/digits.h"

namespace hk::fuzz {
namespace {

void expect(bool right, const char *what) {
    if (!right) throw Fault(what);
}

// A file in memory that has a path.
class File {
public:
    explicit File(std::span<const uint8_t> bytes) : file_(memfd_create("input", MFD_CLOEXEC)) {
        if (file_ < 0) throw Fault("no file in memory");
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t count = ::write(file_, bytes.data() + done, bytes.size() - done);
            if (count <= 0) throw Fault("a file in memory can't be written");
            done += static_cast<size_t>(count);
        }
    }
    ~File() { close(file_); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

bool takes_picture(std::span<const uint8_t> bytes) try {
    const File file(bytes);
    const pictures::Image image = pictures::read_image(file.path());
    expect(image.width > 0 && image.height > 0, "a picture without pixels");
    expect(image.pixels.size() == static_cast<size_t>(image.width) * image.height,
           "a picture has not as many pixels as its size tells");
    return true;
} catch (const pictures::ImageError &) {
    return false;
}

// Points are made voxels too, as the program does.
bool takes_cloud(std::span<const uint8_t> bytes) try {
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const pointcloud::Points points = pointcloud::parse_points(text, "input");
    for (const pointcloud::Point &point : points) {
        for (const double value : point) expect(std::isfinite(value), "a point is not finite");
    }
    const pointcloud::Voxels voxels =
        pointcloud::voxelised(points, pointcloud::size_for(points, 1000));
    expect(voxels.centres.size() <= points.size(), "more voxels than points");
    return true;
} catch (const pointcloud::CloudError &) {
    return false;
}

bool takes_digits(std::span<const uint8_t> bytes) try {
    const File file(bytes);
    const train::DigitSets sets = train::read_digits(file.path());
    for (const train::Digits *digits : {&sets.train, &sets.test}) {
        expect(digits->pixels.size() == digits->labels.size() * train::kPixels,
               "digits have not 64 pixels each");
        for (const float pixel : digits->pixels) expect(pixel >= 0 && pixel <= 1, "a pixel");
        for (const int32_t label : digits->labels) expect(label >= 0 && label <= 9, "a label");
    }
    return true;
} catch (const train::DigitError &) {
    return false;
}

bool takes_trace(std::span<const uint8_t> bytes) {
    const File file(bytes);
    std::vector<replay::Workload> workloads;
    try {
        workloads = replay::read_trace(file.path());
    } catch (const std::runtime_error &) {
        return false;
    }
    for (const replay::Workload &workload : workloads) {
        std::vector<size_t> live(workload.slots);
        size_t sum = 0;
        for (const replay::Operation &operation : workload.operations) {
            size_t &slot = live.at(operation.slot);
            expect(slot == (operation.allocates ? 0 : operation.bytes + 1),
                   "a slot is taken twice");
            slot = operation.allocates ? operation.bytes + 1 : 0;
            sum = operation.allocates ? sum + operation.bytes : sum - operation.bytes;
            expect(sum <= workload.live_peak, "more memory in use than at the peak");
        }
    }
    return true;
}

bool takes_records(std::span<const uint8_t> bytes) try {
    const File file(bytes);
    explorer::read_records(file.path());
    return true;
} catch (const Error &) {
    return false;
}

// Operands within the rows of a warp, and of a block; branches within the code.
void expect_places(const software_cuda::Program &program) {
    using namespace software_cuda;
    const auto expect_row = [&](uint32_t place, uint64_t bytes) {
        if (place == kNone) return;
        const bool uniform = place & kUniform;
        expect(
            (place & ~kUniform) + bytes <= (uniform ? program.uniform_bytes : program.warp_bytes),
            "an operand beyond the rows");
    };
    // Of other operands the instruction has the type: at least a predicate.
    constexpr uint32_t kPredicate = row_bytes(Width::kPredicate), kWord = row_bytes(Width::kNarrow);
    for (const Instruction &i : program.code) {
        const bool whole = i.op == Op::matrix_product;
        for (const uint32_t d : i.d) expect_row(d, whole ? kWord : kPredicate);
        for (const uint32_t operand : {i.a, i.b, i.c, i.guard}) expect_row(operand, kPredicate);
        expect_row(i.members, kWord);
        expect(i.op != Op::branch || i.target < program.blocks.size(), "a branch to nowhere");
    }
    for (const MatrixProduct &product : program.products) {
        for (const uint32_t operand : product.a) expect_row(operand, kWord);
        for (const uint32_t operand : product.b) expect_row(operand, kWord);
        for (const uint32_t operand : product.c) expect_row(operand, kWord);
    }
    for (const AsyncCopy &copy : program.copies) {
        for (const Instruction &access : {copy.load, copy.store})
            expect_row(access.a, row_bytes(access.wide_address ? Width::kWide : Width::kNarrow));
    }
    expect(!program.blocks.empty() && program.blocks.back().end == program.code.size(),
           "instructions in no block");
    loops_of(program);
}

// A module's text, as cuModuleLoadData is given it behind its look at the image's kind. An error
// names its line.
bool takes_ptx(std::span<const uint8_t> bytes) try {
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const software_cuda::Module module = software_cuda::parse_module(text, 90);
    for (const software_cuda::Entry &entry : module.entries) {
        expect(module.find(entry.name) == &entry, "an entry that is not found");
        expect_places(*entry.program);
    }
    return true;
} catch (const software_cuda::ModuleError &error) {
    expect(std::string_view(error.what()).starts_with("line "), "an error without a line");
    return false;
}

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";

uint32_t big_endian(const uint8_t *bytes) {
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// The checksums of a PNG's chunks: length, name, content, checksum.
void mend_png(Bytes &bytes) {
    if (bytes.size() < kPng.size() || !std::equal(kPng.begin(), kPng.end(), bytes.begin(),
                                                  [](char a, uint8_t b) { return a == char(b); })) {
        return;
    }
    for (size_t at = kPng.size(); at + 12 <= bytes.size();) {
        const size_t length = big_endian(&bytes[at]), rest = bytes.size() - at;
        if (length > rest - 12) return;
        const auto sum =
            static_cast<uint32_t>(crc32(0, &bytes[at + 4], static_cast<uInt>(length + 4)));
        for (size_t i = 0; i < 4; i++) {
            bytes[at + 8 + length + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
        }
        at += 12 + length;
    }
}

constexpr Reader kReaders[] = {
    {"picture", takes_picture, true, mend_png},
    {"cloud", takes_cloud},
    {"digits", takes_digits},
    {"trace", takes_trace, true},
    {"records", takes_records},
    {"dlpack", takes_dlpack},
    {"ptx", takes_ptx},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader &reader_of(std::string_view name) {
    std::string names;
    for (const Reader &reader : kReaders) {
        if (reader.name == name) return reader;
        names += " " + std::string(reader.name);
    }
    throw InvalidArgument("no reader \"" + std::string(name) + "\"; there are:" + names);
}

}  // namespace hk::fuzz
