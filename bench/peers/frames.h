/* Steps of other engines as BPMD files in our layout, with the engine's own answer.
 *
 * An engine says what its step was made of: M, nu, the free velocity and the velocity at the end of every tree of
 * coordinates, the links on it, the contacts with the impulse it found for each. Every body is stored as an articulated
 * tree, a free body too, so that M and the free velocity of the problem are the engine's own numbers and not what our
 * integrator would make of its state. At the end the file is read back, every step is assembled by our code, and
 * nu_free + M^-1 G p of the stored impulses is compared with the velocities that the engine had after its step: a
 * wrong sign, unit, frame or point shows there.
 *
 * Vectors in world axes, SI units, impulses in N s; quaternions with the real part first. */
#ifndef BENCH_PEERS_FRAMES_H
#define BENCH_PEERS_FRAMES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frames frames;

typedef struct frames_link {
    double mass, inertia[9]; /* about the centre of mass, world axes */
    double x[3], q[4];       /* centre of mass; axes */
    double v[3], w[3];       /* start of the step */
} frames_link;

typedef struct frames_contact {
    int body[2];                            /* numbers of links, -1: what does not move */
    double point[2][3], normal[3], gap, mu; /* the normal points from body[0] to body[1] */
    double recovery;                        /* speed at which the engine takes back the overlap at most [m/s] */
    double impulse[3];                      /* on body[1] */
    int apart; /* friction acts at the point of each body; else at their middle if both are on one normal */
} frames_contact;

/* One row of a joint: lower <= p <= upper, G' nu + bias = 0 between them. */
typedef struct frames_row {
    const double* J; /* over the velocities of all trees so far */
    double violation, bias, lower, upper, impulse;
} frames_row;

/* All end the program with a sentence when they fail. A file that is there is replaced. */
frames* frames_open(const char* path, const char* engine, const char* solver, const char* scene,
                    const double gravity[3]);
void frames_begin(frames* f, double time, double h);
/* The number of the tree. M: dof x dof. */
int frames_tree(frames* f, int dof, const double* M, const double* nu, const double* nu_free, const double* nu_new);
/* The number of the link. jacobian, 6 x dof: velocity of the centre of mass, angular velocity. */
int frames_add_link(frames* f, int tree, const frames_link* link, const double* jacobian);
/* A body on its own; free and end: linear, then angular velocity. */
int frames_body(frames* f, const frames_link* link, const double free[6], const double end[6]);
void frames_add_contact(frames* f, const frames_contact* contact);
/* After all trees. */
void frames_add_row(frames* f, const frames_row* row);
void frames_end(frames* f);

typedef struct frames_check {
    int frames, contacts;
    double worst; /* largest difference of a rebuilt velocity [m/s, rad/s] */
    double speed; /* largest velocity */
} frames_check;
/* Writes the file, reads it back and checks it. */
frames_check frames_close(frames* f);

#ifdef __cplusplus
}
#endif
#endif
