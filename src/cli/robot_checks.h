/* What `moreau robot` says beyond the file: loops that are asked for, and numbers that look wrong. */
#ifndef MOREAU_CLI_ROBOT_CHECKS_H
#define MOREAU_CLI_ROBOT_CHECKS_H

#include "io/json/json.h"
#include "moreau/world.h"

enum { MOR_CLI_LOOPS = 32 };

typedef struct mor_cli_loop {
    int frame[2]; /* -1: the world */
    mor_joint_kind kind;
} mor_cli_loop;

/* "a,b" or "a,b,point|weld": frames of the model, joints for the links they carry, or world. */
mor_code mor_cli_read_loop(const mor_robot_model* model, const char* text, mor_cli_loop* loop, mor_error* error);

/* How far the loops are from closed at a state, and what their equations leave free. */
typedef struct mor_cli_closure {
    double gap[MOR_CLI_LOOPS]; /* norm of each loop's equations [m, rad] */
    mor_joint_rank rank;
    double left;                /* what is left of the largest gap after closing them */
    mor_joint_rank closed_rank; /* there */
    double moved;               /* the farthest a joint moved for it */
} mor_cli_closure;

mor_code mor_cli_close_loops(mor_robot_model* model, const mor_pose* base, const double* s, const mor_cli_loop* loops,
                             int count, mor_cli_closure* out, mor_error* error);
void mor_cli_print_loops(const mor_robot_model* model, const mor_cli_loop* loops, int count, const mor_cli_closure* c);
void mor_cli_write_loops(mor_json* json, const mor_robot_model* model, const mor_cli_loop* loops, int count,
                         const mor_cli_closure* c);

/* The model of one tree of an MJCF file (NULL: the first), with one owner. Other trees are told in the notes. */
mor_robot_model* mor_cli_mjcf_tree(const char* path, const char* tree, bool shapes, char* notes, size_t size,
                                   mor_error* error);

/* One line for each part whose mass or inertia looks wrong; the number of lines. */
int mor_cli_print_checks(const mor_robot_model* model);

#endif
