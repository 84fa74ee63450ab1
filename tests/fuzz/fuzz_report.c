/* Logs of a film's parts, from which the whole report is made. An input is a log; after a line
 * "next", that of the next part. */
#include "fuzz.h"
#include "report/report_file.h"

#define NEXT "next\n"

int fuzz_valid;

/* Makes the report of the log as HTML or JSON. Returns not 0 if the log is valid. */
static int make_report(const char *name, const uint8_t *bytes, size_t size)
{
    static const char *const options[] = {"--mode=clahe", "--vcodec=<x>&\"\x01"};
    const ReportAbout about = {
        .program = "lumeq", .input = "in", .output = "out", .options = options, .option_count = 2};
    const char *log_path = in_folder("log");
    MediaError error = {0};
    Report *report = NULL;
    FUZZ_CHECK(report_open(&report, in_folder(name), 0, NULL, NULL, &error) == 0, "%s", error.text);
    int ret = 0;
    while (size && ret == 0) {
        const uint8_t *next = memmem(bytes, size, NEXT, strlen(NEXT));
        const size_t length = next ? (size_t)(next - bytes) : size;
        const size_t taken = length + (next ? strlen(NEXT) : 0);
        fuzz_write(log_path, bytes, length);
        ret = report_append(report, log_path, &error);
        bytes += taken;
        size -= taken;
    }
    FUZZ_CHECK(ret == 0 || error.text[0], "%d without a reason", ret);
    const int valid = ret == 0 && report_frames(report) > 0;
    if (ret == 0)
        FUZZ_CHECK(report_write(report, &about, &error) == 0, "%s", error.text);
    report_close(&report);
    return valid;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_valid += make_report("report.html", bytes, size);
    (void)make_report("report.json", bytes, size);
    return 0;
}
