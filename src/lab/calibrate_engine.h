/* Other simulators as methods of a calibration (calibrate_engine.c). */
#ifndef MOR_LAB_CALIBRATE_ENGINE_H
#define MOR_LAB_CALIBRATE_ENGINE_H

#include "io/scene/yaml_node.h"
#include "lab/calibrate.h"

enum { MOR_CAL_ENGINE_VALUES = MOR_CAL_PARAMETERS * MOR_CAL_PATHS };

/* engine.NAME: a value of the engine, not of the scene. */
bool mor_cal_is_engine_path(const char* path);
/* The values of the engine's paths with the values x of the method's parameters; their number. */
int mor_cal_engine_values(const mor_calibration* c, int method, const double* x, mor_engine_value* values);
/* A method without an engine must not have parameters that only an engine knows. */
mor_code mor_cal_check_engine_paths(const mor_calibration* c, const mor_cal_method* m, const mor_node* at,
                                    mor_error* error);

#endif
