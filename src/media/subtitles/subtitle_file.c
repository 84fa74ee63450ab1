#include "media/subtitles/subtitle_file.h"

#include <ctype.h>
#include <dirent.h>
#include <iconv.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/packet_set.h"
#include "media/printable.h"
#include "media/regular_file.h"
#include "media/subtitles/subtitle_decoder.h"

#define ENDINGS "srt,ass,ssa,vtt"

/* Formats that hold text only and refer to no other file. */
#define FORMATS                                                                                    \
    "srt,ass,webvtt,microdvd,subviewer,subviewer1,sami,mpl2,jacosub,realtext,vplayer,pjs,stl,"     \
    "aqtitle"

#define IO_BYTES 4096

/* Longest word between the name of the video and the ending: a language such as zh-Hant. */
#define MAX_LANGUAGE 8

/* ---- the text ---- */

typedef struct FileText {
    uint8_t *bytes;
    size_t size, at; /* `at`: bytes read so far */
} FileText;

static int read_file(FileText *text, const char *path, MediaError *error)
{
    FILE *file = regular_file_stream(path, 0);
    const char *why = file ? "it is larger than 16 MiB, or a read failed" : regular_file_why();
    text->bytes = file ? malloc(SUBTITLE_FILE_BYTES + 2) : NULL;
    if (text->bytes)
        text->size = fread(text->bytes, 1, SUBTITLE_FILE_BYTES + 1, file);
    const bool is_read = text->bytes && !ferror(file) && text->size <= SUBTITLE_FILE_BYTES;
    if (is_read)
        text->bytes[text->size] = '\0';
    if (file)
        (void)fclose(file);
    return is_read ? 0
                   : media_fail(error, MEDIA_INPUT, "cannot read the subtitles %s: %s",
                                media_quote(path), why);
}

/* The charset to convert the text from; NULL: none. UTF-16 is converted here because FFmpeg loses
 * some of its characters. */
static const char *charset_of(const FileText *text)
{
    uint32_t c;
    size_t at = 0;
    if (text->size >= 2 &&
        (memcmp(text->bytes, "\xff\xfe", 2) == 0 || memcmp(text->bytes, "\xfe\xff", 2) == 0))
        return "UTF-16";
    for (int n; at < text->size; at += (size_t)n)
        if (!(n = text->bytes[at] ? utf8_read((const char *)text->bytes + at, &c) : 1))
            return "WINDOWS-1252";
    return NULL;
}

/* Converts the text to UTF-8. Leaves it unchanged if it cannot be converted. */
static void convert(FileText *text, const char *charset)
{
    const size_t room = 3 * text->size; /* a byte becomes at most 3 bytes of UTF-8 */
    char *converted = malloc(room + 1), *from = (char *)text->bytes, *to = converted;
    size_t left = text->size, free_bytes = room;
    const iconv_t by = iconv_open("UTF-8", charset);
    const bool can = converted && by != (iconv_t)-1;
    while (can && iconv(by, &from, &left, &to, &free_bytes) == (size_t)-1 && left) {
        *to++ = '?'; /* a code without a character */
        free_bytes--;
        from++;
        left--;
    }
    if (by != (iconv_t)-1)
        iconv_close(by);
    free(can ? text->bytes : (uint8_t *)converted);
    if (can)
        *text = (FileText){(uint8_t *)converted, (size_t)(to - converted), 0};
}

/* ---- the packets ---- */

static int read_text(void *opaque, uint8_t *to, int size)
{
    FileText *text = opaque;
    const size_t left = text ? text->size - text->at : 0;
    const size_t n = left < (size_t)size ? left : (size_t)size;
    if (!n)
        return AVERROR_EOF;
    memcpy(to, text->bytes + text->at, n);
    text->at += n;
    return (int)n;
}

static int refuse_open(AVFormatContext *format, AVIOContext **io, const char *url, int flags,
                       AVDictionary **options)
{
    (void)format;
    (void)io;
    (void)url;
    (void)flags;
    (void)options;
    return AVERROR(EPERM);
}

/* Text demuxers read the whole file when they open it, so the text may be freed afterwards. */
static int demux(Source *s, FileText *text, const char *path)
{
    AVDictionary *options = NULL;
    uint8_t *buffer = av_malloc(IO_BYTES);
    s->bytes.io =
        buffer ? avio_alloc_context(buffer, IO_BYTES, 0, text, read_text, NULL, NULL) : NULL;
    s->format = s->bytes.io ? avformat_alloc_context() : NULL;
    if (!s->format || av_dict_set(&options, "format_whitelist", FORMATS, 0) < 0) {
        if (!s->bytes.io)
            av_free(buffer);
        return AVERROR(ENOMEM);
    }
    s->format->pb = s->bytes.io;
    s->format->io_open = refuse_open;
    const int ret = avformat_open_input(&s->format, path, NULL, &options);
    av_dict_free(&options);
    s->bytes.io->opaque = NULL;
    return ret;
}

