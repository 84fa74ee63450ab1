/*
 * The native part of the Python package: lumeq.h for arrays. __init__.py has the interface and its
 * documentation. Library calls run without the GIL; a mutex keeps threads of Python apart.
 */
#include "bgr.h"

#include <lumeq/lumeq.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <deque>
#include <memory>
#include <mutex>
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

// ---- arrays -------------------------------------------------------------------------------------

// Where an array's samples are; strides in bytes.
struct Array {
    void *data;
    int64_t shape[3], stride[3];
    int dimensions, bytes;
    bool writable, on_gpu;
    nb::object owner;
};

Array from_dictionary(nb::handle source)
{
    nb::dict about = nb::cast<nb::dict>(source.attr("__cuda_array_interface__"));
    Array array = {};
    auto shape = nb::cast<nb::tuple>(about["shape"]);
    auto type = nb::cast<std::string>(about["typestr"]);
    auto data = nb::cast<nb::tuple>(about["data"]);
    array.dimensions = int(shape.size());
    array.bytes = type == "|u1" ? 1 : type == "<u2" ? 2 : 0;
    array.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(data[0]));
    array.writable = !nb::cast<bool>(data[1]);
    array.on_gpu = true;
    nb::object strides = about.contains("strides") ? nb::object(about["strides"]) : nb::none();
    int64_t step = array.bytes;
    for (int i = array.dimensions - 1; i >= 0 && array.dimensions <= 3; i--) {
        array.shape[i] = nb::cast<int64_t>(shape[size_t(i)]);
        array.stride[i] = strides.is_none() ? step : nb::cast<int64_t>(strides[i]);
        step *= array.shape[i];
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
    array.on_gpu = samples.device_type() == nb::device::cuda::value;
    if (!array.on_gpu && samples.device_type() != nb::device::cpu::value)
        raise(PyExc_ValueError, "an array is neither in host memory nor on an NVIDIA GPU");
    for (int i = 0; i < array.dimensions && array.dimensions <= 3; i++) {
        array.shape[i] = int64_t(samples.shape(size_t(i)));
        array.stride[i] = samples.stride(size_t(i)) * array.bytes;
    }
    return array;
}

// CUDA's interface comes first: unlike __dlpack__(), it never makes streams wait for each other.
Array from_object(nb::handle source, bool writable)
{
    Array array;
    nb::ndarray<> samples;
    nb::ndarray<nb::ro> read_only;
    if (nb::hasattr(source, "__cuda_array_interface__"))
        array = from_dictionary(source);
    else if (nb::try_cast(source, samples, false))
        array = from_samples(samples, true);
    else if (nb::try_cast(source, read_only, false))
        array = from_samples(read_only, false);
    else
        raise(PyExc_TypeError, "a frame is an array, or a tuple of arrays: luma, then Cb and Cr");
    array.owner = nb::borrow(source);
    if (!array.bytes)
        raise(PyExc_ValueError, "samples are neither uint8 nor uint16");
    if (array.dimensions < 2 || array.dimensions > 3)
        raise(PyExc_ValueError, "an array has neither two dimensions nor three");
    if (writable && !array.writable)
        raise(PyExc_ValueError, "an output array is read-only");
    return array;
}

// How samples are stored. Depth 0: all bits of the array's type.
struct Format {
    int depth, shift;
    LumeqRange range;
};

