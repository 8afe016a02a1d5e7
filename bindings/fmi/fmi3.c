/* The functions of FMI 3.0 for co-simulation, over fmi/unit.h. Types and names as the standard defines them (FMI 3.0.1,
 * sections 2.1, 2.2 and 4); written from its text. Model exchange and scheduled execution are refused, clocks and
 * derivatives are not there. */
#include "fmi/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FMI MOR_API

typedef void* fmi3Instance;
typedef void* fmi3InstanceEnvironment;
typedef void* fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef double fmi3Float64;
typedef bool fmi3Boolean;
typedef const char* fmi3String;
typedef uint8_t fmi3Byte;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);

typedef enum phase { INSTANTIATED = 1, INITIALISING = 2, STEPPING = 4, TERMINATED = 8 } phase;
enum { ALIVE = INSTANTIATED | INITIALISING | STEPPING | TERMINATED };

typedef struct instance {
    mor_fmu* unit;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
    phase phase;
} instance;

typedef struct state {
    size_t size;
    phase phase;
    char bytes[];
} state;

static fmi3Status complain(const instance* c, fmi3Status status, const char* text)
{
    if (c && c->log) c->log(c->environment, status, "logStatusError", text);
    return status;
}

static fmi3Status fail(const instance* c, const mor_error* error)
{
    return complain(c, error->code == MOR_STOPPED ? fmi3Discard : fmi3Error, error->text);
}

static bool allowed(const instance* c, int phases, const char* function)
{
    if (!c) return false;
    if (c->phase & phases) return true;
    char text[160];
    snprintf(text, sizeof text, "%s is not allowed now: the order of calls is that of the standard", function);
    complain(c, fmi3Error, text);
    return false;
}

FMI const char* fmi3GetVersion(void);
FMI const char* fmi3GetVersion(void) { return "3.0"; }

FMI fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[]);
FMI fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)on, (void)n, (void)categories; /* only errors are told, and these always */
    return c ? fmi3OK : fmi3Error;
}

/* ------------------------------------------------------------------------------ life of a unit */

FMI fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                             fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                             fmi3Boolean early, const fmi3ValueReference required[],
                                             size_t required_count, fmi3InstanceEnvironment environment,
                                             fmi3LogMessageCallback log, void* update);
FMI fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                             fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                             fmi3Boolean early, const fmi3ValueReference required[],
                                             size_t required_count, fmi3InstanceEnvironment environment,
                                             fmi3LogMessageCallback log, void* update)
{
    (void)name, (void)visible, (void)logging, (void)events, (void)early, (void)required, (void)required_count,
        (void)update;
    instance* c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->log = log, c->environment = environment, c->phase = INSTANTIATED;
    mor_error error = { 0 };
    char path[4096];
    if (!resources) mor_fail(&error, MOR_BAD_INPUT, "the place of the resources is not given");
    else if (!mor_fmu_path(resources, path, sizeof path, &error))
        c->unit = mor_fmu_create(path, token ? token : "", &error);
    if (c->unit) return c;
    fail(c, &error);
    free(c);
    return NULL;
}

FMI fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                              fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment e,
                                              fmi3LogMessageCallback log);
FMI fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                              fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment e,
                                              fmi3LogMessageCallback log)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    if (log) log(e, fmi3Error, "logStatusError", "this unit is for co-simulation only");
    return NULL;
}

FMI fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                   fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment e,
                                                   fmi3LogMessageCallback log, void* update, void* lock, void* unlock);
FMI fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                   fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment e,
                                                   fmi3LogMessageCallback log, void* update, void* lock, void* unlock)
{
    (void)update, (void)lock, (void)unlock;
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, e, log);
}

FMI void fmi3FreeInstance(fmi3Instance in);
FMI void fmi3FreeInstance(fmi3Instance in)
{
    instance* c = in;
    if (!c) return;
    mor_fmu_destroy(c->unit);
    free(c);
}

