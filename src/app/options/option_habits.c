#include "app/options/option_habits.h"

#include <string.h>

typedef struct Habit {
    const char *names; /* separated by commas; ffmpeg's may end in the number of a track (c:v:0) */
    const char *answer;
} Habit;

/* Names that are nearly those of an option here (-pix_fmt, --volume) need no answer of their own.
 */
static const Habit habits[] = {
    {"i,in,input", " is not needed: INPUT is named alone, as in lumeq in.mp4 -o out.mp4"},
    {"o", ": use -o OUTPUT"},
    {"t,duration,length", ": use --to TIME, where the part ends in the input, or --frames N"},
    {"start", ": use --ss TIME"},
    {"end", ": use --to TIME"},
    {"frames:v,vframes", ": use --frames N"},
    {"f,of", ": use --format NAME for OUTPUT; the format of INPUT is found out"},
    {"c", ": use --vcodec NAME for the picture and --acodec copy|NAME|none for the sound"},
    {"c:v,codec:v,ovc,encoder,e", ": use --vcodec NAME; --vcodec help lists the encoders"},
    {"c:a,codec:a,oac", ": use --acodec copy|NAME|none; --acodec help lists the encoders"},
    {"c:s,codec:s,scodec", ": subtitles are kept; --no-subs leaves them out"},
    {"an", ": use --acodec none"},
    {"sn", ": use --no-subs"},
    {"b,b:v,vb", ": use --bitrate N, such as 2000k"},
    {"b:a,ab", ": sound is copied, or has the usual rate of the encoder that --acodec names"},
    {"q:v,qscale,qp,cq,quality", ": use --crf X, or --vopt KEY=VALUE for one of the encoder's"},
    {"tune,profile:v,level,g,bf,maxrate,minrate,bufsize,rc,x264opts,x264-params,x265-params,"
     "svtav1-params,ovcopts",
     ": use --vopt KEY=VALUE, which takes any option of the video encoder"},
    {"vf,filter,filter_complex,lavfi",
     ": there are no filters; --mode, --strength and --clip say what is done to the picture"},
    {"af,filter:a", ": sound is not filtered"},
    {"r,fps,fps_mode,vsync", " is not needed: frames keep their times"},
    {"s,size", " is not needed: pictures keep their size"},
    {"map", ": all tracks are kept; use --video-track N, --audio-track N, --sub-track N|none"},
    {"map_metadata,metadata", ": tags are kept; --no-metadata leaves them out"},
    {"map_chapters", ": chapters are kept; --no-chapters leaves them out"},
    {"vid", ": use --video-track N"},
    {"aid", ": use --audio-track N"},
    {"sid", ": use --sub-track N|none"},
    {"force", ": use -y to replace an OUTPUT that exists"},
    {"n", " is not needed: an OUTPUT that exists is replaced with -y only"},
    {"hwaccel,gpu,cuda,cpu", ": use --backend auto|cpu|cuda"},
    {"fs", ": use --fullscreen"},
    {"loop-file,loop-playlist,stream_loop", ": use --loop"},
    {"encoders,codecs,list-encoders", ": use --vcodec help or --acodec help"},
    {"formats,muxers", ": use --format help"},
    {"loglevel,msg-level", ": use -q for errors only, -v for details"},
    {"really-quiet,silent", ": use -q"},
    {"hide_banner,nostdin,nostats", " is not needed here"},
};

/* Whether a list has the name, of which the number of a track at the end does not count. */
static int has(const char *names, const char *name, size_t n)
{
    size_t bare = n;
    while (bare > 0 && name[bare - 1] >= '0' && name[bare - 1] <= '9')
        bare--;
    if (bare < n && bare > 1 && name[bare - 1] == ':')
        n = bare - 1;
    for (size_t length; *names; names += length + (names[length] == ',')) {
        length = strcspn(names, ",");
        if (length == n && strncmp(names, name, n) == 0)
            return 1;
    }
    return 0;
}

const char *option_habit(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
        if (has(habits[i].names, name, n))
            return habits[i].answer;
    return NULL;
}
