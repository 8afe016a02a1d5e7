/* Disjoint sets: parent[i] of an element, itself for a root. The root of a set is its smallest element, so numbers made
 * from roots do not depend on the order of the unions. Paths are halved on the way (R. E. Tarjan, J. van Leeuwen 1984).
 */
#ifndef MOREAU_BASE_UNION_FIND_H
#define MOREAU_BASE_UNION_FIND_H

/* n sets of one element. */
static inline void mor_sets_begin(int* parent, int n)
{
    for (int i = 0; i < n; i++) parent[i] = i;
}

/* The smallest element of the set of i. */
static inline int mor_sets_root(int* parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void mor_sets_unite(int* parent, int a, int b)
{
    int ra = mor_sets_root(parent, a), rb = mor_sets_root(parent, b);
    if (ra < rb) parent[rb] = ra;
    else parent[ra] = rb;
}

#endif
