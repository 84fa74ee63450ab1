/*
 * The native part of the Python package: lumeq.h for arrays. __init__.py has the interface and its
 * documentation. Library calls run without the GIL; a lock keeps threads of Python apart.
 */
#include <lumeq/lumeq.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace
{

PyObject *error_class; // lumeq.Error

[[noreturn]] void raise(PyObject *type, const std::string &text)
{
    PyErr_SetString(type, text.c_str());
    throw nb::python_error();
}

// Raises the exception for a LUMEQ_ERR_*, with the library's sentence.
void check(int code, const char *why)
{
    if (code >= 0)
        return;
    if (!why || !*why)
        why = lumeq_error_string(code);
    raise(code == LUMEQ_ERR_ARGUMENT ? PyExc_ValueError
          : code == LUMEQ_ERR_MEMORY ? PyExc_MemoryError
                                     : error_class,
          why);
}

/*
 * Releases the GIL. While the interpreter exits, Python up to 3.13 ends each thread that asks for
 * the GIL by unwinding its stack, which nanobind's frames do not survive. Such threads wait here.
 */
class WithoutGil
{
  public:
    WithoutGil() : state(PyEval_SaveThread())
    {
    }
    ~WithoutGil()
    {
        try {
            PyEval_RestoreThread(state);
        } catch (...) {
            for (;;)
                pause();
        }
    }

  private:
    PyThreadState *state;
};

template <class Call> int without_gil(Call call)
{
    const WithoutGil release;
    return call();
}

// The user of an object: process and thread, or 0. After fork() the process shows that the thread
// does not exist here.
using Owner = std::atomic<uint64_t>;

// Keeps threads apart. The GIL is free while a thread waits, since the owner may need it. Python
// runs code of others inside calls (finalizers, weak references, __float__), which must not wait
// for the call that it is in.
class Lock
{
  public:
    explicit Lock(Owner &owner) : owner(owner)
    {
        const uint64_t process = uint64_t(getpid()), here = process << 32 | uint64_t(gettid());
        for (uint64_t found = 0; !owner.compare_exchange_strong(found, here); found = 0) {
            if (found == here)
                raise(PyExc_RuntimeError, "this object is in a call that has not returned");
            if (found >> 32 != process)
                raise(PyExc_RuntimeError, "another thread used this object when the process was "
                                          "forked: make a new one");
            const WithoutGil release;
            owner.wait(found);
        }
    }
    Lock(const Lock &) = delete;
    ~Lock()
    {
        owner = 0;
        owner.notify_one();
    }

  private:
    Owner &owner;
};

// ---- arrays -------------------------------------------------------------------------------------

// Where an array's samples are; strides in bytes.
struct Array {
    void *data;
    int64_t shape[3], stride[3];
    int dimensions, bytes;
    bool writable, on_gpu;
    uintptr_t stream; // of CUDA, that fills it; 0: unknown
    nb::object owner; // these two keep the samples alive
    nb::ndarray<> samples;
};

// A part of __cuda_array_interface__, which may be anything.
template <class Part> Part part(const char *name, nb::handle value)
{
    Part found{};
    if (!nb::try_cast(value, found))
        raise(PyExc_TypeError, "__cuda_array_interface__ has no valid " + std::string(name));
    return found;
}

// Products of a side and a stride stay far from the ends of 64 bits.
constexpr int64_t max_side = int64_t(1) << 28, max_stride = int64_t(1) << 33;

Array from_dictionary(nb::handle source)
{
    const auto about = part<nb::dict>("dictionary", source.attr("__cuda_array_interface__"));
    const auto entry = [&](const char *name) {
        return about.contains(name) ? nb::object(about[name]) : nb::none();
    };
    Array array = {};
    const auto shape = part<nb::tuple>("shape", entry("shape"));
    const auto data = part<nb::tuple>("data", entry("data"));
    const auto type = part<std::string>("typestr", entry("typestr"));
    const nb::object strides = entry("strides"), stream = entry("stream");
    if (data.size() != 2 ||
        (!strides.is_none() && part<nb::tuple>("strides", strides).size() != shape.size()))
        raise(PyExc_ValueError,
              "__cuda_array_interface__ has too few or too many values in data or strides");
    array.dimensions = int(shape.size());
    array.bytes = type == "|u1" ? 1 : type == "<u2" ? 2 : 0;
    array.data = reinterpret_cast<void *>(part<uintptr_t>("data", data[0]));
    array.writable = !part<bool>("data", data[1]);
    array.on_gpu = true;
    array.stream = stream.is_none() ? 0 : part<uintptr_t>("stream", stream);
    array.owner = nb::borrow(source);
    int64_t step = array.bytes;
    for (int i = array.dimensions - 1; i >= 0 && array.dimensions <= 3; i--) {
        const auto side = part<int64_t>("shape", shape[size_t(i)]);
        const auto stride =
            strides.is_none() ? step : part<int64_t>("strides", nb::object(strides[i]));
        if (side < 0 || side > max_side || stride < -max_stride || stride > max_stride)
            raise(PyExc_ValueError, "__cuda_array_interface__ has impossible sides or strides");
        array.shape[i] = side;
        array.stride[i] = stride;
        step = stride * side;
    }
    return array;
}

template <class Samples> Array from_samples(const Samples &samples, bool writable)
{
    Array array = {};
    auto type = samples.dtype();
    array.dimensions = int(samples.ndim());
    bool counts = type.code == uint8_t(nb::dlpack::dtype_code::UInt) && type.lanes == 1;
    array.bytes = counts && (type.bits == 8 || type.bits == 16) ? type.bits / 8 : 0;
    array.data = const_cast<void *>(static_cast<const void *>(samples.data()));
    array.writable = writable;
    array.samples = nb::ndarray<>(samples.handle());
    array.on_gpu = samples.device_type() == nb::device::cuda::value;
    if (!array.on_gpu && samples.device_type() != nb::device::cpu::value)
        raise(PyExc_ValueError, "an array is neither in host memory nor on an NVIDIA GPU");
    for (int i = 0; i < array.dimensions && array.dimensions <= 3; i++) {
        array.shape[i] = int64_t(samples.shape(size_t(i)));
        array.stride[i] = samples.stride(size_t(i)) * array.bytes;
    }
    return array;
}

// "float64" and the like, or the type of something else.
std::string kind_of(nb::handle source)
{
    if (source.is_none())
        return "None: did cv2.imread() find the file?";
    if (nb::hasattr(source, "dtype"))
        return nb::cast<std::string>(
            nb::steal<nb::str>(PyObject_Str(nb::object(source.attr("dtype")).ptr())));
    return nb::cast<std::string>(source.type().attr("__name__"));
}

// CUDA's interface comes first: unlike __dlpack__(), it never makes streams wait for each other.
Array from_object(nb::handle source, bool writable)
{
    Array array = {};
    nb::ndarray<> samples;
    nb::ndarray<nb::ro> read_only;
    if (nb::hasattr(source, "__cuda_array_interface__"))
        array = from_dictionary(source);
    else if (nb::try_cast(source, samples, false))
        array = from_samples(samples, true);
    else if (nb::try_cast(source, read_only, false))
        array = from_samples(read_only, false);
    else if (!nb::hasattr(source, "dtype"))
        raise(PyExc_TypeError,
              "a frame is an array, or a tuple of arrays: luma, then Cb and Cr; got " +
                  kind_of(source));
    if (!array.bytes)
        raise(PyExc_ValueError,
              "samples are neither uint8 nor uint16 in the machine's byte order, nor "
              "floats from 0 to 1: got " +
                  kind_of(source));
    if (array.dimensions < 2 || array.dimensions > 3)
        raise(PyExc_ValueError, "an array has neither two dimensions nor three, but " +
                                    std::to_string(array.dimensions));
    if (writable && !array.writable)
        raise(PyExc_ValueError, "an output array is read-only");
    if (!array.data || !array.shape[0] || !array.shape[1])
        raise(PyExc_ValueError, "an array is empty");
    if (array.shape[0] == 1) // of any stride
        array.stride[0] =
            array.bytes * array.shape[1] * (array.dimensions == 3 ? array.shape[2] : 1);
    return array;
}

// The addresses of the first and the last byte.
std::pair<intptr_t, intptr_t> ends(const Array &a)
{
    auto low = reinterpret_cast<intptr_t>(a.data), high = low + a.bytes - 1;
    for (int i = 0; i < a.dimensions; i++)
        (a.stride[i] < 0 ? low : high) += (a.shape[i] - 1) * a.stride[i];
    return {low, high};
}

// True if both have bytes in common. NumPy knows it exactly, as for the halves of a wide picture.
bool overlap(const Array &a, const Array &b)
{
    const auto [a_low, a_high] = ends(a);
    const auto [b_low, b_high] = ends(b);
    if (a_high < b_low || b_high < a_low)
        return false;
    const auto view = [](const Array &array) {
        const auto n = size_t(array.dimensions);
        size_t shape[4];
        int64_t stride[4];
        std::copy(array.shape, array.shape + n, shape);
        std::copy(array.stride, array.stride + n, stride);
        shape[n] = size_t(array.bytes);
        stride[n] = 1;
        return nb::cast(nb::ndarray<nb::numpy, uint8_t>(array.data, n + 1, shape, {}, stride),
                        nb::rv_policy::reference);
    };
    return nb::cast<bool>(nb::module_::import_("numpy").attr("shares_memory")(view(a), view(b)));
}

bool overlap(const std::vector<Array> &a, const std::vector<Array> &b)
{
    return std::any_of(a.begin(), a.end(), [&](const Array &x) {
        return std::any_of(b.begin(), b.end(), [&](const Array &y) { return overlap(x, y); });
    });
}

// How samples are stored. Depth 0: all bits of the array's type.
struct Format {
    int depth, shift;
    LumeqRange range;
};

struct Picture {
    LumeqImage image = {};
    std::vector<Array> arrays;
};

// log2 of the number of luma samples for a chroma sample, or -1.
int subsampling(int64_t luma, int64_t chroma)
{
    for (int log = 0; log <= 2; log++) {
        if (chroma == ((luma - 1) >> log) + 1)
            return log;
    }
    return -1;
}

void add_chroma(LumeqImage *image, const Array &array, bool interleaved)
{
    int64_t width = array.shape[1];
    if (interleaved && array.dimensions == 2) {
        if (width % 2)
            raise(PyExc_ValueError, "interleaved Cb and Cr have an odd number of columns");
        width /= 2;
    }
    const int x = subsampling(image->width, width), y = subsampling(image->height, array.shape[0]);
    if (x < 0 || y < 0)
        raise(PyExc_ValueError, "a chroma plane of " + std::to_string(width) + "x" +
                                    std::to_string(array.shape[0]) + " does not fit luma of " +
                                    std::to_string(image->width) + "x" +
                                    std::to_string(image->height) +
                                    ": each side is that of luma divided by 1, 2 or 4, rounded up");
    image->chroma_x = x;
    image->chroma_y = y;
}

// The planes of a frame: an array, or a tuple or list of one to three.
std::vector<Array> plane_arrays(nb::handle frame, bool writable)
{
    std::vector<Array> planes;
    if (nb::isinstance<nb::tuple>(frame) || nb::isinstance<nb::list>(frame)) {
        for (nb::handle plane : frame)
            planes.push_back(from_object(plane, writable));
    } else {
        planes.push_back(from_object(frame, writable));
    }
    if (planes.empty() || planes.size() > 3)
        raise(PyExc_ValueError,
              "a frame has one to three planes: luma, Cb and Cr, or luma and both");
    return planes;
}

Picture picture(const std::vector<Array> &planes, const Format &format)
{
    Picture made;
    LumeqImage *image = &made.image;
    int bytes = 0;
    for (size_t i = 0; i < planes.size(); i++) {
        const Array &array = planes[i];
        const bool pairs = i == 1 && planes.size() == 2;
        if (array.dimensions == 3 && array.shape[2] != (pairs ? 2 : 1))
            raise(PyExc_ValueError, pairs
                                        ? "interleaved chroma has two samples in its last dimension"
                                        : "a plane has one sample for each pixel: pass a tuple of "
                                          "planes, or use bgr() or rgb() for colour pictures");
        if ((array.dimensions == 3 && array.shape[2] > 1 && array.stride[2] != array.bytes) ||
            (array.shape[1] > 1 &&
             array.stride[1] != array.bytes * (array.dimensions == 3 ? array.shape[2] : 1)))
            raise(PyExc_ValueError, "the samples of a row are not contiguous: copy the array");
        if (i == 0) {
            if (array.shape[0] > LUMEQ_MAX_SIDE || array.shape[1] > LUMEQ_MAX_SIDE)
                raise(PyExc_ValueError, "a frame has more than 65535 rows or columns");
            image->width = int(array.shape[1]);
            image->height = int(array.shape[0]);
            image->memory = array.on_gpu ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST;
            bytes = array.bytes;
        } else {
            if (array.bytes != bytes || array.on_gpu != (image->memory == LUMEQ_MEMORY_CUDA))
                raise(PyExc_ValueError, "the planes differ in their type or memory");
            const int x = image->chroma_x, y = image->chroma_y;
            add_chroma(image, array, pairs);
            if (i == 2 && (x != image->chroma_x || y != image->chroma_y))
                raise(PyExc_ValueError, "Cb and Cr differ in size");
        }
        image->plane[i] = array.data;
        image->stride[i] = ptrdiff_t(array.stride[0]);
        made.arrays.push_back(array);
    }
    image->depth = format.depth ? format.depth : 8 * bytes;
    if ((image->depth > 8) != (bytes == 2))
        raise(PyExc_ValueError, "a depth of " + std::to_string(image->depth) +
                                    " does not fit samples of " + std::to_string(8 * bytes) +
                                    " bits: uint8 has 8 bits, uint16 has 9 to 16");
    image->shift = format.shift;
    image->range = format.range;
    return made;
}

// Refuses samples beyond the depth, which the library would take for the last code.
void check_depth(const Picture &picture)
{
    const LumeqImage &image = picture.image;
    const int bits = image.depth + image.shift;
    for (const Array &plane : picture.arrays) {
        unsigned all = 0;
        for (int64_t y = 0; plane.bytes == 2 && !plane.on_gpu && bits < 16 && y < plane.shape[0];
             y++) {
            const char *row = static_cast<const char *>(plane.data) + y * plane.stride[0];
            const auto *sample = reinterpret_cast<const uint16_t *>(row);
            const int64_t count = plane.shape[1] * (plane.dimensions == 3 ? plane.shape[2] : 1);
            for (int64_t x = 0; x < count; x++)
                all |= sample[x];
        }
        if (all >> bits)
            raise(PyExc_ValueError,
                  "samples have more than depth=" + std::to_string(image.depth) + " bits" +
                      (image.shift ? " above shift=" + std::to_string(image.shift) : ""));
    }
}

Picture picture(nb::handle frame, const Format &format, bool writable)
{
    return picture(plane_arrays(frame, writable), format);
}

// Describes a frame of a batch, whose planes are arrays of (frames, rows, columns).
Picture picture_at(int64_t i, std::vector<Array> planes, const Format &format)
{
    const int64_t count = planes[0].shape[0];
    for (Array &plane : planes) {
        if (plane.dimensions != 3 || plane.shape[0] != count)
            raise(PyExc_ValueError, "the planes of a batch are arrays of (frames, rows, columns), "
                                    "with the same number of frames");
        plane.data = static_cast<char *>(plane.data) + i * plane.stride[0];
        plane.dimensions = 2;
        std::copy(plane.shape + 1, plane.shape + 3, plane.shape);
        std::copy(plane.stride + 1, plane.stride + 3, plane.stride);
    }
    return picture(planes, format);
}

// Describes a colour picture, whose channels are contiguous.
LumeqPixels pixels_of(const Array &a, bool rgb)
{
    if (a.on_gpu)
        raise(PyExc_ValueError, "bgr() and rgb() need arrays in host memory");
    if (a.dimensions != 3 || a.stride[2] != a.bytes || a.stride[1] != a.shape[2] * a.bytes)
        raise(PyExc_ValueError, "the output is not of (rows, columns, channels), or the channels "
                                "of a row are not contiguous");
    if (a.shape[0] > LUMEQ_MAX_SIDE || a.shape[1] > LUMEQ_MAX_SIDE)
        raise(PyExc_ValueError, "a picture has more than 65535 rows or columns");
    LumeqPixels pixels = {};
    pixels.data = a.data;
    pixels.stride = ptrdiff_t(a.stride[0]);
    pixels.width = int(a.shape[1]);
    pixels.height = int(a.shape[0]);
    pixels.channels = int(a.shape[2]);
    pixels.depth = 8 * a.bytes;
    pixels.order = rgb ? LUMEQ_ORDER_RGB : LUMEQ_ORDER_BGR;
    return pixels;
}

// ---- parameters and statistics ------------------------------------------------------------------

int choice(const char *name, nb::handle value, std::initializer_list<const char *> words)
{
    std::string text, all;
    const bool word_given = nb::try_cast(value, text);
    int i = 0;
    for (const char *word : words) {
        if (word_given && text == word)
            return i;
        all += (i++ ? ", '" : "'") + std::string(word) + "'";
    }
    raise(PyExc_ValueError, std::string(name) + " is not one of " + all);
}

// Replaces Python's error about a wrong type or size by a sentence. Errors of the caller's own
// __float__ or __index__ stay.
void check_conversion(const std::string &sentence)
{
    PyObject *error = PyErr_Occurred();
    if (!error)
        return;
    if (!PyErr_GivenExceptionMatches(error, PyExc_TypeError) &&
        !PyErr_GivenExceptionMatches(error, PyExc_OverflowError))
        throw nb::python_error();
    PyErr_Clear();
    raise(PyExc_TypeError, sentence);
}

// A number, or `automatic` for the word "auto" if that is allowed.
double number(const char *name, nb::handle value, std::optional<double> automatic = {})
{
    std::string word;
    if (automatic && nb::try_cast(value, word) && word == "auto")
        return *automatic;
    const double found = PyFloat_AsDouble(value.ptr());
    check_conversion(std::string(name) +
                     (automatic ? " is neither a number nor 'auto'" : " is no number"));
    return found;
}

int integer(const char *name, nb::handle value)
{
    const long found = PyLong_AsLong(value.ptr());
    const std::string sentence = std::string(name) + " takes integers of 32 bits";
    check_conversion(sentence);
    if (found != int(found))
        raise(PyExc_TypeError, sentence);
    return int(found);
}

int truth(const char *name, nb::handle value)
{
    const double found = PyFloat_AsDouble(value.ptr());
    check_conversion(std::string(name) + " is neither True nor False");
    return found != 0;
}

void set_rectangle(LumeqRect *rect, nb::handle value)
{
    if (nb::isinstance<nb::str>(value)) {
        const int middle = choice("meter", value, {"all", "centre"});
        *rect = {0, 0, -middle, -middle};
        return;
    }
    if (!nb::isinstance<nb::sequence>(value) || nb::len(value) != 4)
        raise(PyExc_ValueError, "meter is not 'all', 'centre' or (x, y, width, height)");
    *rect = {integer("meter", value[0]), integer("meter", value[1]), integer("meter", value[2]),
             integer("meter", value[3])};
}

void set_tiles(LumeqParams *params, nb::handle value)
{
    if (!nb::isinstance<nb::sequence>(value) || nb::len(value) != 2)
        raise(PyExc_ValueError, "tiles is not (columns, rows)");
    params->tiles_x = integer("tiles", value[0]);
    params->tiles_y = integer("tiles", value[1]);
}

void set_parameter(LumeqParams *p, const std::string &name, nb::handle value)
{
    const char *n = name.c_str();
    if (name == "mode")
        p->mode = LumeqMode(choice(n, value, {"global", "off", "clahe", "stretch", "haze"}));
    else if (name == "chroma")
        p->chroma = LumeqChroma(choice(n, value, {"scale", "keep"}));
    else if (name == "bars")
        p->bars = LumeqBars(choice(n, value, {"auto", "ignore"}));
    else if (name == "code_range")
        p->code_range = LumeqCodeRange(choice(n, value, {"full", "auto", "used"}));
    else if (name == "transfer")
        p->transfer = LumeqTransfer(choice(n, value, {"sdr", "pq", "hlg"}));
    else if (name == "limit")
        p->limit = LumeqLimit(choice(n, value, {"none", "darken", "lighten"}));
    else if (name == "strength")
        p->strength = number(n, value, LUMEQ_STRENGTH_AUTO);
    else if (name == "clip")
        p->clip = number(n, value, LUMEQ_CLIP_AUTO);
    else if (name == "denoise")
        p->denoise = number(n, value, LUMEQ_DENOISE_AUTO);
    else if (name == "smooth")
        p->smooth = number(n, value);
    else if (name == "deflicker")
        p->deflicker = number(n, value);
    else if (name == "brightness")
        p->brightness = number(n, value);
    else if (name == "gamma")
        p->gamma = number(n, value);
    else if (name == "reference")
        p->reference = truth(n, value);
    else if (name == "adaptive")
        p->adaptive = truth(n, value);
    else if (name == "scene_cut")
        p->scene_cut = truth(n, value);
    else if (name == "dither")
        p->dither = truth(n, value);
    else if (name == "lift")
        p->lift = truth(n, value);
    else if (name == "await_noise")
        p->await_noise = truth(n, value);
    else if (name == "tiles")
        set_tiles(p, value);
    else if (name == "meter")
        set_rectangle(&p->meter, value);
    else
        raise(PyExc_TypeError,
              "unknown setting '" + name +
                  "'; settings are profile, mode, strength, clip, smooth, scene_cut, "
                  "brightness, gamma, limit, denoise, chroma, bars, meter, tiles, "
                  "dither, deflicker, adaptive, lift, await_noise, code_range, transfer and "
                  "reference");
}

struct Params {
    LumeqParams c = {};
    Params()
    {
        c.size = sizeof(c);
        lumeq_params_default(&c);
    }
    void set(const nb::dict &settings)
    {
        LumeqParams next = c;
        if (settings.contains("profile") && !settings["profile"].is_none()) {
            std::string profile;
            if (!nb::try_cast(settings["profile"], profile))
                raise(PyExc_TypeError, "profile is no string");
            check(lumeq_params_profile(&next, profile.c_str()), lumeq_last_error(nullptr));
        }
        for (auto [name, value] : settings) {
            std::string text;
            nb::try_cast(name, text);
            if (text != "profile")
                set_parameter(&next, text, value);
        }
        c = next;
    }
};

// Statistics with room for their arrays.
struct Stats {
    LumeqFrameStats c = {};
    std::unique_ptr<uint32_t[]> bins{new uint32_t[3 * LUMEQ_MAX_BINS]};
    Stats()
    {
        c.size = sizeof(c);
        c.hist_in = bins.get();
        c.hist_out = c.hist_in + LUMEQ_MAX_BINS;
        c.curve = c.hist_out + LUMEQ_MAX_BINS;
    }
    nb::object array(const uint32_t *from, double scale) const
    {
        const size_t count = size_t(c.bins);
        auto *copy = new double[count ? count : 1];
        for (size_t i = 0; i < count; i++)
            copy[i] = from[i] * scale;
        nb::capsule owner(copy, [](void *p) noexcept { delete[] static_cast<double *>(p); });
        return nb::cast(nb::ndarray<nb::numpy, double>(copy, {count}, owner));
    }
    // A lumeq.Stats.
    nb::object object() const
    {
        nb::dict d;
        d["strength"] = c.strength;
        d["lift"] = c.lift;
        d["dark"] = c.dark;
        d["noise"] = c.noise;
        d["filtered"] = bool(c.filtered);
        d["scene_cut"] = bool(c.scene_cut);
        d["mean_in"] = c.mean_in;
        d["mean_out"] = c.mean_out;
        d["active"] = nb::make_tuple(c.active.x, c.active.y, c.active.width, c.active.height);
        d["previous"] = c.previous;
        d["histogram_in"] = array(c.hist_in, 1);
        d["histogram_out"] = array(c.hist_out, 1);
        d["curve"] = array(c.curve, 1.0 / 65536);
        return nb::module_::import_("lumeq").attr("Stats")(**d);
    }
};

struct Sync {
    LumeqSync c = {};
    Sync() = default;
    // The stream of a picture on a GPU: `given`, or the array's own, or the default stream, 1.
    Sync(const Picture &picture, std::optional<uintptr_t> given,
         void *LumeqSync::*use = &LumeqSync::stream)
    {
        if (picture.image.memory == LUMEQ_MEMORY_HOST)
            return;
        const uintptr_t own = picture.arrays[0].stream;
        c.size = sizeof(c);
        c.*use = reinterpret_cast<void *>(given && *given ? *given : own ? own : 1);
    }
    const LumeqSync *get() const
    {
        return c.stream || c.after ? &c : nullptr;
    }
};

LumeqConfig config(nb::handle backend, nb::handle device, nb::handle threads)
{
    LumeqConfig c = {};
    c.size = sizeof(c);
    c.backend = LumeqBackendId(choice("backend", backend, {"auto", "cpu", "cuda"}));
    c.device = integer("device", device);
    c.threads = integer("threads", threads);
    c.no_stage_times = 1;
    return c;
}

int64_t nanoseconds(double seconds)
{
    if (!(seconds > -9e9 && seconds < 9e9))
        raise(PyExc_ValueError, "a time is not between -9e9 and 9e9 seconds");
    return int64_t(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5));
}

