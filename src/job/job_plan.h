/*
 * The plan of a film that is written in parts: what is read, what is asked for, and which frames
 * each part has. It lies in OUTPUT.lumeq/, as the text `plan` and the file `curves` beside it.
 */
#ifndef LUMEQ_JOB_JOB_PLAN_H
#define LUMEQ_JOB_JOB_PLAN_H

#include <stdint.h>
#include <sys/stat.h>

#include "media/error.h"
#include "media/message.h"
#include "media/text_list.h"

#define JOB_PLAN_VERSION 9

/* Frames before a part that are decoded with it: those that its first frame is filtered by, those
 * by which they are made of fields, and one to spare. */
#define JOB_LEAD 6

/* Limits of the numbers in the files of a job, which may have been edited. Times in us, and in the
 * time base of a track, are far from where the sum of two overflows. */
#define JOB_MOST_US (INT64_C(1) << 60)
#define JOB_MOST_PTS (INT64_C(1) << 61)
#define JOB_MOST_COUNT (INT64_C(1) << 40) /* frames and bytes */
#define JOB_MOST_PARTS 99999              /* file names of parts have five digits */

static inline int job_is_within(int64_t number, int64_t least, int64_t most)
{
    return number >= least && number <= most;
}

/* The file that is read, so that it is known again. */
typedef struct JobInput {
    int64_t size, modified_ns;
    int64_t head, tail; /* checksums of its first and last MiB */
} JobInput;

/* Identity of a file; {0} if it does not exist. Without the device, whose number depends on the
 * machine. */
typedef struct JobFile {
    int64_t inode, size, modified_ns;
} JobFile;

typedef struct JobPart {
    int64_t first, frames; /* number of the first, how many; 0 where it is not measured */
    /* Its frames' times: from, and up to the next part's; in the track's time base. INT64_MIN and
     * INT64_MAX in the first and the last part. */
    int64_t begin_pts, end_pts;
    int64_t seek_us;    /* as ReaderSpan.seek_us, so that what comes before it is intact */
    int64_t before_pts; /* of the frame before the first one */
    /* The marks of that and of the one before it; 0 where there is none, or it is not known. */
    int64_t before[2];
    int64_t position, size, sum; /* its block in the file of curves, and the block's checksum */
} JobPart; /* int64_t only: its line in the plan has these numbers in this order */

typedef struct JobPlan {
    char *folder;         /* OUTPUT.lumeq */
    uint32_t mark;        /* of the text; parts carry it */
    int ready;            /* there are curves; 0: its parts are to be measured */
    char *program;        /* that planned it, and its libraries */
    char *input, *output; /* paths */
    char *rows, *report;  /* those of --stats and --report, or NULL */
    JobFile before;       /* the output when the job began */
    int64_t written_ns;   /* when the plan was, by its file */
    JobInput identity;
    TextList arguments; /* the options, as they stand on a command line */
    char *asked;        /* the option that set the parts, or NULL */
    char *encoder;
    char *encoder_version; /* as encoder_version_find() has it, or NULL */
    int encoder_threads;
    int decoder_threads; /* what damaged pictures become may depend on them */
    int depth;           /* that frames of 8 bits are brought to; 0: they are not */
    int codes[2];        /* the CodeWindow that the film is stretched from; 0 0: it is not */
    int64_t zero;        /* see reader_zero() */
    AVRational time_base;
    int64_t frames;
    int64_t length_us; /* of all of them */
    int64_t film_end;  /* as ReaderOptions.film_end */
    char *damage;      /* what is known to be lost of the input, or NULL */
    char *picture;     /* the line about the change to the picture, or NULL */
    JobPart *parts;
    int part_count;
    int64_t
        wanted_parts; /* numbers that have been given out: from part_count on there is nothing */
} JobPlan;

/* Paths in the folder; to be freed with free(). NULL: out of memory. */
char *job_path(const char *folder, const char *name);
char *job_part_path(const char *folder, const char *what, int part);

/* A part's file that only this plan has: "WHAT-00001-0123abcdENDING". */
char *job_own_path(const JobPlan *plan, const char *what, int part, const char *ending);

/* The folder of a job: OUTPUT.lumeq. NULL: out of memory. */
char *job_folder(const char *output);

JobFile job_file_of(const struct stat *file);
JobFile job_file_look(const char *path);
int job_file_is_same(const JobFile *a, const JobFile *b);

/* MEDIA_INPUT. */
int job_input_look(JobInput *input, const char *path, MediaError *error);

/* MEDIA_INPUT where the file at `path` is not the one that was planned. */
int job_input_check(const JobPlan *plan, MediaError *error);

/* Fills in a zeroed plan from its text at `path`, which somebody may have edited: its numbers are
 * within their limits afterwards, and the folder that it lies in is that of its output. `program`
 * has to be what it was planned with. -ENOENT: there is none. MEDIA_INPUT, MEDIA_OUTPUT. The plan
 * is to be freed in any case. */
int job_plan_read(JobPlan *plan, const char *path, const char *program, MediaError *error);

/* Writes it to its folder, and notes its mark. MEDIA_OUTPUT. */
int job_plan_write(JobPlan *plan, MediaError *error);

/* Adds a part, zeroed. NULL: out of memory. */
JobPart *job_plan_add_part(JobPlan *plan);

void job_plan_free(JobPlan *plan);

#endif
