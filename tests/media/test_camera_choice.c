/* Listing (fake) cameras and their modes, choosing a mode, and the messages if none can be used. */
#include "fake_camera.h"

/* Usual modes on USB 2: raw pictures have lower frame rates than JPEGs. */
#define USUAL                                                                                      \
    "YUYV 640x480@30,15;YUYV 1280x720@10,5;YUYV 1920x1080@5;"                                      \
    "MJPG 640x480@30,15;MJPG 1280x720@30,15;MJPG 1920x1080@30,15"

static void expect(const CameraOptions *wanted, const char *text)
{
    FREED_BY(source_close) Source *source = NULL;
    MediaError error;
    char got[400] = "";
    if (!CHECK(fake_camera_open(&source, wanted, &error) == 0, "%s: %s", text, error.text))
        return;
    camera_setting_text(source->camera, got, sizeof(got));
    CHECK(strcmp(got, text) == 0, "took '%s', not '%s'", got, text);
}

TEST_IF(best_mode_is_chosen, fake_camera_ready())
{
    fake_camera_has(USUAL);
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): mjpeg 1920x1080 at 30 fps");
    expect(&(CameraOptions){.width = 1280, .height = 720},
           "Fake Webcam (/dev/video0): mjpeg 1280x720 at 30 fps");
    expect(&(CameraOptions){.width = 640, .height = 480},
           "Fake Webcam (/dev/video0): yuyv422 640x480 at 30 fps");
    expect(&(CameraOptions){.format = "yuyv422"},
           "Fake Webcam (/dev/video0): yuyv422 640x480 at 30 fps");
    expect(&(CameraOptions){.format = "MJPG", .width = 640, .height = 480},
           "Fake Webcam (/dev/video0): mjpeg 640x480 at 30 fps");
    expect(&(CameraOptions){.rate = {15, 1}},
           "Fake Webcam (/dev/video0): mjpeg 1920x1080 at 15 fps");
    expect(&(CameraOptions){.rate = {5, 1}, .device = "0"},
           "Fake Webcam (/dev/video0): yuyv422 1920x1080 at 5 fps");
    expect(&(CameraOptions){.format = "yuyv422", .width = 1280, .height = 720},
           "Fake Webcam (/dev/video0): yuyv422 1280x720 at 10 fps");
}

TEST_IF(best_mode_of_odd_cameras, fake_camera_ready())
{
    fake_camera_has("MJPG 1280x720@60,30;MJPG 1920x1080@20");
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): mjpeg 1280x720 at 60 fps");
    expect(&(CameraOptions){.rate = {2997, 100}},
           "Fake Webcam (/dev/video0): mjpeg 1280x720 at 30 fps");
    fake_camera_has("YUYV 640x480@15;YUYV 1280x720@10"); /* no mode has 30 fps */
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): yuyv422 640x480 at 15 fps");
    fake_camera_has(
        "GREY 1280x720@90;MJPG 640x480@30"); /* a colour camera with an infrared sensor */
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): mjpeg 640x480 at 30 fps");
    fake_camera_has("YUYV 32x16-2592x1944/16x8@1-90");
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): yuyv422 1920x1080 at 90 fps");
    expect(&(CameraOptions){.width = 480, .height = 320, .rate = {25, 1}},
           "Fake Webcam (/dev/video0): yuyv422 480x320 at 25 fps");
    fake_camera_has("YUYV 640x480"); /* reports no rates */
    expect(&(CameraOptions){.rate = {20, 1}},
           "Fake Webcam (/dev/video0): yuyv422 640x480 at 20 fps");
}

TEST_IF(real_rate_is_reported, fake_camera_ready())
{
    fake_camera_is("rate=15");
    expect(&(CameraOptions){.width = 1280, .height = 720},
           "Fake Webcam (/dev/video0): mjpeg 1280x720 at 15 fps; 30 fps was requested");
}

TEST_IF(refused_modes_are_skipped, fake_camera_ready())
{
    fake_camera_is("refuse=MJPG");
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): yuyv422 640x480 at 30 fps");
    fake_camera_has("MJPG 640x480@30;JPEG 640x480@30"); /* two codes of one format */
    fake_camera_is("refuse=MJPG");
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): mjpeg 640x480 at 30 fps");
}

/* ---- refusals ---- */

