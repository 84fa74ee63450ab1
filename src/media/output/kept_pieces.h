/* The pieces of a recording that stay on disk: the newest ones, up to a number of bytes. One thread
 * at a time. */
#ifndef LUMEQ_MEDIA_KEPT_PIECES_H
#define LUMEQ_MEDIA_KEPT_PIECES_H

#include <stdint.h>

#include "media/error.h"

typedef struct KeptPieces KeptPieces;

/*
 * Reads which pieces earlier recordings with the same `pattern` have written, from a hidden list in
 * its folder. `limit`: bytes. `note`: prints a line, or NULL. MEDIA_OUTPUT; the caller owns the
 * result in any case.
 */
int kept_pieces_open(KeptPieces **kept, const char *pattern, int64_t limit,
                     void (*note)(const char *line), MediaError *error);

/* Adds a completed piece, then deletes the oldest others until the limit is met. Notes the names of
 * the first ones deleted, and the first failure. */
void kept_pieces_add(KeptPieces *kept, const char *path);

/* Number of deleted pieces; 0 for NULL. */
int64_t kept_pieces_deleted(const KeptPieces *kept);

void kept_pieces_close(KeptPieces **kept);

#endif
