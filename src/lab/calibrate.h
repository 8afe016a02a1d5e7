/* Calibration: parameters of a scene such that its motion fits measured motion (docs/calibrate.md).
 *
 *     mor_error error = { 0 };
 *     mor_calibration c;
 *     mor_code code = mor_calibration_read(&c, "plan.yaml", NULL, NULL, &error);
 *     if (!code) code = mor_calibration_run(&c, 2, NULL, false, NULL, NULL, &error);
 *     if (!code) mor_calibration_write_json(&c, stdout);
 *     mor_calibration_free(&c);
 *
 * A run is one measured motion. An evaluation simulates every run with one set of parameters; its numbers depend on
 * the parameters alone, not on the number of threads or on what was evaluated before. */
#ifndef MOR_LAB_CALIBRATE_H
#define MOR_LAB_CALIBRATE_H

#include <stdio.h>

#include "lab/measured.h"
#include "moreau/lab.h"
#include "moreau/scene.h"

enum {
    MOR_CAL_PARAMETERS = 16,
    MOR_CAL_PATHS = 8,
    MOR_CAL_METHODS = 64,
    MOR_CAL_QUANTITIES = 32,
    MOR_CAL_SETS = 24,
    MOR_CAL_SPLITS = 100,
    MOR_CAL_HORIZONS = 8,
    MOR_CAL_PARTS = 40
};

typedef enum mor_cal_kind {
    MOR_CAL_POSITION, /* of the body's frame */
    MOR_CAL_QUATERNION,
    MOR_CAL_ANGLE,    /* 2-D */
    MOR_CAL_VELOCITY, /* of the point whose position is measured, the origin of the body's frame */
    MOR_CAL_ANGULAR_VELOCITY
} mor_cal_kind;

/* What some columns of the table mean. */
typedef struct mor_cal_quantity {
    char body[64];
    mor_cal_kind kind;
    int columns[4], count;
    bool body_frame; /* velocities in axes of the body */
    double scale;    /* number in the table times this: SI */
} mor_cal_quantity;

typedef struct mor_cal_parameter {
    char name[160]; /* the first path, or `name` */
    char paths[MOR_CAL_PATHS][160];
    double factors[MOR_CAL_PATHS]; /* what each path gets: the value times this */
    int path_count;
    double low, high, start;
    bool logarithmic;            /* searched on a logarithmic scale */
    double step;                 /* of the grid; 0: eleven points */
    const struct mor_node* node; /* its place in the plan, while that is read */
    bool tried;                  /* the ends of its range were shown to the scene */
} mor_cal_parameter;

typedef struct mor_cal_method {
    char name[128];
    char sets[MOR_CAL_SETS][200]; /* overrides of the scene */
    int set_count;
    int parameters[MOR_CAL_PARAMETERS], parameter_count; /* indices in the calibration's list */
    mor_engine_function engine;                          /* another simulator steps the runs; NULL: Moreau */
} mor_cal_method;

typedef struct mor_cal_run {
    char name[40];
    int first, count; /* rows */
    bool train;       /* in the split that is looked at */
    int flight;       /* samples before the first contact, with the start values of the first method */
} mor_cal_run;

typedef enum mor_cal_error { MOR_CAL_POSE, MOR_CAL_EQ18, MOR_CAL_WARP } mor_cal_error;

/* One run of one evaluation. */
typedef struct mor_cal_score {
    double error;    /* what is minimised; NaN: the run failed */
    double position; /* mean distance [m] */
    double rotation; /* mean angle [rad] */
    double last;     /* distance at the last sample [m] */
} mor_cal_score;

typedef struct mor_cal_point {
    int split, method, horizon;   /* horizon: after_contact when it was simulated */
    double x[MOR_CAL_PARAMETERS]; /* values, in the method's order */
    mor_cal_score* scores;        /* run_count; NaN errors where a set did not ask for the run */
    bool test;                    /* runs of the test set are there too */
    bool counted;                 /* among the evaluations of its method */
    double time_s;                /* CPU seconds that it took */
} mor_cal_point;

