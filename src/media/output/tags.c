#include "media/output/tags.h"

#include <stdbool.h>
#include <string.h>

#include <libavutil/avstring.h>

/* FFmpeg searches tags linearly, so copying 40,000 tags would take seconds. */
#define TAGS_KEPT 1000

static int copy_first(AVDictionary **to, const AVDictionary *from)
{
    const AVDictionaryEntry *tag = NULL;
    for (int i = 0; i < TAGS_KEPT && (tag = av_dict_get(from, "", tag, AV_DICT_IGNORE_SUFFIX)); i++)
        if (av_dict_set(to, tag->key, tag->value, 0) < 0)
            return AVERROR(ENOMEM);
    return 0;
}

int tags_copy(AVDictionary **to, const AVDictionary *from, int only_names)
{
    static const char *const names[] = {"language", "filename", "mimetype"};
    static const char *const old[] = {"major_brand", "minor_version", "compatible_brands",
                                      "encoder", "DURATION"};
    for (size_t i = 0; only_names && i < sizeof(names) / sizeof(names[0]); i++) {
        const AVDictionaryEntry *tag = av_dict_get(from, names[i], NULL, 0);
        if (tag && av_dict_set(to, names[i], tag->value, 0) < 0)
            return AVERROR(ENOMEM);
    }
    if (only_names)
        return 0;
    const int ret = copy_first(to, from);
    for (size_t i = 0; ret >= 0 && i < sizeof(old) / sizeof(old[0]); i++)
        av_dict_set(to, old[i], NULL, 0);
    return ret;
}

void tags_drop_statistics(AVDictionary **tags)
{
    static const char *const figures[] = {"BPS", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES",
                                          "_STATISTICS_"};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        const AVDictionaryEntry *tag;
        while ((tag = av_dict_get(*tags, figures[i], NULL, AV_DICT_IGNORE_SUFFIX)))
            if (av_dict_set(tags, tag->key, NULL, 0) < 0)
                return;
    }
}

#define QUICKTIME "com.apple.quicktime."

int tags_want_keys(const AVFormatContext *to)
{
    const AVDictionaryEntry *tag = NULL;
    const bool is_mov = strcmp(to->oformat->name, "mov") == 0;
    if (!is_mov && !av_match_name(to->oformat->name, "mp4,ipod"))
        return 0;
    /* QuickTime keys replace all ordinary tags, and a cover is one of these. */
    for (unsigned i = 0; i < to->nb_streams; i++)
        if (to->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC)
            return 0;
    /* Tags such as com.android.version need QuickTime keys. Except in mov, so do make and model. */
    while ((tag = av_dict_get(to->metadata, "", tag, AV_DICT_IGNORE_SUFFIX)))
        if (av_stristart(tag->key, "com.", NULL) ||
            (!is_mov && av_match_name(tag->key, "make,model")))
            return 1;
    return 0;
}

int tags_name_for_quicktime(AVDictionary **tags)
{
    static const char *const names[] = {"title", "artist",    "album",    "author",   "comment",
                                        "genre", "copyright", "make",     "model",    "description",
                                        "year",  "keywords",  "director", "publisher"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const AVDictionaryEntry *tag = av_dict_get(*tags, names[i], NULL, 0);
        char name[64] = QUICKTIME;
        av_strlcat(name, names[i], sizeof(name));
        if (tag && av_dict_set(tags, name, tag->value, AV_DICT_DONT_OVERWRITE) < 0)
            return AVERROR(ENOMEM);
    }
    return 0;
}

static int add_chapter(AVFormatContext *to, const AVChapter *from, int64_t start, int64_t end,
                       int with_tags)
{
    AVChapter *chapter = av_mallocz(sizeof(*chapter));
    int count = (int)to->nb_chapters;
    if (!chapter)
        return AVERROR(ENOMEM);
    chapter->id = from->id;
    chapter->time_base = AV_TIME_BASE_Q;
    chapter->start = start;
    chapter->end = end;
    if (av_dynarray_add_nofree(&to->chapters, &count, chapter) < 0) {
        av_free(chapter);
        return AVERROR(ENOMEM);
    }
    to->nb_chapters = (unsigned)count;
    return with_tags ? copy_first(&chapter->metadata, from->metadata) : 0;
}

int chapters_copy(AVFormatContext *to, const AVFormatContext *from, int64_t start, int64_t end,
                  int with_tags)
{
    for (unsigned i = 0; i < from->nb_chapters; i++) {
        const AVChapter *chapter = from->chapters[i];
        int64_t begins = av_rescale_q(chapter->start, chapter->time_base, AV_TIME_BASE_Q);
        int64_t ends = chapter->end == AV_NOPTS_VALUE
                           ? begins
                           : av_rescale_q(chapter->end, chapter->time_base, AV_TIME_BASE_Q);
        if ((start != AV_NOPTS_VALUE && ends <= start) || (end != AV_NOPTS_VALUE && begins >= end))
            continue;
        if (start != AV_NOPTS_VALUE && begins < start)
            begins = start;
        if (end != AV_NOPTS_VALUE && ends > end)
            ends = end;
        const int ret = add_chapter(to, chapter, begins, ends, with_tags);
        if (ret < 0)
            return ret;
    }
    return 0;
}

void chapters_move(AVFormatContext *to, int64_t by)
{
    for (unsigned i = 0; i < to->nb_chapters; i++) {
        to->chapters[i]->start = FFMAX(to->chapters[i]->start + by, 0);
        to->chapters[i]->end = FFMAX(to->chapters[i]->end + by, 0);
    }
}
