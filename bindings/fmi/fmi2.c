/* The functions of FMI 2.0 for co-simulation, over fmi/unit.h. Types and names as the standard defines them (FMI 2.0.4,
 * sections 2.1 and 4.2); written from its text.
 *
 * Order of calls: Instantiate, SetupExperiment, EnterInitializationMode, ExitInitializationMode, DoStep ..., Terminate,
 * FreeInstance. A call that is not allowed now returns fmi2Error and says so through the logger. */
#include "fmi/unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FMI MOR_API

typedef void* fmi2Component;
typedef void* fmi2ComponentEnvironment;
typedef void* fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char* fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void* (*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void*);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef enum phase { INSTANTIATED = 1, INITIALISING = 2, STEPPING = 4, TERMINATED = 8, FAILED = 16 } phase;
enum { ALIVE = INSTANTIATED | INITIALISING | STEPPING | TERMINATED };

typedef struct instance {
    mor_fmu* unit;
    fmi2CallbackFunctions host;
    char* name;
    phase phase;
    double last; /* time that was reached */
    double stop; /* stop time, if it was given */
    bool has_stop;
} instance;

/* What an FMU state points to. */
typedef struct state {
    size_t size;
    phase phase;
    double last;
    char bytes[];
} state;

static fmi2Status complain(const instance* c, fmi2Status status, const char* text)
{
    if (c->host.logger) c->host.logger(c->host.componentEnvironment, c->name, status, "logStatusError", "%s", text);
    return status;
}

static fmi2Status fail(const instance* c, const mor_error* error)
{
    return complain(c, error->code == MOR_STOPPED ? fmi2Discard : fmi2Error, error->text);
}

/* May the function be called now? */
static bool allowed(const instance* c, int phases, const char* function)
{
    if (!c) return false;
    if (c->phase & phases) return true;
    char text[160];
    snprintf(text, sizeof text, "%s is not allowed now: the order of calls is that of the standard", function);
    complain(c, fmi2Error, text);
    return false;
}

FMI const char* fmi2GetTypesPlatform(void);
FMI const char* fmi2GetTypesPlatform(void) { return "default"; }
FMI const char* fmi2GetVersion(void);
FMI const char* fmi2GetVersion(void) { return "2.0"; }

FMI fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]);
FMI fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)on, (void)n, (void)categories; /* only errors are told, and these always */
    return c ? fmi2OK : fmi2Error;
}

/* ------------------------------------------------------------------------------ life of a unit */

FMI fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                  const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean logging);
FMI fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                  const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)visible, (void)logging;
    instance* c = calloc(1, sizeof *c);
    if (!c) return NULL;
    if (functions) c->host = *functions;
    c->name = strdup(name ? name : "");
    c->phase = INSTANTIATED;
    mor_error error = { 0 };
    char path[4096];
    if (type != fmi2CoSimulation) mor_fail(&error, MOR_BAD_INPUT, "this unit is for co-simulation only");
    else if (!resources) mor_fail(&error, MOR_BAD_INPUT, "the place of the resources is not given");
    else if (!mor_fmu_path(resources, path, sizeof path, &error))
        c->unit = mor_fmu_create(path, guid ? guid : "", &error);
    if (c->unit && c->name) return c;
    fail(c, &error);
    free(c->name);
    mor_fmu_destroy(c->unit);
    free(c);
    return NULL;
}

FMI void fmi2FreeInstance(fmi2Component component);
FMI void fmi2FreeInstance(fmi2Component component)
{
    instance* c = component;
    if (!c) return;
    mor_fmu_destroy(c->unit);
    free(c->name);
    free(c);
}

FMI fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                   fmi2Real start, fmi2Boolean has_stop, fmi2Real stop);
FMI fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                   fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance; /* the scene says how accurate a step is */
    instance* c = component;
    if (!allowed(c, INSTANTIATED, "fmi2SetupExperiment")) return fmi2Error;
    mor_fmu_start(c->unit, start);
    c->last = start;
    c->has_stop = has_stop, c->stop = stop;
    return fmi2OK;
}

FMI fmi2Status fmi2EnterInitializationMode(fmi2Component component);
FMI fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    instance* c = component;
    if (!allowed(c, INSTANTIATED, "fmi2EnterInitializationMode")) return fmi2Error;
    c->phase = INITIALISING;
    return fmi2OK;
}

FMI fmi2Status fmi2ExitInitializationMode(fmi2Component component);
FMI fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    instance* c = component;
    if (!allowed(c, INITIALISING, "fmi2ExitInitializationMode")) return fmi2Error;
    mor_fmu_initialised(c->unit);
    c->phase = STEPPING;
    return fmi2OK;
}