int64_t moment(nb::handle time)
{
    return time.is_none() ? LUMEQ_NO_TIME : nanoseconds(number("time", time));
}

bool can_follow(const LumeqImage &a, const LumeqImage &b)
{
    return a.plane[0] != b.plane[0] && a.width == b.width && a.height == b.height &&
           a.depth == b.depth && a.shift == b.shift && a.range == b.range && a.memory == b.memory &&
           !a.plane[1] == !b.plane[1] && !a.plane[2] == !b.plane[2] && a.chroma_x == b.chroma_x &&
           a.chroma_y == b.chroma_y;
}

// Stretches the codes of one stream of deep gray.
class Stretch
{
  public:
    Stretch()
    {
        check(lumeq_stretch_create(&stretch, nullptr), lumeq_last_error(nullptr));
    }
    Stretch(const Stretch &) = delete;
    ~Stretch()
    {
        lumeq_stretch_destroy(&stretch);
    }
    // False: the frame stays as it is, and `out` is not written.
    bool frame(nb::handle in, nb::handle out, const Format &format, int mode, double time)
    {
        const Picture from = picture(in, format, false), to = picture(out, format, true);
        LumeqCodes window;
        const int64_t when = nanoseconds(time);
        const Lock lock(owner);
        const int code = without_gil([&] {
            const int found =
                lumeq_stretch_window(stretch, LumeqCodeRange(mode), &from.image, when, &window);
            const int ret =
                found > 0 ? lumeq_stretch_write(stretch, &window, &from.image, &to.image) : found;
            return ret < 0 ? ret : found;
        });
        check(code, lumeq_last_error(nullptr));
        return code > 0;
    }
    void reset()
    {
        const Lock lock(owner);
        lumeq_stretch_reset(stretch);
    }