typedef struct mor_cal_interval {
    double low, high;             /* all values of the fit lie in theirs at once: 95 % */
    double alone_low, alone_high; /* this one does, whatever the others do: 95 % */
    bool identifiable, at_bound, moved;
    bool judged;                             /* an interval was asked for and found; else low and high are the range */
    char why[200];                           /* if it is not identifiable */
    double profile_x[16], profile_error[16]; /* others fitted again */
    int profile_count;
} mor_cal_interval;

typedef struct mor_cal_result {
    bool done;
    bool used_up; /* the search that found x had no evaluations left before it came to its end */
    double x[MOR_CAL_PARAMETERS];
    mor_cal_interval intervals[MOR_CAL_PARAMETERS];
    double correlation[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS];
    double train[3], test[3];            /* error, position [m], rotation [rad]: means over runs */
    double test_low[3], test_high[3];    /* 95 %, runs drawn again */
    double start_train, start_test;      /* error with the start values */
    double ratio, ratio_low, ratio_high; /* test error to that of the first method, paired */
    int evaluations, failures;           /* points that were asked for; runs of the best point that failed */
    double time_s;                       /* CPU seconds of their simulation, of all sessions */
    mor_cal_score* scores;               /* run_count, at x */
    double curve[3 * MOR_CAL_PARTS];     /* time, distance, angle (mor_cal_curve) */
} mor_cal_result;

/* A method over all splits: every run counts with its mean over the splits in which it is held out. */
typedef struct mor_cal_summary {
    int splits;                                   /* that are done; the numbers below need all of them */
    double test[3];                               /* error, position [m], rotation [rad] */
    double low[3], high[3];                       /* 95 %, runs drawn again */
    double least[3], most[3];                     /* of the splits */
    double median, ninth;                         /* of the runs' positions: half and nine tenths are below [m] */
    double ratio[3], ratio_low[3], ratio_high[3]; /* to the first method, paired */
} mor_cal_summary;

typedef struct mor_calibration {
    char plan[1024], scene[1024];
    const mor_library* library;
    mor_measured data;
    int time_column, run_column; /* run_column -1: one run */
    int dimension;
    mor_cal_quantity measured[MOR_CAL_QUANTITIES], initial[MOR_CAL_QUANTITIES];
    int measured_count, initial_count;
    bool fit_initial; /* initial states fitted over the flight */
    mor_cal_parameter parameters[4 * MOR_CAL_PARAMETERS];
    int parameter_count;
    mor_cal_method methods[MOR_CAL_METHODS];
    int method_count;
    mor_cal_run* runs;
    int run_count;
    mor_cal_error error;
    double rotation_weight, window; /* m per rad; s of time warping */
    double until;                   /* s, samples later do not count */
    int after_contact;              /* only so many samples after the flight count; 0: all samples */
    char optimiser[32];
    int starts, evaluations, bootstrap, profile;
    int scan;                                      /* points that are evaluated first; the best of them are starts */
    int horizons[MOR_CAL_HORIZONS], horizon_count; /* values of after_contact that are fitted first, in order */
    double seed, tolerance;
    uint64_t condition;       /* hash of plan, scene and data */
    char notes[1200];         /* what is odd about plan and data, a line each; "": nothing */
    char contact_place[1100]; /* file:line:column of after_contact or horizons */
    char refusal[400];        /* why the scene did not take some values that were tried; "": it took all */
    mor_cal_point** points;
    int point_count, point_capacity;
    int split, split_count;     /* the one that is looked at */
    bool* trains;               /* split_count x run_count */
    mor_cal_result* all;        /* split_count x MOR_CAL_METHODS */
    mor_cal_result* results;    /* of the split that is looked at */
    mor_cal_summary* summaries; /* MOR_CAL_METHODS, after a run */
    int jobs;
    int shard, shards;         /* set before a run: only every shards-th fit, from the shard-th (from 1); 0: all */
    const char* const* merged; /* set before a run: journals of shards in which all evaluations must be */
    int merged_count;
} mor_calibration;