static void refuse(const CameraOptions *wanted, int fault, const char *text)
{
    FREED_BY(source_close) Source *source = NULL;
    MediaError error;
    const int ret = fake_camera_open(&source, wanted, &error);
    CHECK(ret == fault && !source && strstr(error.text, text), "%d '%s', not '%s'", ret, error.text,
          text);
}

TEST_IF(modes_not_offered_are_refused, fake_camera_ready())
{
    fake_camera_has(USUAL);
    refuse(&(CameraOptions){.format = "h264"}, MEDIA_USAGE,
           "the camera '/dev/video0' (Fake Webcam) does not offer --input-format 'h264'; "
           "--list-formats lists what it offers");
    refuse(&(CameraOptions){.rate = {60, 1}, .width = 1280, .height = 720}, MEDIA_USAGE,
           "does not offer --video-size 1280x720 --framerate 60; ");
    fake_camera_is("refuse=MJPG");
    refuse(&(CameraOptions){.format = "mjpeg"}, MEDIA_INPUT,
           "the camera '/dev/video0' (Fake Webcam) refuses mjpeg 1920x1080");
    fake_camera_has("YUYV 32x16-1920x1080/16x8@1-60");
    refuse(&(CameraOptions){.width = 33, .height = 16}, MEDIA_USAGE, "--video-size 33x16; ");
    refuse(&(CameraOptions){.rate = {61, 1}}, MEDIA_USAGE, "--framerate 61; ");
    fake_camera_has("S920 640x480@30");
    refuse(&(CameraOptions){0}, MEDIA_INPUT, "offers no supported format; --list-formats");
    refuse(&(CameraOptions){.format = "mjpeg"}, MEDIA_INPUT, "offers no supported format");
}

TEST_IF(gray_of_more_than_8_bits, fake_camera_ready())
{
    fake_camera_has("Y16  640x512@30;Y12  640x512@30;Y10  640x512@30;Y14  640x512@30;"
                    "Y16- 640x512@30");
    expect(&(CameraOptions){0}, "Fake Webcam (/dev/video0): gray16le 640x512 at 30 fps");
    expect(&(CameraOptions){.format = "y12"},
           "Fake Webcam (/dev/video0): gray12le 640x512 at 30 fps");
    expect(&(CameraOptions){.format = "gray10le"},
           "Fake Webcam (/dev/video0): gray10le 640x512 at 30 fps");
    expect(&(CameraOptions){.format = "Y14"},
           "Fake Webcam (/dev/video0): gray14le 640x512 at 30 fps");
    expect(&(CameraOptions){.format = "y16-be"},
           "Fake Webcam (/dev/video0): gray16be 640x512 at 30 fps");
}

TEST(each_fault_has_its_message)
{
    static const struct {
        const char *words, *text;
    } troubles[] = {
        {"denied", "no permission to use the camera '/dev/video0': add yourself to the group "
                   "'video'"},
        {"busy", "the camera '/dev/video0' (Fake Webcam) is in use by another program"},
        {"full", "the camera '/dev/video0' (Fake Webcam) has no room on its USB bus"},
        {"eio", "cannot use the camera '/dev/video0' (Fake Webcam): Input/output error"},
        {"unlinked",
         "the sensor of the camera '/dev/video0' (Fake Webcam) must be set up first: use "
         "media-ctl, or libcamera"},
    };
    if (!fake_camera_ready())
        return;
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        fake_camera_is(troubles[i].words);
        refuse(&(CameraOptions){0}, MEDIA_INPUT, troubles[i].text);
        refuse(&(CameraOptions){.device = "/dev/video0"}, MEDIA_INPUT, troubles[i].text);
    }
}

TEST_IF(missing_cameras_are_named, fake_camera_ready())
{
    refuse(&(CameraOptions){.device = "/dev/video7"}, MEDIA_INPUT,
           "the camera '/dev/video7' does not exist; --list-devices lists all cameras");
    refuse(&(CameraOptions){.device = "7"}, MEDIA_INPUT, "the camera '/dev/video7' does not exist");
    refuse(&(CameraOptions){.device = "abc"}, MEDIA_INPUT,
           "there is no camera 'abc': give the number N of /dev/videoN, or the path of its device");
    refuse(&(CameraOptions){.device = "/dev/null"}, MEDIA_INPUT, "'/dev/null' is not a camera");
    fake_camera_is("other");
    refuse(&(CameraOptions){.device = "0"}, MEDIA_INPUT,
           "'/dev/video0' (Fake Webcam) is not a camera: it cannot capture video");
    refuse(&(CameraOptions){0}, MEDIA_INPUT, "no camera was found");
    fake_camera_is("gone");
    refuse(&(CameraOptions){0}, MEDIA_INPUT, "no camera was found");
    refuse(&(CameraOptions){.device = "0"}, MEDIA_INPUT, "the camera '/dev/video0' does not exist");
}

