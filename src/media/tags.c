#include "media/tags.h"

#include <libavutil/avstring.h>

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
    const int ret = av_dict_copy(to, from, 0);
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

int tags_are_quicktime(const AVDictionary *tags)
{
    return av_dict_get(tags, "com.apple.quicktime.", NULL, AV_DICT_IGNORE_SUFFIX) ||
           av_dict_get(tags, "com.android.", NULL, AV_DICT_IGNORE_SUFFIX);
}

static int add_chapter(AVFormatContext *to, const AVChapter *from, int64_t start, int64_t end,
                       int with_tags)
{
    AVChapter *chapter = av_mallocz(sizeof(*chapter));
    unsigned count = to->nb_chapters;
    if (!chapter)
        return AVERROR(ENOMEM);
    chapter->id = from->id;
    chapter->time_base = AV_TIME_BASE_Q;
    chapter->start = start;
    chapter->end = end;
    AVChapter **list = av_realloc_array(to->chapters, count + 1, sizeof(*list));
    if (!list) {
        av_free(chapter);
        return AVERROR(ENOMEM);
    }
    to->chapters = list;
    to->chapters[count] = chapter;
    to->nb_chapters = count + 1;
    return with_tags ? av_dict_copy(&chapter->metadata, from->metadata, 0) : 0;
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

int chapters_fit(const AVOutputFormat *muxer)
{
    return av_match_name(muxer->name, "mp4,mov,ipod,matroska,webm,ogg,ogv,oga,nut,asf") != 0;
}
