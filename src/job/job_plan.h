/* The plan of a film that is written in parts: the input, the options, and the frames of each part.
 * It is stored in the text file OUTPUT.lumeq/plan. */
#ifndef LUMEQ_JOB_JOB_PLAN_H
#define LUMEQ_JOB_JOB_PLAN_H

#include <limits.h>
#include <stdint.h>

#include "media/error.h"
#include "media/text_list.h"
#include "run/run_frame.h"

#define JOB_PLAN_VERSION 15 /* version of the plan and of the files of parts */

#define JOB_MAX_PARTS 99999 /* file names of parts have five digits */

typedef struct JobPart {
    int64_t first, frames; /* index of its first frame; number of frames; both 0 until measured */
    /* The part's frames have times of at least begin_pts and less than end_pts, in the track's time
     * base. The first begin_pts is INT64_MIN; the last end_pts may be INT64_MAX. */
    int64_t begin_pts, end_pts;
    int64_t seek_us;    /* where decoding starts, before the first frame; see InputSpan.seek_us */
    int64_t before_pts; /* time of the previous part's last frame; 0 in the first part */
    int64_t curves;     /* checksum of the index of `curves-K`, the file of curves */
} JobPart;              /* int64_t only: a line of the plan has these members in this order */

typedef struct JobPlan {
    char *folder;         /* OUTPUT.lumeq */
    uint32_t mark;        /* checksum of the plan's text; `measured-K` and `part-K` store it, too */
    int ready;            /* 0: the parts must be measured; 1: they can be encoded */
    char *program;        /* version of lumeq and its libraries */
    char *input, *output; /* paths */
    char *rows;           /* path of --stats, or NULL */
    /* Size and modification time of the input. No inode, because machines may have copies. */
    int64_t input_size, input_ns;
    TextList arguments; /* see option_arguments() */
    char *asked;        /* --parts or --part-seconds with its value, or NULL */
    int encoder_threads;
    int decoder_threads; /* same in all steps, because concealment of damage may depend on it */
    int depth;           /* 8-bit frames are converted to this depth; 0: they stay 8-bit */
    int codes[2];        /* first and last code of the range to stretch; 0 0: none */
    int64_t zero;        /* see input_zero() */
    AVRational time_base;
    int64_t frames; /* an estimate until `ready`, like length_us */
    int64_t length_us;
    int64_t film_end; /* see InputOptions.film_end */
    char *damage;     /* the sentence about damage in the input, or NULL */
    char *picture;    /* the line about the change to the picture, or NULL */
    JobPart *parts;
    int part_count;
    int jobs;             /* parts that --jobs makes at once; 0: the plan is from `lumeq plan` */
    int64_t wanted_parts; /* number of parts requested; parts from part_count on are empty */
} JobPlan;

/* A path; "" if it is too long. */
typedef struct JobPath {
    char text[PATH_MAX];
} JobPath;

/* The path of a file in the folder of a job. `name`: a format of printf(). */
JobPath job_path(const char *folder, const char *name, ...) __attribute__((format(printf, 2, 3)));

/* The path of a file of a part, such as "FOLDER/WHAT-00001ENDING". */
JobPath job_part_path(const char *folder, const char *what, int part, const char *ending);

/* OUTPUT.lumeq */
JobPath job_folder(const char *output);

/* Stores the input's size and modification time in the plan. MEDIA_INPUT. */
int job_input_record(JobPlan *plan, MediaError *error);

/* Returns MEDIA_INPUT unless the input is a file of the planned size and time. */
int job_input_check(const JobPlan *plan, MediaError *error);

/* Fills in a zeroed plan from its file. Fails if the plan's `program` is another one, or the file
 * is not in the folder of its output. MEDIA_INPUT, MEDIA_OUTPUT. Always free the plan. */
int job_plan_read(JobPlan *plan, const char *path, const char *program, MediaError *error);

/* Writes the plan to its folder, and sets its mark. MEDIA_OUTPUT. */
int job_plan_write(JobPlan *plan, MediaError *error);

/* Adds a zeroed part. NULL: out of memory. */
JobPart *job_plan_add_part(JobPlan *plan);

void job_plan_free(JobPlan *plan);

/* ---- job folder ---- */

/* File with made_print()'s text (app/made.h), written just before the film gets its final name. */
#define JOB_JOINING "joining"

/* Returns 0 if the folder may be used or does not exist, else MEDIA_OUTPUT. */
int job_folder_check(const char *folder, MediaError *error);

/* Makes the folder if it does not exist, else checks it. MEDIA_OUTPUT. */
int job_folder_make(const char *folder, MediaError *error);

/* Removes a job's regular files, including temporary ones, and then the folder if it is empty. The
 * plan and JOB_JOINING go last, so that a join that is killed meanwhile can be repeated. */
void job_folder_clear(const char *folder);

#endif