struct Picture {
    LumeqImage image = {};
    std::vector<nb::object> owners;
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

// Describes a frame: an array, or a tuple or list of one to three. `what` is for messages.
Picture picture(nb::handle frame, const Format &format, bool writable)
{
    std::vector<nb::object> planes;
    if (nb::isinstance<nb::tuple>(frame) || nb::isinstance<nb::list>(frame)) {
        for (nb::handle plane : frame)
            planes.push_back(nb::borrow(plane));
    } else {
        planes.push_back(nb::borrow(frame));
    }
    if (planes.empty() || planes.size() > 3)
        raise(PyExc_ValueError,
              "a frame has one to three planes: luma, Cb and Cr, or luma and both");
    Picture made;
    LumeqImage *image = &made.image;
    int bytes = 0;
    for (size_t i = 0; i < planes.size(); i++) {
        const Array array = from_object(planes[i], writable);
        const bool pairs = i == 1 && planes.size() == 2;
        if (array.dimensions == 3 && array.shape[2] != (pairs ? 2 : 1))
            raise(PyExc_ValueError, pairs
                                        ? "interleaved chroma has two samples in its last dimension"
                                        : "a plane has one sample for each pixel: pass a tuple of "
                                          "planes, or use bgr() for BGR pictures");
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
        made.owners.push_back(array.owner);
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

// ---- parameters and statistics ------------------------------------------------------------------

int choice(const char *name, nb::handle value, std::initializer_list<const char *> words)
{
    std::string text = nb::isinstance<nb::str>(value) ? nb::cast<std::string>(value) : "", all;
    int i = 0;
    for (const char *word : words) {
        if (text == word)
            return i;
        all += (i++ ? ", '" : "'") + std::string(word) + "'";
    }
    raise(PyExc_ValueError, std::string(name) + " is not one of " + all);
}

// A number, or `automatic` for the word "auto" if that is allowed.
double number(const char *name, nb::handle value, std::optional<double> automatic = {})
{
    double found = 0;
    if (automatic && nb::isinstance<nb::str>(value) && nb::cast<std::string>(value) == "auto")
        return *automatic;
    if (!nb::try_cast(value, found))
        raise(PyExc_TypeError, std::string(name) + (automatic ? " is neither a number nor 'auto'"
                                                              : " is no number"));
    return found;
}

int integer(const char *name, nb::handle value)
{
    int found = 0;
    if (!nb::try_cast(value, found))
        raise(PyExc_TypeError, std::string(name) + " holds something that is no integer");
    return found;
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
    auto truth = [&] { return int(nb::cast<bool>(nb::bool_(nb::borrow(value)))); };
    const char *n = name.c_str();
    if (name == "mode")
        p->mode = LumeqMode(choice(n, value, {"global", "off", "clahe", "stretch", "haze"}));
    else if (name == "chroma")
        p->chroma = LumeqChroma(choice(n, value, {"scale", "keep"}));
    else if (name == "bars")
        p->bars = LumeqBars(choice(n, value, {"auto", "ignore"}));
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
        p->reference = truth();
    else if (name == "adaptive")
        p->adaptive = truth();
    else if (name == "scene_cut")
        p->scene_cut = truth();
    else if (name == "dither")
        p->dither = truth();
    else if (name == "lift")
        p->lift = truth();
    else if (name == "await_noise")
        p->await_noise = truth();
    else if (name == "tiles")
        set_tiles(p, value);
    else if (name == "meter")
        set_rectangle(&p->meter, value);
    else
        raise(PyExc_TypeError, "unknown setting '" + name +
                                   "'; settings are mode, strength, clip, smooth, scene_cut, "
                                   "brightness, gamma, limit, "
                                   "denoise, chroma, bars, meter, tiles, dither, deflicker, "
                                   "adaptive, lift, await_noise "
                                   "and reference");
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
        for (auto [name, value] : settings)
            set_parameter(&next, nb::cast<std::string>(name), value);
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
    explicit Sync(std::optional<uintptr_t> stream)
    {
        c.size = sizeof(c);
        c.stream = stream ? reinterpret_cast<void *>(*stream) : nullptr;
    }
    const LumeqSync *get() const
    {
        return c.stream ? &c : nullptr;
    }
};

LumeqConfig config(const std::string &backend, int device, int threads)
{
    LumeqConfig c = {};
    c.size = sizeof(c);
    c.backend =
        LumeqBackendId(choice("backend", nb::str(backend.c_str()), {"auto", "cpu", "cuda"}));
    c.device = device;
    c.threads = threads;
    c.no_stage_times = 1;
    return c;
}

int64_t nanoseconds(double seconds)
{
    if (!(seconds > -9e9 && seconds < 9e9))
        raise(PyExc_ValueError, "a time is not between -9e9 and 9e9 seconds");
    return int64_t(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5));
}

bool same_memory(const LumeqImage &a, const LumeqImage &b)
{
    return a.plane[0] == b.plane[0];
}

bool can_follow(const LumeqImage &a, const LumeqImage &b)
{
    return !same_memory(a, b) && a.width == b.width && a.height == b.height && a.depth == b.depth &&
           a.shift == b.shift && a.range == b.range && a.memory == b.memory &&
           !a.plane[1] == !b.plane[1] && !a.plane[2] == !b.plane[2] && a.chroma_x == b.chroma_x &&
           a.chroma_y == b.chroma_y;
}

// ---- live ---------------------------------------------------------------------------------------

// A mutex that is waited for without the GIL, so that its owner can take the GIL.
class Lock
{
  public:
    explicit Lock(std::mutex &mutex) : mutex(mutex)
    {
        nb::gil_scoped_release release;
        mutex.lock();
    }
    ~Lock()
    {
        mutex.unlock();
    }

  private:
    std::mutex &mutex;
};

template <class Call> int without_gil(Call call)
{
    nb::gil_scoped_release release;
    return call();
}

class Equalizer
{
  public:
    Equalizer(const std::string &backend, int device, int threads)
    {
        const LumeqConfig c = config(backend, device, threads);
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
        const Lock lock(mutex);
        Params next = params;
        next.set(settings);
        test(lumeq_set_params(eq, &next.c));
        params = next;
    }
    // With a stream, frames stay in flight; without, the output is complete.
    void process(nb::handle in, nb::handle out, const Format &format, std::optional<double> time,
                 double duration, bool follows, bool interlaced, std::optional<uintptr_t> stream)
    {
        const Lock lock(mutex);
        Flight next = {picture(in, format, false), picture(out, format, true)};
        LumeqFrame frame = {};
        frame.size = sizeof(frame);
        frame.in = next.in.image;
        frame.out = next.out.image;
        frame.time = time ? nanoseconds(*time) : LUMEQ_NO_TIME;
        frame.duration = nanoseconds(duration);
        frame.interlaced = interlaced;
        if (follows && can_follow(previous.image, frame.in))
            frame.previous = &previous.image;
        const Sync sync(stream);
        frame.sync = sync.get();
        int code;
        while ((code = without_gil([&] { return lumeq_submit(eq, &frame); })) == LUMEQ_ERR_AGAIN &&
               !flights.empty())
            receive();
        test(code);
        previous = next.in;
        flights.push_back(std::move(next));
        if (!stream)
            receive_all();
    }
    void finish()
    {
        const Lock lock(mutex);
        receive_all();
    }
    void reset()
    {
        const Lock lock(mutex);
        lumeq_reset(eq);
        previous = {};
    }
    nb::object get_stats()
    {
        const Lock lock(mutex);
        return stats.object();
    }
    std::string backend()
    {
        const Lock lock(mutex);
        return lumeq_backend_name(eq);
    }

  private:
    // The arrays of a frame, which the library reads and writes until the frame is received.
    struct Flight {
        Picture in, out;
    };
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
    std::mutex mutex;
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
    Context(const std::string &backend, int device, int threads)
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
        if (!previous.is_none())
            made->previous = picture(previous, format, false);
        const LumeqImage *before = previous.is_none() ? nullptr : &made->previous.image;
        const Sync sync(stream);
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
        const Sync sync(stream);
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
    History(const nb::dict &settings, double lookahead)
    {
        Params params;
        params.set(settings);
        test_step(lumeq_history_create(&history, &params.c, nanoseconds(lookahead)));
    }
    History(const History &) = delete;
    ~History()
    {
        lumeq_history_destroy(&history);
    }
    void put(Measure &measure, std::optional<double> time, double duration, bool discontinuity,
             bool interlaced)
    {
        const Lock lock(mutex);
        LumeqMoment moment = {};
        moment.size = sizeof(moment);
        moment.number = count;
        moment.time = time ? nanoseconds(*time) : LUMEQ_NO_TIME;
        moment.duration = nanoseconds(duration);
        moment.discontinuity = discontinuity;
        moment.interlaced = interlaced;
        test_step(without_gil([&] { return lumeq_measure_finish(measure.c, 1); }));
        measure.in = measure.previous = {};
        test_step(lumeq_history_put(history, measure.c, &moment));
        count++;
    }
    void end()
    {
        const Lock lock(mutex);
        test_step(lumeq_history_put(history, nullptr, nullptr));
        count = 0;
    }
    // None: later frames are needed, or no frames are left.
    std::unique_ptr<Curve> get()
    {
        const Lock lock(mutex);
        auto made = std::make_unique<Curve>();
        const int code = without_gil([&] { return lumeq_history_get(history, &made->c); });
        if (code == LUMEQ_ERR_AGAIN || code == LUMEQ_ERR_END)
            return nullptr;
        test_step(code);
        return made;
    }

  private:
    LumeqHistory *history = nullptr;
    std::mutex mutex;
    int64_t count = 0;
};

// ---- BGR ----------------------------------------------------------------------------------------

// Finds the channels of a picture of 8 bits; the first one is blue unless `rgb`.
Bgr bgr_picture(nb::handle source, bool rgb, bool writable)
{
    const Array a = from_object(source, writable);
    if (a.on_gpu)
        raise(PyExc_ValueError, "bgr() and rgb() need arrays in host memory");
    if (a.bytes != 1 || a.dimensions != 3 || a.shape[2] < 3 || a.shape[2] > 4)
        raise(PyExc_ValueError, "a colour picture is a uint8 array of (rows, columns, 3 or 4)");
    auto *first = static_cast<uint8_t *>(a.data);
    uint8_t *last = first + 2 * a.stride[2];
    return {{rgb ? last : first, first + a.stride[2], rgb ? first : last},
            a.stride[0],
            a.stride[1],
            int(a.shape[1]),
            int(a.shape[0])};
}

Yuv yuv_picture(nb::handle planes, bool writable)
{
    const LumeqImage image = picture(planes, {10, 0, LUMEQ_RANGE_FULL}, writable).image;
    Yuv yuv = {};
    for (int i = 0; i < 3; i++) {
        yuv.plane[i] = static_cast<uint16_t *>(image.plane[i]);
        yuv.stride[i] = image.stride[i] / 2;
    }
    return yuv;
}

void from_bgr(nb::handle source, bool rgb, nb::handle planes)
{
    const Bgr in = bgr_picture(source, rgb, false);
    const Yuv out = yuv_picture(planes, true);
    without_gil([&] { return bgr_to_yuv(in, out), 0; });
}

void to_bgr(nb::handle planes, nb::handle target, bool rgb)
{
    const Yuv in = yuv_picture(planes, false);
    const Bgr out = bgr_picture(target, rgb, true);
    without_gil([&] { return yuv_to_bgr(in, out), 0; });
}

} // namespace

NB_MODULE(_core, m)
{
    error_class = nb::exception<std::runtime_error>(m, "Error", PyExc_RuntimeError).release().ptr();
    m.def("build_info", &lumeq_build_info);
    m.def("from_bgr", &from_bgr, "source"_a.none(), "rgb"_a, "planes"_a);
    m.def("to_bgr", &to_bgr, "planes"_a, "target"_a.none(), "rgb"_a);
    nb::class_<Format>(m, "Format")
        .def("__init__", [](Format *made, int depth, int shift, bool full) {
            new (made) Format{depth, shift, full ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
        });
    nb::class_<Equalizer>(m, "Equalizer")
        .def(nb::init<const std::string &, int, int>())
        .def("set", &Equalizer::set)
        .def("process", &Equalizer::process, "frame"_a.none(), "out"_a.none(), "format"_a,
             "time"_a.none(), "duration"_a, "follows"_a, "interlaced"_a, "stream"_a.none())
        .def("finish", &Equalizer::finish)
        .def("reset", &Equalizer::reset)
        .def_prop_ro("stats", &Equalizer::get_stats, nb::sig("def stats(self) -> lumeq.Stats"))
        .def_prop_ro("backend", &Equalizer::backend);
    nb::class_<Measure>(m, "Measure");
    nb::class_<Curve>(m, "Curve")
        .def_prop_ro("stats", &Curve::get_stats, nb::sig("def stats(self) -> lumeq.Stats"));
    nb::class_<Context>(m, "Context")
        .def(nb::init<const std::string &, int, int>())
        .def("measure", &Context::measure, "frame"_a.none(), "previous"_a.none(), "format"_a,
             "settings"_a, "stream"_a.none())
        .def("apply", &Context::apply, "curve"_a, "frame"_a.none(), "previous"_a, "out"_a.none(),
             "format"_a, "stream"_a.none());
    nb::class_<History>(m, "History")
        .def(nb::init<const nb::dict &, double>())
        .def("put", &History::put, "measure"_a, "time"_a.none(), "duration"_a, "discontinuity"_a,
             "interlaced"_a)
        .def("end", &History::end)
        .def("get", &History::get);
}