static int take_packets(SubtitleFile *f)
{
    int ret;
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return AVERROR(ENOMEM);
    while ((ret = av_read_frame(f->source->format, packet)) >= 0) {
        if (packet->stream_index == f->track->index)
            packet_store_add(&f->packets, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ret == AVERROR_EOF ? 0 : ret;
}

static int open_text(SubtitleFile *f, FileText *text, const char *path, MediaError *error)
{
    int ret = demux(f->source, text, path);
    if (ret >= 0 && f->source->format->nb_streams == 1) {
        f->source->stream_count = 1;
        f->track = f->source->format->streams[0];
        ret = f->track->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE &&
                      subtitle_kind(f->track) != SUBTITLE_KIND_IMAGES
                  ? take_packets(f)
                  : AVERROR_INVALIDDATA;
    }
    if (ret == AVERROR(ENOMEM))
        return media_no_memory(error, MEDIA_INPUT);
    if (ret < 0 || !f->track || !f->packets.count)
        return media_fail(
            error, MEDIA_INPUT,
            "cannot read the subtitles %s: not a text subtitle file such as srt or ass",
            media_quote(path));
    return 0;
}

int subtitle_file_open(SubtitleFile **file, const char *path, MediaError *error)
{
    FileText text = {0};
    SubtitleFile *f = calloc(1, sizeof(*f));
    *file = f;
    if (f)
        f->source = source_create(&(SourceOptions){.path = path});
    int ret = f && f->source ? read_file(&text, path, error) : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0) {
        const char *charset = charset_of(&text);
        if (charset)
            convert(&text, charset);
        ret = open_text(f, &text, path, error);
    }
    free(text.bytes);
    if (ret < 0)
        subtitle_file_close(file);
    return ret;
}

void subtitle_file_close(SubtitleFile **file)
{
    SubtitleFile *f = *file;
    if (!f)
        return;
    packet_store_clear(&f->packets);
    source_close(&f->source);
    free(f);
    *file = NULL;
}

/* ---- names ---- */

bool subtitle_file_is_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strchr(dot, '/') && av_match_name(dot + 1, ENDINGS);
}

static int by_name(const void *a, const void *b)
{
    const char *const one = *(char *const *)a, *const other = *(char *const *)b;
    const size_t length = strlen(one), other_length = strlen(other);
    return length != other_length ? (length > other_length) - (length < other_length)
                                  : strcmp(one, other);
}

/* True for "srt" and "en.srt" but not for "2.srt", which may belong to another video. */
static bool is_ending(const char *text)
{
    const char *dot = strchr(text, '.');
    return !dot ||
           (isalpha((unsigned char)text[0]) && dot - text <= MAX_LANGUAGE && !strchr(dot + 1, '.'));
}

int subtitle_file_find(const char *video, char **paths, int room)
{
    const char *slash = strrchr(video, '/'), *base = slash ? slash + 1 : video;
    const char *dot = strrchr(base, '.');
    const size_t stem = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    char folder[PATH_MAX];
    int count = 0;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(base - video) : 2, slash ? video : "./");
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && count < room && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        char path[PATH_MAX];
        if (strncmp(name, base, stem) != 0 || name[stem] != '.' || !subtitle_file_is_name(name) ||
            !is_ending(name + stem + 1))
            continue;
        const int n = snprintf(path, sizeof(path), "%s%s", slash ? folder : "", name);
        if (n < (int)sizeof(path) && (paths[count] = strdup(path)))
            count++;
    }
    if (dir)
        closedir(dir);
    qsort(paths, (size_t)count, sizeof(*paths), by_name);
    return count;
}

/* ---- packet store ---- */

/* Also removes the packets from the set of known ones, so that they can be added again. */
static void drop_oldest(PacketStore *s)
{
    int count = 0;
    while (s->bytes > PACKET_STORE_BYTES / 4 * 3 && count < s->count - 1) {
        s->bytes -= packet_bytes(s->packets[count]);
        av_packet_free(&s->packets[count++]);
    }
    s->count -= count;
    memmove(s->packets, s->packets + count, (size_t)s->count * sizeof(AVPacket *));
    packet_set_clear(&s->known);
    for (int i = 0; i < s->count; i++)
        (void)packet_set_add(&s->known, s->packets[i]);
}

void packet_store_add(PacketStore *s, const AVPacket *packet)
{
    AVPacket *kept = packet_set_add(&s->known, packet) ? NULL : av_packet_clone(packet);
    if (!kept)
        return;
    if (av_dynarray_add_nofree(&s->packets, &s->count, kept) < 0) {
        av_packet_free(&kept);
        return;
    }
    s->bytes += packet_bytes(kept);
    if (s->bytes > PACKET_STORE_BYTES)
        drop_oldest(s);
}

void packet_store_clear(PacketStore *s)
{
    for (int i = 0; i < s->count; i++)
        av_packet_free(&s->packets[i]);
    av_freep(&s->packets);
    packet_set_clear(&s->known);
    *s = (PacketStore){.packets = NULL};
}
