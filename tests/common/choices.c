/* See choices.h. A plane is open when it was at the start of the step, s_k >= -tol, and stays so at the end: s_k(h;
 * nu+) > 0 by the linear model of the step and, since pairs that turn far are held by rows of the trial state, max_k
 * s_k > 0 by the true geometry where the bodies are after it. */
#include "common/choices.h"
#include "common/worlds.h"
#include "formulation/peg_planes.h"
#include "model/step.h"

#include <math.h>

/* Largest s_k of a pair where the bodies are now. */
static double separation(const mor_world* w, const mor_contact* c)
{
    const mor_body *a = &w->bodies[w->order[c->body[0]]], *b = &w->bodies[w->order[c->body[1]]];
    mor_pose pa = mor_body_shape_pose(a, c->shape[0]), pb = mor_body_shape_pose(b, c->shape[1]);
    mor_feature_query q = { .window = HUGE_VAL, .motion = HUGE_VAL, .held = MOR_NO_PLANE };
    uint32_t cache[4] = { 0 };
    mor_feature_set set;
    const mor_geometry *ga = a->shapes[c->shape[0]].geometry, *gb = b->shapes[c->shape[1]].geometry;
    mor_features_pair(ga, &pa, gb, &pb, mor_features_piece_of(ga, gb, (uint32_t)(c->feature >> 32)), &q, cache, &set);
    return set.separation;
}

void test_choices(const mor_world* w, test_choice_report* report)
{
    const mor_contact* contacts = w->contacts.data;
    mor_arena* arena = mor_arena_create(&w->allocator);
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_island* island = &w->last->islands[i];
        const mor_system* s = &island->system;
        mor_peg peg;
        assert_true(mor_peg_build(s, arena, &peg));
        mor_peg_speeds(&peg, island->answer.nu);
        for (int a = 0; a < peg.plane_count; a++) {
            const mor_peg_plane* p = &peg.planes[a];
            const mor_peg_group* g = &peg.groups[p->group];
            double push = 0.0; /* as a velocity */
            for (int c = p->first; c < p->first + p->count; c++) {
                int block = s->contacts[c].block;
                push =
                    fmax(push, island->answer.impulses[s->blocks[block].row] * s->diagonal[s->diagonal_start[block]]);
            }
            if (!(push > 1e-9)) continue;
            report->pushing++;
            int open = 0;
            double own = fmax(mor_peg_end_gap(&peg, p), 0.0); /* a pair that bounces leaves by all its planes */
            for (int c = p->first; c < p->first + p->count; c++) assert_true(island->answer.held[c]);
            for (int b = g->first; b < g->first + g->count; b++) {
                if (b == a || !(peg.planes[b].s >= -g->tol)) continue;
                open++;
                double size = 1e9 * g->tol, gap = mor_peg_end_gap(&peg, &peg.planes[b]) - own;
                if (gap > 1e-9 * size) gap = fmin(gap, separation(w, &contacts[s->contacts[p->first].contact]));
                report->worst = fmax(report->worst, gap / size);
            }
            report->choices += open > 0;
        }
    }
    mor_arena_destroy(arena);
}
