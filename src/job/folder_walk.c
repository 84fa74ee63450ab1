#include "job/folder_walk.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "media/text_list.h"

/* The suffix of job folders, which hold no films. */
#define JOB_FOLDER ".lumeq"

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strverscmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_skipped(const FolderWalk *w, const FTSENT *e)
{
    struct stat link;
    const size_t n = e->fts_namelen, m = strlen(JOB_FOLDER);
    return e->fts_name[0] == '.' || !w->recursive ||
           (n > m && strcmp(e->fts_name + n - m, JOB_FOLDER) == 0) ||
           lstat(e->fts_accpath, &link) < 0 || S_ISLNK(link.st_mode) ||
           (w->skips && w->skips(w->opaque, e->fts_path, e->fts_statp));
}

/* Calls the callback for a file or for a folder that cannot be read. */
static int take_entry(const FolderWalk *w, const FTSENT *e, size_t root)
{
    const int is_file = e->fts_info == FTS_F || e->fts_info == FTS_DEFAULT;
    if (!is_file && e->fts_info != FTS_DNR && e->fts_level)
        return 0; /* the entry was removed meanwhile, or is a dangling link */
    if (is_file ? e->fts_name[0] == '.' : !w->unreadable)
        return 0;
    const size_t length =
        !e->fts_level ? 0 : e->fts_pathlen - root - (is_file ? e->fts_namelen : 0);
    char *below = text_print("%.*s%s", (int)length, length ? e->fts_path + root : "",
                             is_file || !e->fts_level ? "" : "/");
    if (!below)
        return media_no_memory(w->error, MEDIA_INPUT);
    const int ret = is_file ? w->file(w->opaque, e->fts_path, below, e->fts_statp)
                            : w->unreadable(w->opaque, e->fts_path, below, e->fts_errno);
    free(below);
    return ret;
}

int folder_walk(const FolderWalk *w, const char *folder)
{
    char *const folders[] = {(char *)folder, NULL};
    const size_t n = strlen(folder), root = n && folder[n - 1] == '/' ? n : n + 1;
    FTS *fts = fts_open(folders, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    FTSENT *e = NULL;
    int ret = 0;
    while (fts && ret >= 0 && (e = fts_read(fts))) {
        if (e->fts_info == FTS_D && e->fts_level && is_skipped(w, e))
            (void)fts_set(fts, e, FTS_SKIP);
        else if (e->fts_info != FTS_D && e->fts_info != FTS_DP)
            ret = take_entry(w, e, root);
    }
    if (ret >= 0 && errno && !e)
        ret = media_no_memory(w->error, MEDIA_INPUT);
    if (fts)
        (void)fts_close(fts);
    return ret;
}