  private:
    LumeqStretch *stretch = nullptr;
    Owner owner{0};
};

// ---- live ---------------------------------------------------------------------------------------

class Equalizer
{
  public:
    Equalizer(nb::handle backend, nb::handle device, nb::handle threads, nb::handle batch)
    {
        LumeqConfig c = config(backend, device, threads);
        c.batch = integer("batch", batch);
        char why[256] = "";
        const int code = without_gil([&] { return lumeq_create(&eq, &c, why, sizeof(why)); });
        check(code, why);
    }
    Equalizer(const Equalizer &) = delete;
    ~Equalizer()
    {
        without_gil([&] { return lumeq_destroy(&eq), 0; });
    }
    void set(const nb::dict &settings)
    {
        const Lock lock(owner);
        Params next = params;
        next.set(settings);
        test(lumeq_set_params(eq, &next.c));
        params = next;
    }
    // With a stream, frames stay in flight; without, the output is complete.
    void process(nb::handle in, nb::handle out, const Format &format, nb::handle time,
                 double duration, bool follows, bool interlaced, std::optional<uintptr_t> stream)
    {
        Flight next = {picture(in, format, false), picture(out, format, true), {}};
        check_depth(next.in);
        const int64_t when = moment(time);
        const Sync sync(next.in, stream);
        const Lock lock(owner);
        run(next, when, duration, follows, interlaced, sync);
        if (!sync.get())
            receive_all();
    }
    // Frames in a row, so that the library may process several at once. The outputs are complete.
    // Only the first frame waits for the stream: once it is received, the others need no sync.
    void batch(nb::handle in, nb::handle out, const Format &format, double duration,
               std::optional<uintptr_t> stream)
    {
        const std::vector<Array> from = plane_arrays(in, false), to = plane_arrays(out, true);
        const int64_t count = from[0].shape[0];
        if (count != to[0].shape[0])
            raise(PyExc_ValueError, "the output's number of frames is not the input's");
        if (overlap(from, to))
            raise(PyExc_ValueError, "the output needs memory of its own: it overlaps the input");
        const Lock lock(owner);
        for (int64_t i = 0; i < count; i++) {
            Flight next = {picture_at(i, from, format), picture_at(i, to, format), {}};
            check_depth(next.in);
            const Sync sync = i ? Sync() : Sync(next.in, stream, &LumeqSync::after);
            run(next, LUMEQ_NO_TIME, duration, true, false, sync);
            if (sync.get())
                receive_all();
        }
        receive_all();
    }
    void bgr(nb::handle in, nb::handle out, bool rgb, nb::handle time, double duration)
    {
        const Array source = from_object(in, false), target = from_object(out, true);
        const LumeqPixels from = pixels_of(source, rgb), to = pixels_of(target, rgb);
        const int64_t when = moment(time), length = nanoseconds(duration);
        if (source.data != target.data && overlap(source, target))
            raise(PyExc_ValueError, "the output overlaps a part of the picture");
        const Lock lock(owner);
        receive_all();
        previous = {};
        test(without_gil(
            [&] { return lumeq_process_pixels(eq, &from, &to, when, length, &stats.c); }));
    }
    void finish()
    {
        const Lock lock(owner);
        receive_all();
    }
    void reset()
    {
        const Lock lock(owner);
        lumeq_reset(eq);
        previous = {};
    }
    nb::object get_stats()
    {
        const Lock lock(owner);
        return stats.object();
    }
    std::string backend()
    {
        const Lock lock(owner);
        return lumeq_backend_name(eq);
    }