/* Where a scene is that is not beside the plan. Returns `path`. */
typedef const char* (*mor_cal_find_scene)(const char* name, char* path, size_t size);
/* calibrate_plan.c: reads plan, data and scene. Complaints have file:line:column. `find` may be NULL. */
MOR_API mor_code mor_calibration_read(mor_calibration* c, const char* plan, const mor_library* library,
                                      mor_cal_find_scene find, mor_error* error);
MOR_API void mor_calibration_free(mor_calibration* c);

/* Told after every evaluation; returning false stops. */
typedef bool (*mor_cal_progress)(void* user, const mor_calibration* c, int method, int evaluations, double best);
/* Every method: fit, intervals, test errors. `journal` (may be NULL) keeps every evaluation; with `resume` those in it
 * are not simulated again. MOR_STOPPED when progress said so. */
MOR_API mor_code mor_calibration_run(mor_calibration* c, int jobs, const char* journal, bool resume,
                                     mor_cal_progress progress, void* user, mor_error* error);

/* calibrate_splits.c: which runs train in every split, and room for its results. */
mor_code mor_cal_make_splits(mor_calibration* c, int count, mor_error* error);
/* Looks at a split: `train` of the runs and `results`. */
MOR_API void mor_cal_use_split(mor_calibration* c, int split);
/* Is the fit of this split and method one of this shard's? */
bool mor_cal_own(const mor_calibration* c, int split, int method);
/* The methods over all splits. */
void mor_cal_summarise(mor_calibration* c);

/* calibrate_evaluate.c: the scores of runs (those of the test set too if `test`) with the values x of a method. */
mor_code mor_cal_simulate(mor_calibration* c, int method, const double* x, bool test, mor_cal_score* scores,
                          double* time_s, mor_error* error);
/* calibrate_check.c: after_contact and horizons need runs that touch something. After mor_cal_find_flights. */
mor_code mor_cal_check_contacts(mor_calibration* c, mor_error* error);
/* After a run: notes a fit that is hardly better than a body that does not move. */
void mor_cal_check_still(mor_calibration* c);
/* Samples before the first contact of every run. */
mor_code mor_cal_find_flights(mor_calibration* c, mor_error* error);
/* With the values x: time, mean distance and mean angle of all runs over equal parts of the time, 3 numbers each (NaN:
 * no sample). */
mor_code mor_cal_curve(mor_calibration* c, int method, const double* x, double* curve, mor_error* error);

/* calibrate_initial.c: the state of every measured body at the first row of a run, fitted over its flight if asked. */
mor_code mor_cal_set_initial(const mor_calibration* c, const mor_scene* scene, mor_world* world, int run,
                             mor_error* error);
/* The measured pose of a body at a row; false: missing. Fills what is measured of it. */
typedef struct mor_cal_pose {
    mor_vec3 x;
    mor_quat q;
    bool has_x, has_q;
} mor_cal_pose;
mor_cal_pose mor_cal_measured(const mor_calibration* c, const char* body, int row);
/* The numbers of a quantity at a row, in SI; *complete false: some are missing. */
mor_vec3 mor_cal_numbers(const mor_calibration* c, const mor_cal_quantity* q, int row, bool* complete);
/* Rotation vector from a to b, world axes. */
mor_vec3 mor_cal_turn(mor_quat a, mor_quat b);
double mor_cal_time(const mor_calibration* c, const mor_cal_run* run, int sample);

/* optimiser.c: minimises `cost` in the unit cube from z, which becomes the best point. `grid`: points along each side,
 * for the optimiser of that name. */
typedef double (*mor_cal_cost)(void* user, const double* z);
/* calibrate_starts.c: at most `wanted` points of the unit cube (starts: that many x the method's parameters). */
mor_code mor_cal_make_starts(const mor_calibration* c, int method, int wanted, mor_cal_cost cost, void* user,
                             volatile bool* stop, double* starts, int* count, mor_error* error);
