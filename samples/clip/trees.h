// Pictures of plants, grown once from branches and drawn many times at any size.
#ifndef CLIP_TREES_H
#define CLIP_TREES_H

#include <stdbool.h>

#include "noise.h"

enum { TREE_KINDS = 12, TREE_LEVELS = 7 };
typedef enum TreeGroup { TREE_CONIFER, TREE_BROADLEAF, TREE_GRASS } TreeGroup;

// Cover (0..1) and light of one plant at falling sizes; the root stands at the bottom middle.
typedef struct TreeImage {
    int width, height;
    float *cover, *light;
} TreeImage;

typedef struct Tree {
    TreeImage level[TREE_LEVELS];
} Tree;

bool trees_prepare(void);
void trees_release(void);
// One of the four plants of a group.
const Tree *tree_of(TreeGroup group, unsigned variant);

// Cover and light at u (0..1 from the left) and v (0..1 from the top).
typedef struct TreeTexel {
    float cover, light;
} TreeTexel;
TreeTexel tree_sample(const TreeImage *image, float u, float v);

#endif