  private:
    // The arrays of a frame, which the library reads and writes until the frame is received.
    struct Flight {
        Picture in, out, previous;
    };
    void run(Flight &next, int64_t time, double duration, bool follows, bool interlaced,
             const Sync &sync)
    {
        LumeqFrame frame = {};
        frame.size = sizeof(frame);
        frame.in = next.in.image;
        frame.out = next.out.image;
        frame.time = time;
        frame.duration = nanoseconds(duration);
        frame.interlaced = interlaced;
        next.previous = previous;
        if (follows && can_follow(previous.image, frame.in) &&
            !overlap(previous.arrays, next.out.arrays))
            frame.previous = &next.previous.image;
        frame.sync = sync.get();
        int code;
        while ((code = without_gil([&] { return lumeq_submit(eq, &frame); })) == LUMEQ_ERR_AGAIN &&
               !flights.empty())
            receive();
        test(code);
        previous = next.in;
        flights.push_back(std::move(next));
    }
    void test(int code)
    {
        if (code < 0)
            check(code, lumeq_last_error(eq));
    }
    void receive()
    {
        const int code = without_gil([&] { return lumeq_receive(eq, nullptr, &stats.c); });
        if (code == 0 || code == LUMEQ_ERR_GPU)
            flights.pop_front();
        test(code);
    }
    void receive_all()
    {
        lumeq_flush(eq);
        while (!flights.empty())
            receive();
    }