TEST_IF(camera_without_pictures_is_refused, fake_camera_ready())
{
    fake_camera_is("stall");
    refuse(&(CameraOptions){0}, MEDIA_INPUT, "sent no picture for 5 s");
    fake_camera_is("malformed");
    refuse(&(CameraOptions){0}, MEDIA_INPUT, "are damaged");
}

/* /dev/video0 is a sensor, /dev/video1 a webcam. */
TEST_IF(webcams_come_before_sensors, fake_camera_ready())
{
    CameraDevice device;
    CameraMode *modes;
    MediaError error = {0};
    setenv("FAKE_OUTPUT", "/dev/video1", 1);
    fake_camera_is("sensor out.captures");
    camera_list_modes(NULL, &device, &modes, &error);
    CHECK(strcmp(device.path, "/dev/video1") == 0, "found %s", device.path);
    camera_free(&modes);
    unsetenv("FAKE_OUTPUT");
    camera_list_modes(NULL, &device, &modes, &error);
    CHECK(strcmp(device.path, "/dev/video0") == 0, "found %s", device.path);
    camera_free(&modes);
}

/* ---- lists ---- */

TEST(devices_are_listed)
{
    CameraDevice *devices;
    MediaError error = {0};
    if (!fake_camera_ready())
        return;
    fake_camera_is("at=/dev/video5");
    int count = camera_list_devices(&devices, &error);
    if (CHECK(count == 1, "%d cameras, %s", count, error.text)) {
        CHECK(strcmp(devices[0].path, "/dev/video5") == 0, "path %s", devices[0].path);
        CHECK(strcmp(devices[0].name, "Fake Webcam") == 0, "name %s", devices[0].name);
        CHECK(strcmp(devices[0].bus, "usb-fake-1") == 0, "bus %s", devices[0].bus);
        CHECK(!devices[0].problem[0], "%s", devices[0].problem);
    }
    camera_free(&devices);
    CHECK(!devices, "the list is not set to NULL");
    fake_camera_is("denied");
    count = camera_list_devices(&devices, &error);
    CHECK(count == 1 && strstr(devices[0].problem, "group 'video'"), "%d cameras: %s", count,
          count == 1 ? devices[0].problem : "");
    camera_free(&devices);
    fake_camera_is("other");
    count = camera_list_devices(&devices, &error);
    CHECK(count == 0, "%d cameras", count);
    camera_free(&devices);
}

TEST(modes_are_listed_by_format)
{
    static const char *const texts[] = {"640x480 at 30, 15 fps",
                                        "16x16 to 1920x1080 at 1 to 60 fps", "800x600 at any rate",
                                        "320x240 at 30 fps"};
    static const char *const formats[] = {"mjpeg", "yuyv422", "mjpeg", NULL};
    CameraDevice device;
    CameraMode *modes;
    MediaError error = {0};
    char text[256], code[8];
    if (!fake_camera_ready())
        return;
    fake_camera_has("MJPG 640x480@30,15;YUYV 16x16-1920x1080/16x8@1-60;MJPG 800x600;"
                    "S920 320x240@30");
    const int count = camera_list_modes(NULL, &device, &modes, &error);
    /* Modes are grouped by format, in the driver's order. */
    static const int order[] = {0, 2, 1, 3};
    for (int i = 0; CHECK(count == 4, "%d modes, %s", count, error.text) && i < count; i++) {
        const CameraMode *mode = &modes[i];
        camera_mode_text(mode, text, sizeof(text));
        CHECK(strcmp(text, texts[order[i]]) == 0, "mode %d is '%s'", i, text);
        CHECK((!mode->format && !formats[order[i]]) ||
                  (mode->format && strcmp(mode->format, formats[order[i]]) == 0),
              "mode %d is %s", i, mode->format ? mode->format : "none");
    }
    if (count == 4) {
        camera_fourcc_text(modes[3].fourcc, code);
        CHECK(strcmp(code, "S920") == 0, "code %s", code);
        CHECK(strcmp(modes[0].description, "Motion-JPEG") == 0, "description '%s'",
              modes[0].description);
    }
    camera_free(&modes);
}

TEST_MAIN