FMI fmi2Status fmi2Terminate(fmi2Component component);
FMI fmi2Status fmi2Terminate(fmi2Component component)
{
    instance* c = component;
    if (!allowed(c, STEPPING, "fmi2Terminate")) return fmi2Error;
    c->phase = TERMINATED;
    return fmi2OK;
}

FMI fmi2Status fmi2Reset(fmi2Component component);
FMI fmi2Status fmi2Reset(fmi2Component component)
{
    instance* c = component;
    mor_error error = { 0 };
    if (!c) return fmi2Error;
    if (mor_fmu_reset(c->unit, &error)) return fail(c, &error);
    c->phase = INSTANTIATED;
    c->last = 0.0;
    return fmi2OK;
}

/* ---------------------------------------------------------------------------------- variables */

FMI fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference r[], size_t n, fmi2Real value[]);
FMI fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference r[], size_t n, fmi2Real value[])
{
    instance* c = component;
    mor_error error = { 0 };
    if (!allowed(c, ALIVE, "fmi2GetReal")) return fmi2Error;
    for (size_t i = 0; i < n; i++)
        if (mor_fmu_get(c->unit, r[i], &value[i], &error)) return fail(c, &error);
    return fmi2OK;
}

FMI fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference r[], size_t n, const fmi2Real value[]);
FMI fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference r[], size_t n, const fmi2Real value[])
{
    instance* c = component;
    mor_error error = { 0 };
    if (!allowed(c, INSTANTIATED | INITIALISING | STEPPING, "fmi2SetReal")) return fmi2Error;
    for (size_t i = 0; i < n; i++)
        if (mor_fmu_set(c->unit, r[i], value[i], &error)) return fail(c, &error);
    return fmi2OK;
}

/* All variables are real: the other types are right for empty lists only. */
static fmi2Status no_such_type(instance* c, size_t n)
{
    if (!c) return fmi2Error;
    return n ? complain(c, fmi2Error, "all variables of this unit are real") : fmi2OK;
}
#define NO_TYPE(name, type)                                                                                            \
    FMI fmi2Status fmi2##name(fmi2Component c, const fmi2ValueReference r[], size_t n, type value[]);                  \
    FMI fmi2Status fmi2##name(fmi2Component c, const fmi2ValueReference r[], size_t n, type value[])                   \
    {                                                                                                                  \
        (void)r, (void)value;                                                                                          \
        return no_such_type(c, n);                                                                                     \
    }
NO_TYPE(GetInteger, fmi2Integer)
NO_TYPE(GetBoolean, fmi2Boolean)
NO_TYPE(GetString, fmi2String)
NO_TYPE(SetInteger, const fmi2Integer)
NO_TYPE(SetBoolean, const fmi2Boolean)
NO_TYPE(SetString, const fmi2String)

/* -------------------------------------------------------------------------------------- state */

static state* save(const instance* c)
{
    size_t size = mor_fmu_save(c->unit, NULL, 0);
    state* s = malloc(sizeof *s + size);
    if (!s) return NULL;
    s->size = size, s->phase = c->phase, s->last = c->last;
    mor_fmu_save(c->unit, s->bytes, size);
    return s;
}

FMI fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* out);
FMI fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* out)
{
    instance* c = component;
    if (!allowed(c, ALIVE, "fmi2GetFMUstate") || !out) return fmi2Error;
    state* s = save(c);
    if (!s) return complain(c, fmi2Error, "out of memory");
    free(*out);
    *out = s;
    return fmi2OK;
}

FMI fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate in);
FMI fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate in)
{
    instance* c = component;
    const state* s = in;
    mor_error error = { 0 };
    if (!allowed(c, ALIVE, "fmi2SetFMUstate")) return fmi2Error;
    if (!s) return complain(c, fmi2Error, "there is no state");
    if (mor_fmu_restore(c->unit, s->bytes, s->size, &error)) return fail(c, &error);
    c->phase = s->phase, c->last = s->last;
    return fmi2OK;
}

FMI fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* s);
FMI fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* s)
{
    (void)component;
    if (s) free(*s), *s = NULL;
    return fmi2OK;
}

FMI fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate s, size_t* size);
FMI fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate s, size_t* size)
{
    if (!component || !s || !size) return fmi2Error;
    *size = sizeof(state) + ((state*)s)->size;
    return fmi2OK;
}

FMI fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate s, fmi2Byte bytes[], size_t size);
FMI fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate s, fmi2Byte bytes[], size_t size)
{
    if (!component || !s || size < sizeof(state) + ((state*)s)->size) return fmi2Error;
    memcpy(bytes, s, sizeof(state) + ((state*)s)->size);
    return fmi2OK;
}