    LumeqEqualizer *eq = nullptr;
    Owner owner{0};
    Params params;
    Stats stats;
    std::deque<Flight> flights;
    Picture previous;
};

// ---- step by step -------------------------------------------------------------------------------

// The step functions keep their error for each thread.
void test_step(int code)
{
    if (code < 0)
        check(code, lumeq_last_error(nullptr));
}

struct Measure {
    LumeqMeasure *c = nullptr;
    Picture in, previous; // used until the measure is finished
    Owner owner{0};       // of finishing
    Measure() = default;
    Measure(const Measure &) = delete;
    ~Measure()
    {
        without_gil([&] { return lumeq_measure_free(&c), 0; });
    }
};

struct Curve {
    LumeqCurve *c = nullptr;
    Curve() = default;
    Curve(const Curve &) = delete;
    ~Curve()
    {
        lumeq_curve_unref(&c);
    }
    nb::object get_stats() const
    {
        Stats stats;
        test_step(lumeq_curve_stats(c, &stats.c));
        return stats.object();
    }
};

class Context
{
  public:
    Context(nb::handle backend, nb::handle device, nb::handle threads)
    {
        const LumeqConfig c = config(backend, device, threads);
        char why[256] = "";
        const int code =
            without_gil([&] { return lumeq_context_create(&context, &c, why, sizeof(why)); });
        check(code, why);
    }
    Context(const Context &) = delete;
    ~Context()
    {
        without_gil([&] { return lumeq_context_destroy(&context), 0; });
    }
    std::unique_ptr<Measure> measure(nb::handle in, nb::handle previous, const Format &format,
                                     const nb::dict &settings, std::optional<uintptr_t> stream)
    {
        auto made = std::make_unique<Measure>();
        Params params;
        params.set(settings);
        made->in = picture(in, format, false);
        check_depth(made->in);
        if (!previous.is_none())
            made->previous = picture(previous, format, false);
        const LumeqImage *before = previous.is_none() ? nullptr : &made->previous.image;
        const Sync sync(made->in, stream);
        test_step(without_gil([&] {
            return lumeq_measure(context, &made->c, &params.c, &made->in.image, before, sync.get());
        }));
        return made;
    }
    void apply(const Curve &curve, nb::handle in, const nb::list &previous, nb::handle out,
               const Format &format, std::optional<uintptr_t> stream)
    {
        const Picture from = picture(in, format, false), to = picture(out, format, true);
        std::vector<Picture> before;
        std::vector<LumeqImage> images;
        for (nb::handle frame : previous) {
            before.push_back(picture(frame, format, false));
            images.push_back(before.back().image);
        }
        const Sync sync(from, stream);
        test_step(without_gil([&] {
            return lumeq_apply(context, curve.c, &from.image, images.data(), int(images.size()),
                               &to.image, sync.get());
        }));
    }