FMI fmi3Status fmi3EnterInitializationMode(fmi3Instance in, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                           fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop);
FMI fmi3Status fmi3EnterInitializationMode(fmi3Instance in, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                           fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    instance* c = in;
    if (!allowed(c, INSTANTIATED, "fmi3EnterInitializationMode")) return fmi3Error;
    mor_fmu_start(c->unit, start);
    c->phase = INITIALISING;
    return fmi3OK;
}

/* From one phase to the next, without doing anything else. */
static fmi3Status move_on(instance* c, int from, phase to, const char* function)
{
    if (!allowed(c, from, function)) return fmi3Error;
    if (to == STEPPING) mor_fmu_initialised(c->unit);
    c->phase = to;
    return fmi3OK;
}

#define MOVE(name, from, to)                                                                                           \
    FMI fmi3Status name(fmi3Instance in);                                                                              \
    FMI fmi3Status name(fmi3Instance in) { return move_on(in, from, to, #name); }
MOVE(fmi3ExitInitializationMode, INITIALISING, STEPPING)
MOVE(fmi3EnterStepMode, STEPPING, STEPPING)
MOVE(fmi3Terminate, STEPPING, TERMINATED)

FMI fmi3Status fmi3Reset(fmi3Instance in);
FMI fmi3Status fmi3Reset(fmi3Instance in)
{
    instance* c = in;
    mor_error error = { 0 };
    if (!c) return fmi3Error;
    if (mor_fmu_reset(c->unit, &error)) return fail(c, &error);
    c->phase = INSTANTIATED;
    return fmi3OK;
}

/* ---------------------------------------------------------------------------------- variables */

FMI fmi3Status fmi3GetFloat64(fmi3Instance in, const fmi3ValueReference r[], size_t n, fmi3Float64 value[],
                              size_t count);
FMI fmi3Status fmi3GetFloat64(fmi3Instance in, const fmi3ValueReference r[], size_t n, fmi3Float64 value[],
                              size_t count)
{
    instance* c = in;
    mor_error error = { 0 };
    if (!allowed(c, ALIVE, "fmi3GetFloat64")) return fmi3Error;
    if (n != count) return complain(c, fmi3Error, "every variable has one number");
    for (size_t i = 0; i < n; i++)
        if (mor_fmu_get(c->unit, r[i], &value[i], &error)) return fail(c, &error);
    return fmi3OK;
}

FMI fmi3Status fmi3SetFloat64(fmi3Instance in, const fmi3ValueReference r[], size_t n, const fmi3Float64 value[],
                              size_t count);
FMI fmi3Status fmi3SetFloat64(fmi3Instance in, const fmi3ValueReference r[], size_t n, const fmi3Float64 value[],
                              size_t count)
{
    instance* c = in;
    mor_error error = { 0 };
    if (!allowed(c, INSTANTIATED | INITIALISING | STEPPING, "fmi3SetFloat64")) return fmi3Error;
    if (n != count) return complain(c, fmi3Error, "every variable has one number");
    for (size_t i = 0; i < n; i++)
        if (mor_fmu_set(c->unit, r[i], value[i], &error)) return fail(c, &error);
    return fmi3OK;
}

static fmi3Status no_such_type(instance* c, size_t n)
{
    if (!c) return fmi3Error;
    return n ? complain(c, fmi3Error, "all variables of this unit are of the type Float64") : fmi3OK;
}
#define NO_TYPE(name, type)                                                                                            \
    FMI fmi3Status fmi3Get##name(fmi3Instance c, const fmi3ValueReference r[], size_t n, type value[], size_t m);      \
    FMI fmi3Status fmi3Get##name(fmi3Instance c, const fmi3ValueReference r[], size_t n, type value[], size_t m)       \
    {                                                                                                                  \
        (void)r, (void)value, (void)m;                                                                                 \
        return no_such_type(c, n);                                                                                     \
    }                                                                                                                  \
    FMI fmi3Status fmi3Set##name(fmi3Instance c, const fmi3ValueReference r[], size_t n, const type value[],           \
                                 size_t m);                                                                            \
    FMI fmi3Status fmi3Set##name(fmi3Instance c, const fmi3ValueReference r[], size_t n, const type value[], size_t m) \
    {                                                                                                                  \
        (void)r, (void)value, (void)m;                                                                                 \
        return no_such_type(c, n);                                                                                     \
    }
NO_TYPE(Float32, float)
NO_TYPE(Int8, int8_t)
NO_TYPE(UInt8, uint8_t)
NO_TYPE(Int16, int16_t)
NO_TYPE(UInt16, uint16_t)
NO_TYPE(Int32, int32_t)
NO_TYPE(UInt32, uint32_t)
NO_TYPE(Int64, int64_t)
NO_TYPE(UInt64, uint64_t)
NO_TYPE(Boolean, fmi3Boolean)
NO_TYPE(String, fmi3String)

FMI fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference r[], size_t n, size_t sizes[],
                             const fmi3Byte* value[], size_t m);