/* calibrate_gradient.c: the same by Gauss, Newton, Levenberg and Marquardt with slopes through contact. */
mor_code mor_cal_gradient(mor_calibration* c, int method, double* z, mor_cal_cost cost, void* user, int evaluations,
                          volatile bool* stop, double* best, mor_error* error);
typedef struct mor_optimiser {
    const char* name;
    const char* summary;
} mor_optimiser;
/* i-th optimiser, NULL past the end. */
const mor_optimiser* mor_optimiser_at(int i);
mor_code mor_optimise(const char* name, int n, const int* grid, double* z, mor_cal_cost cost, void* user,
                      int evaluations, double tol, double first_step, unsigned long seed, volatile bool* stop,
                      double* best, mor_error* error);

/* calibrate_journal.c */
typedef struct mor_cal_journal mor_cal_journal;
/* The evaluations of the journal of a shard. */
mor_code mor_cal_journal_take(mor_calibration* c, const char* path, mor_error* error);
mor_cal_journal* mor_cal_journal_open(mor_calibration* c, const char* path, bool resume, mor_error* error);
mor_code mor_cal_journal_add(mor_cal_journal* journal, const mor_calibration* c, const mor_cal_point* point,
                             mor_error* error);
mor_code mor_cal_journal_close(mor_cal_journal* journal, mor_error* error);
/* A point that is kept for good; NULL: out of memory. */
mor_cal_point* mor_cal_keep(mor_calibration* c, int method, const double* x, bool test);

/* calibrate_intervals.c: the point at x (kept, simulated when needed). NULL: failed or stopped. */
typedef const mor_cal_point* (*mor_cal_ask)(void* user, int method, const double* x, bool test);
mor_code mor_cal_intervals(mor_calibration* c, int method, mor_cal_ask ask, void* user, mor_error* error);
/* Means over the runs of a set: error, position, rotation; NaN errors are counted and left out. */
int mor_cal_mean(const mor_calibration* c, const mor_cal_score* scores, bool train, double mean[3]);
void mor_cal_compare(mor_calibration* c);
double mor_cal_to_unit(const mor_cal_parameter* p, double x);
double mor_cal_from_unit(const mor_cal_parameter* p, double z);

/* calibrate_audit.c: what the data say of themselves before anything is fitted. */
enum { MOR_CAL_FINDINGS = 12 };
typedef struct mor_cal_audit {
    char body[64];
    int runs, samples;                     /* that fly for at least five samples; their samples */
    double gravity[3], gravity_error[3];   /* of the flights, in the data's lengths [m/s^2] */
    double com[3], com_error[3];           /* centre of mass from the flights, in the frame that is measured [m] */
    double scene_gravity[3], scene_com[3]; /* what the scene says */
    double noise;                          /* rms of position about the fitted flights [m] */
    double velocity[3];                    /* rms of the columns less backward, forward, central differences [m/s] */
    double velocity_scale;                 /* of the columns to those differences; NaN: there are no columns */
    double spin[2];                        /* rms of the columns less turns per time, in world and body axes [rad/s] */
    double spin_scale;
    double rest_gap; /* median at the last samples: to what the body lies on [m]; NaN: it touches nothing */
    int finding_count;
    char findings[MOR_CAL_FINDINGS][240]; /* what does not fit, and what to do */
} mor_cal_audit;
/* Looks at the measured bodies of a plan that was read: at most `most`, returns how many through *count. */
MOR_API mor_code mor_calibration_audit(mor_calibration* c, mor_cal_audit* audits, int most, int* count,
                                       mor_error* error);
MOR_API void mor_cal_audit_print(const mor_cal_audit* audit, FILE* out);
MOR_API void mor_cal_audit_json(const mor_cal_audit* audits, int count, FILE* out);

/* calibrate_output.c, calibrate_page.c */
MOR_API void mor_calibration_write_json(const mor_calibration* c, FILE* out);
MOR_API void mor_calibration_write_csv(const mor_calibration* c, FILE* out);
MOR_API void mor_calibration_write_html(const mor_calibration* c, FILE* out);

#endif