  private:
    LumeqContext *context = nullptr;
};

class History
{
  public:
    History(const nb::dict &settings, nb::handle lookahead)
    {
        Params params;
        params.set(settings);
        test_step(
            lumeq_history_create(&history, &params.c, nanoseconds(number("lookahead", lookahead))));
    }
    History(const History &) = delete;
    ~History()
    {
        lumeq_history_destroy(&history);
    }
    void put(Measure &measure, nb::handle time, double duration, bool discontinuity,
             bool interlaced)
    {
        LumeqMoment about = {};
        about.size = sizeof(about);
        about.time = moment(time);
        about.duration = nanoseconds(duration);
        about.discontinuity = discontinuity;
        about.interlaced = interlaced;
        const Lock lock(owner), finishing(measure.owner);
        about.number = count;
        test_step(without_gil([&] { return lumeq_measure_finish(measure.c, 1); }));
        measure.in = measure.previous = {};
        test_step(lumeq_history_put(history, measure.c, &about));
        count++;
    }
    void end()
    {
        const Lock lock(owner);
        test_step(lumeq_history_put(history, nullptr, nullptr));
        count = 0;
    }
    // None: later frames are needed, or no frames are left.
    std::unique_ptr<Curve> get()
    {
        const Lock lock(owner);
        auto made = std::make_unique<Curve>();
        const int code = without_gil([&] { return lumeq_history_get(history, &made->c); });
        if (code == LUMEQ_ERR_AGAIN || code == LUMEQ_ERR_END)
            return nullptr;
        test_step(code);
        return made;
    }