FMI fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate* out);
FMI fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate* out)
{
    instance* c = component;
    state head;
    if (!c || !out) return fmi2Error;
    if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || head.size != size - sizeof head)
        return complain(c, fmi2Error, "these bytes are no state");
    state* s = malloc(size);
    if (!s) return complain(c, fmi2Error, "out of memory");
    memcpy(s, bytes, size);
    free(*out);
    *out = s;
    return fmi2OK;
}

/* -------------------------------------------------------------------------------------- steps */

FMI fmi2Status fmi2DoStep(fmi2Component component, fmi2Real point, fmi2Real size, fmi2Boolean no_set_before);
FMI fmi2Status fmi2DoStep(fmi2Component component, fmi2Real point, fmi2Real size, fmi2Boolean no_set_before)
{
    (void)no_set_before;
    instance* c = component;
    mor_error error = { 0 };
    if (!allowed(c, STEPPING, "fmi2DoStep")) return fmi2Error;
    double scale = 1e-9 * (1.0 + (point < 0 ? -point : point));
    double behind = point - mor_fmu_time(c->unit);
    if (!(size >= 0.0) || behind > scale || behind < -scale)
        return complain(c, fmi2Error, "the communication point is not the time of the unit, or the step is negative");
    mor_code code = mor_fmu_advance(c->unit, point + size, &error);
    c->last = mor_fmu_time(c->unit);
    return code ? fail(c, &error) : fmi2OK;
}

FMI fmi2Status fmi2CancelStep(fmi2Component component);
FMI fmi2Status fmi2CancelStep(fmi2Component component)
{
    instance* c = component;
    return c ? complain(c, fmi2Error, "steps are not asynchronous here: there is none to cancel") : fmi2Error;
}

FMI fmi2Status fmi2GetStatus(fmi2Component component, fmi2StatusKind kind, fmi2Status* value);
FMI fmi2Status fmi2GetStatus(fmi2Component component, fmi2StatusKind kind, fmi2Status* value)
{
    (void)component, (void)kind, (void)value;
    return fmi2Discard;
}

FMI fmi2Status fmi2GetRealStatus(fmi2Component component, fmi2StatusKind kind, fmi2Real* value);
FMI fmi2Status fmi2GetRealStatus(fmi2Component component, fmi2StatusKind kind, fmi2Real* value)
{
    instance* c = component;
    if (!c || kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = c->last;
    return fmi2OK;
}

FMI fmi2Status fmi2GetIntegerStatus(fmi2Component component, fmi2StatusKind kind, fmi2Integer* value);
FMI fmi2Status fmi2GetIntegerStatus(fmi2Component component, fmi2StatusKind kind, fmi2Integer* value)
{
    (void)component, (void)kind, (void)value;
    return fmi2Discard;
}

FMI fmi2Status fmi2GetBooleanStatus(fmi2Component component, fmi2StatusKind kind, fmi2Boolean* value);
FMI fmi2Status fmi2GetBooleanStatus(fmi2Component component, fmi2StatusKind kind, fmi2Boolean* value)
{
    if (!component || kind != fmi2Terminated) return fmi2Discard;
    *value = 0; /* the unit never ends a run by itself */
    return fmi2OK;
}

FMI fmi2Status fmi2GetStringStatus(fmi2Component component, fmi2StatusKind kind, fmi2String* value);
FMI fmi2Status fmi2GetStringStatus(fmi2Component component, fmi2StatusKind kind, fmi2String* value)
{
    (void)component, (void)kind, (void)value;
    return fmi2Discard;
}

/* --------------------------------------------------------------------------- what is not there */

static fmi2Status absent(instance* c, const char* text) { return c ? complain(c, fmi2Error, text) : fmi2Error; }

FMI fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                           const fmi2Integer order[], const fmi2Real value[]);
FMI fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                           const fmi2Integer order[], const fmi2Real value[])
{
    (void)r, (void)n, (void)order, (void)value;
    return absent(c, "inputs are held between communication points: they have no derivatives");
}

FMI fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                            const fmi2Integer order[], fmi2Real value[]);
FMI fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                            const fmi2Integer order[], fmi2Real value[])
{
    (void)r, (void)n, (void)order, (void)value;
    return absent(c, "outputs have no derivatives: contacts make velocities jump");
}

FMI fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference z[], size_t nz,
                                            const fmi2ValueReference v[], size_t nv, const fmi2Real dv[],
                                            fmi2Real dz[]);
FMI fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference z[], size_t nz,
                                            const fmi2ValueReference v[], size_t nv, const fmi2Real dv[], fmi2Real dz[])
{
    (void)z, (void)nz, (void)v, (void)nv, (void)dv, (void)dz;
    return absent(c, "directional derivatives are not offered");
}
