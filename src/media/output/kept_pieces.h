/* The pieces of a recording that stay on disk: the newest ones, up to a number of bytes. One thread
 * at a time. */
#ifndef LUMEQ_MEDIA_KEPT_PIECES_H
#define LUMEQ_MEDIA_KEPT_PIECES_H

#include <stdint.h>

#include "media/error.h"

typedef struct KeptPieces KeptPieces;

/*
 * Lists the pieces of earlier recordings, oldest first: the regular files in the folder of
 * `pattern` whose names its strftime() conversions give for some time, also with a number as in
 * NAME-2.EXT. To be called before the first piece is written. `limit`: bytes. MEDIA_OUTPUT; the
 * caller owns the result in any case.
 */
int kept_pieces_open(KeptPieces **kept, const char *pattern, int64_t limit, MediaError *error);

/* Adds a completed piece, then deletes the oldest others until the limit is met. Returns 0 or an
 * errno; then `failed` is the first piece that was not deleted, until the next call. */
int kept_pieces_add(KeptPieces *kept, const char *path, int64_t bytes, const char **failed);

/* Number of deleted pieces; 0 for NULL. */
int64_t kept_pieces_deleted(const KeptPieces *kept);

void kept_pieces_close(KeptPieces **kept);

#endif