  private:
    LumeqHistory *history = nullptr;
    Owner owner{0};
    int64_t count = 0;
};

} // namespace

NB_MODULE(_core, m)
{
    nb::set_leak_warnings(false); // at exit, daemon threads and cycles may still hold objects
    error_class = nb::exception<std::runtime_error>(m, "Error", PyExc_RuntimeError).release().ptr();
    m.def("build_info", &lumeq_build_info);
    m.def("version", &lumeq_version);
    m.def(
        "code_range",
        [](const nb::dict &settings) {
            Params params;
            params.set(settings);
            return int(params.c.code_range);
        },
        "settings"_a);
    nb::class_<Format>(m, "Format")
        .def(
            "__init__",
            [](Format *made, nb::handle depth, nb::handle shift, bool full) {
                new (made) Format{integer("depth", depth), integer("shift", shift),
                                  full ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
            },
            "depth"_a.none(), "shift"_a.none(), "full"_a);
    nb::class_<Equalizer>(m, "Equalizer")
        .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle>(), "backend"_a.none(),
             "device"_a.none(), "threads"_a.none(), "batch"_a.none())
        .def("set", &Equalizer::set)
        .def("process", &Equalizer::process, "frame"_a.none(), "out"_a.none(), "format"_a,
             "time"_a.none(), "duration"_a, "follows"_a, "interlaced"_a, "stream"_a.none())
        .def("batch", &Equalizer::batch, "frames"_a.none(), "out"_a.none(), "format"_a,
             "duration"_a, "stream"_a.none())
        .def("bgr", &Equalizer::bgr, "picture"_a, "out"_a.none(), "rgb"_a, "time"_a.none(),
             "duration"_a)
        .def("finish", &Equalizer::finish)
        .def("reset", &Equalizer::reset)
        .def_prop_ro("stats", &Equalizer::get_stats, nb::sig("def stats(self) -> lumeq.Stats"))
        .def_prop_ro("backend", &Equalizer::backend);
    nb::class_<Stretch>(m, "Stretch")
        .def(nb::init<>())
        .def("frame", &Stretch::frame, "frame"_a.none(), "out"_a, "format"_a, "mode"_a, "time"_a)
        .def("reset", &Stretch::reset);
    nb::class_<Measure>(m, "Measure");
    nb::class_<Curve>(m, "Curve")
        .def_prop_ro("stats", &Curve::get_stats, nb::sig("def stats(self) -> lumeq.Stats"));
    nb::class_<Context>(m, "Context")
        .def(nb::init<nb::handle, nb::handle, nb::handle>(), "backend"_a.none(), "device"_a.none(),
             "threads"_a.none())
        .def("measure", &Context::measure, "frame"_a.none(), "previous"_a.none(), "format"_a,
             "settings"_a, "stream"_a.none(), nb::keep_alive<0, 1>())
        .def("apply", &Context::apply, "curve"_a, "frame"_a.none(), "previous"_a, "out"_a.none(),
             "format"_a, "stream"_a.none());
    nb::class_<History>(m, "History")
        .def(nb::init<const nb::dict &, nb::handle>(), "settings"_a, "lookahead"_a.none())
        .def("put", &History::put, "measure"_a, "time"_a.none(), "duration"_a, "discontinuity"_a,
             "interlaced"_a)
        .def("end", &History::end)
        .def("get", &History::get);
}