FMI fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference r[], size_t n, size_t sizes[],
                             const fmi3Byte* value[], size_t m)
{
    (void)r, (void)sizes, (void)value, (void)m;
    return no_such_type(c, n);
}
FMI fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference r[], size_t n, const size_t sizes[],
                             const fmi3Byte* const value[], size_t m);
FMI fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference r[], size_t n, const size_t sizes[],
                             const fmi3Byte* const value[], size_t m)
{
    (void)r, (void)sizes, (void)value, (void)m;
    return no_such_type(c, n);
}

/* -------------------------------------------------------------------------------------- state */

FMI fmi3Status fmi3GetFMUState(fmi3Instance in, fmi3FMUState* out);
FMI fmi3Status fmi3GetFMUState(fmi3Instance in, fmi3FMUState* out)
{
    instance* c = in;
    if (!allowed(c, ALIVE, "fmi3GetFMUState") || !out) return fmi3Error;
    size_t size = mor_fmu_save(c->unit, NULL, 0);
    state* s = malloc(sizeof *s + size);
    if (!s) return complain(c, fmi3Error, "out of memory");
    s->size = size, s->phase = c->phase;
    mor_fmu_save(c->unit, s->bytes, size);
    free(*out);
    *out = s;
    return fmi3OK;
}

FMI fmi3Status fmi3SetFMUState(fmi3Instance in, fmi3FMUState from);
FMI fmi3Status fmi3SetFMUState(fmi3Instance in, fmi3FMUState from)
{
    instance* c = in;
    const state* s = from;
    mor_error error = { 0 };
    if (!allowed(c, ALIVE, "fmi3SetFMUState")) return fmi3Error;
    if (!s) return complain(c, fmi3Error, "there is no state");
    if (mor_fmu_restore(c->unit, s->bytes, s->size, &error)) return fail(c, &error);
    c->phase = s->phase;
    return fmi3OK;
}

FMI fmi3Status fmi3FreeFMUState(fmi3Instance in, fmi3FMUState* s);
FMI fmi3Status fmi3FreeFMUState(fmi3Instance in, fmi3FMUState* s)
{
    (void)in;
    if (s) free(*s), *s = NULL;
    return fmi3OK;
}

FMI fmi3Status fmi3SerializedFMUStateSize(fmi3Instance in, fmi3FMUState s, size_t* size);
FMI fmi3Status fmi3SerializedFMUStateSize(fmi3Instance in, fmi3FMUState s, size_t* size)
{
    if (!in || !s || !size) return fmi3Error;
    *size = sizeof(state) + ((state*)s)->size;
    return fmi3OK;
}

FMI fmi3Status fmi3SerializeFMUState(fmi3Instance in, fmi3FMUState s, fmi3Byte bytes[], size_t size);
FMI fmi3Status fmi3SerializeFMUState(fmi3Instance in, fmi3FMUState s, fmi3Byte bytes[], size_t size)
{
    if (!in || !s || size < sizeof(state) + ((state*)s)->size) return fmi3Error;
    memcpy(bytes, s, sizeof(state) + ((state*)s)->size);
    return fmi3OK;
}

FMI fmi3Status fmi3DeserializeFMUState(fmi3Instance in, const fmi3Byte bytes[], size_t size, fmi3FMUState* out);
FMI fmi3Status fmi3DeserializeFMUState(fmi3Instance in, const fmi3Byte bytes[], size_t size, fmi3FMUState* out)
{
    instance* c = in;
    state head;
    if (!c || !out) return fmi3Error;
    if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || head.size != size - sizeof head)
        return complain(c, fmi3Error, "these bytes are no state");
    state* s = malloc(size);
    if (!s) return complain(c, fmi3Error, "out of memory");
    memcpy(s, bytes, size);
    free(*out);
    *out = s;
    return fmi3OK;
}

/* -------------------------------------------------------------------------------------- steps */

FMI fmi3Status fmi3DoStep(fmi3Instance in, fmi3Float64 point, fmi3Float64 size, fmi3Boolean no_set_before,
                          fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last);
FMI fmi3Status fmi3DoStep(fmi3Instance in, fmi3Float64 point, fmi3Float64 size, fmi3Boolean no_set_before,
                          fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last)
{
    (void)no_set_before;
    instance* c = in;
    mor_error error = { 0 };
    if (!allowed(c, STEPPING, "fmi3DoStep")) return fmi3Error;
    double scale = 1e-9 * (1.0 + (point < 0 ? -point : point));
    double behind = point - mor_fmu_time(c->unit);
    if (!(size >= 0.0) || behind > scale || behind < -scale)
        return complain(c, fmi3Error, "the communication point is not the time of the unit, or the step is negative");
    mor_code code = mor_fmu_advance(c->unit, point + size, &error);
    if (event) *event = false;
    if (terminate) *terminate = false;
    if (early) *early = false;
    if (last) *last = mor_fmu_time(c->unit);
    return code ? fail(c, &error) : fmi3OK;
}

/* --------------------------------------------------------------------------- what is not there */

static fmi3Status absent(fmi3Instance c)
{
    return complain(c, fmi3Error, "this function belongs to a capability that the unit does not have");
}

#define ABSENT(name, ...)                                                                                              \
    FMI fmi3Status fmi3##name(fmi3Instance c, __VA_ARGS__);                                                            \
    FMI fmi3Status fmi3##name(fmi3Instance c, __VA_ARGS__)
#define NOTHING(name)                                                                                                  \
    FMI fmi3Status fmi3##name(fmi3Instance c);                                                                         \
    FMI fmi3Status fmi3##name(fmi3Instance c) { return absent(c); }
NOTHING(EnterEventMode)
NOTHING(EnterConfigurationMode)
NOTHING(ExitConfigurationMode)
NOTHING(EvaluateDiscreteStates)
NOTHING(EnterContinuousTimeMode)
ABSENT(GetNumberOfVariableDependencies, fmi3ValueReference r, size_t* n) { return (void)r, (void)n, absent(c); }
ABSENT(GetVariableDependencies, fmi3ValueReference r, size_t a[], fmi3ValueReference b[], size_t d[], int k[], size_t n)
{
    return (void)r, (void)a, (void)b, (void)d, (void)k, (void)n, absent(c);
}
ABSENT(GetDirectionalDerivative, const fmi3ValueReference u[], size_t nu, const fmi3ValueReference k[], size_t nk,
       const fmi3Float64 seed[], size_t ns, fmi3Float64 s[], size_t n)
{
    return (void)u, (void)nu, (void)k, (void)nk, (void)seed, (void)ns, (void)s, (void)n, absent(c);
}
ABSENT(GetAdjointDerivative, const fmi3ValueReference u[], size_t nu, const fmi3ValueReference k[], size_t nk,
       const fmi3Float64 seed[], size_t ns, fmi3Float64 s[], size_t n)
{
    return (void)u, (void)nu, (void)k, (void)nk, (void)seed, (void)ns, (void)s, (void)n, absent(c);
}
ABSENT(GetOutputDerivatives, const fmi3ValueReference r[], size_t n, const int32_t o[], fmi3Float64 v[], size_t m)
{
    return (void)r, (void)n, (void)o, (void)v, (void)m, absent(c);
}
ABSENT(GetClock, const fmi3ValueReference r[], size_t n, bool v[]) { return (void)r, (void)v, no_such_type(c, n); }
ABSENT(SetClock, const fmi3ValueReference r[], size_t n, const bool v[])
{
    return (void)r, (void)v, no_such_type(c, n);
}
ABSENT(GetIntervalDecimal, const fmi3ValueReference r[], size_t n, fmi3Float64 v[], int q[])
{
    return (void)r, (void)n, (void)v, (void)q, absent(c);
}
ABSENT(GetIntervalFraction, const fmi3ValueReference r[], size_t n, uint64_t a[], uint64_t b[], int q[])
{
    return (void)r, (void)n, (void)a, (void)b, (void)q, absent(c);
}
ABSENT(GetShiftDecimal, const fmi3ValueReference r[], size_t n, fmi3Float64 v[])
{
    return (void)r, (void)n, (void)v, absent(c);
}
ABSENT(GetShiftFraction, const fmi3ValueReference r[], size_t n, uint64_t a[], uint64_t b[])
{
    return (void)r, (void)n, (void)a, (void)b, absent(c);
}
ABSENT(SetIntervalDecimal, const fmi3ValueReference r[], size_t n, const fmi3Float64 v[])
{
    return (void)r, (void)n, (void)v, absent(c);
}
ABSENT(SetIntervalFraction, const fmi3ValueReference r[], size_t n, const uint64_t a[], const uint64_t b[])
{
    return (void)r, (void)n, (void)a, (void)b, absent(c);
}
ABSENT(SetShiftDecimal, const fmi3ValueReference r[], size_t n, const fmi3Float64 v[])
{
    return (void)r, (void)n, (void)v, absent(c);
}
ABSENT(SetShiftFraction, const fmi3ValueReference r[], size_t n, const uint64_t a[], const uint64_t b[])
{
    return (void)r, (void)n, (void)a, (void)b, absent(c);
}
ABSENT(UpdateDiscreteStates, bool* a, bool* b, bool* d, bool* e, bool* f, fmi3Float64* g)
{
    return (void)a, (void)b, (void)d, (void)e, (void)f, (void)g, absent(c);
}
ABSENT(CompletedIntegratorStep, bool no, bool* a, bool* b) { return (void)no, (void)a, (void)b, absent(c); }
ABSENT(SetTime, fmi3Float64 t) { return (void)t, absent(c); }
ABSENT(SetContinuousStates, const fmi3Float64 x[], size_t n) { return (void)x, (void)n, absent(c); }
ABSENT(GetContinuousStateDerivatives, fmi3Float64 x[], size_t n) { return (void)x, (void)n, absent(c); }
ABSENT(GetEventIndicators, fmi3Float64 x[], size_t n) { return (void)x, (void)n, absent(c); }
ABSENT(GetContinuousStates, fmi3Float64 x[], size_t n) { return (void)x, (void)n, absent(c); }
ABSENT(GetNominalsOfContinuousStates, fmi3Float64 x[], size_t n) { return (void)x, (void)n, absent(c); }
ABSENT(GetNumberOfEventIndicators, size_t* n) { return (void)n, absent(c); }
ABSENT(GetNumberOfContinuousStates, size_t* n) { return (void)n, absent(c); }
ABSENT(ActivateModelPartition, fmi3ValueReference r, fmi3Float64 t) { return (void)r, (void)t, absent(c); }
