/* modelDescription.xml of a unit, for both versions of the standard (2.0: section 2.2; 3.0: section 2.4). */
#include "fmi/export.h"
#include "fmi/variables.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    FILE* out;
    int version;
} writer;

static void put(writer* w, const char* format, ...) MOR_PRINTF(2, 3);
static void put(writer* w, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(w->out, format, args);
    va_end(args);
}

static void put_text(writer* w, const char* text)
{
    for (; *text; text++) switch (*text) {
        case '&':
            fputs("&amp;", w->out);
            break;
        case '<':
            fputs("&lt;", w->out);
            break;
        case '>':
            fputs("&gt;", w->out);
            break;
        case '"':
            fputs("&quot;", w->out);
            break;
        default:
            if ((unsigned char)*text >= 0x20) fputc(*text, w->out);
        }
}

static void put_attribute(writer* w, const char* name, const char* text)
{
    put(w, " %s=\"", name);
    put_text(w, text);
    put(w, "\"");
}

static void put_number(writer* w, const char* name, double value)
{
    char text[40];
    mor_print_number(text, sizeof text, value);
    put_attribute(w, name, text);
}

/* Powers of kg, m, s and rad of the units in use. */
static const struct {
    const char* name;
    int kg, m, s, rad;
} units[] = { { "s", 0, 0, 1, 0 },     { "m", 0, 1, 0, 0 },    { "m/s", 0, 1, -1, 0 },
              { "m/s2", 0, 1, -2, 0 }, { "rad", 0, 0, 0, 1 },  { "rad/s", 0, 0, -1, 1 },
              { "N", 1, 1, -2, 0 },    { "N.m", 1, 2, -2, 0 }, { "J", 1, 2, -2, 0 } };

static void put_units(writer* w)
{
    put(w, "  <UnitDefinitions>\n");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        put(w, "    <Unit name=\"%s\"><BaseUnit", units[i].name);
        if (units[i].kg) put(w, " kg=\"%d\"", units[i].kg);
        if (units[i].m) put(w, " m=\"%d\"", units[i].m);
        if (units[i].s) put(w, " s=\"%d\"", units[i].s);
        if (units[i].rad) put(w, " rad=\"%d\"", units[i].rad);
        put(w, "/></Unit>\n");
    }
    put(w, "  </UnitDefinitions>\n");
}

static void put_variable(writer* w, const mor_fmu_variable* v, int number)
{
    static const char* const causalities[] = { "independent", "parameter", "input", "output" };
    const mor_fmu_kind_info* info = mor_fmu_info(v->kind);
    bool start = info->causality == MOR_FMU_PARAMETER || info->causality == MOR_FMU_INPUT;
    const char* variability = v->kind == MOR_FMU_STEP                ? "fixed"
                              : info->causality == MOR_FMU_PARAMETER ? "tunable"
                                                                     : "continuous";
    put(w, w->version == 2 ? "    <ScalarVariable" : "    <Float64");
    put_attribute(w, "name", v->name);
    put(w, " valueReference=\"%d\"", number);
    put_attribute(w, "description", info->help);
    put(w, " causality=\"%s\" variability=\"%s\"", causalities[info->causality], variability);
    if (info->causality == MOR_FMU_PARAMETER) put(w, " initial=\"exact\"");
    else if (info->causality == MOR_FMU_OUTPUT) put(w, " initial=\"calculated\"");
    if (w->version == 2) put(w, "><Real");
    if (mor_fmu_unit(v)[0]) put_attribute(w, "unit", mor_fmu_unit(v));
    if (start) put_number(w, "start", v->start);
    put(w, w->version == 2 ? "/></ScalarVariable>\n" : "/>\n");
}

static void put_structure(writer* w, const mor_fmu_variable* v, int count)
{
    put(w, "  <ModelStructure>\n");
    const char* lists[] = { "Outputs", "InitialUnknowns" };
    for (int k = 0; k < 2; k++) {
        if (w->version == 2) put(w, "    <%s>\n", lists[k]);
        for (int i = 0; i < count; i++) {
            if (mor_fmu_info(v[i].kind)->causality != MOR_FMU_OUTPUT) continue;
            if (w->version == 2) put(w, "      <Unknown index=\"%d\"/>\n", i + 1);
            else put(w, "    <%s valueReference=\"%d\"/>\n", k ? "InitialUnknown" : "Output", i);
        }
        if (w->version == 2) put(w, "    </%s>\n", lists[k]);
    }
    put(w, "  </ModelStructure>\n");
}

static void put_head(writer* w, const mor_world* world, const mor_scene* scene, const char* token)
{
    put(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%s\"",
        w->version == 2 ? "2.0" : "3.0");
    put_attribute(w, "modelName", mor_scene_name(scene));
    put_attribute(w, w->version == 2 ? "guid" : "instantiationToken", token);
    put_attribute(w, "description", "Rigid bodies with contact and friction, a scene of Moreau.");
    put(w, " generationTool=\"Moreau %s\" variableNamingConvention=\"flat\"", mor_version());
    if (w->version == 2) put(w, " numberOfEventIndicators=\"0\"");
    put(w, ">\n  <CoSimulation modelIdentifier=\"moreau\"");
    if (w->version == 2)
        put(w, " canHandleVariableCommunicationStepSize=\"true\" canInterpolateInputs=\"false\""
               " canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"/>\n");
    else {
        put(w, " canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUState=\"true\""
               " canSerializeFMUState=\"true\" canReturnEarlyAfterIntermediateUpdate=\"false\"");
        put_number(w, "fixedInternalStepSize", mor_world_get_step(world));
        put(w, "/>\n");
    }
}

char* mor_fmu_description(const mor_world* world, const mor_scene* scene, const char* token, int version,
                          size_t* length)
{
    char* text = NULL;
    writer w = { open_memstream(&text, length), version };
    int count;
    mor_fmu_variable* v = w.out ? mor_fmu_variables(world, &count) : NULL;
    if (!v) {
        if (w.out) fclose(w.out);
        free(text);
        return NULL;
    }
    put_head(&w, world, scene, token);
    put_units(&w);
    put(&w, "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>\n");
    put(&w, "  <DefaultExperiment startTime=\"0\"");
    put_number(&w, "stopTime", mor_scene_end(scene));
    put_number(&w, "stepSize", mor_world_get_step(world));
    put(&w, "/>\n  <ModelVariables>\n");
    for (int i = 0; i < count; i++) put_variable(&w, &v[i], i);
    put(&w, "  </ModelVariables>\n");
    put_structure(&w, v, count);
    put(&w, "</fmiModelDescription>\n");
    free(v);
    bool good = !ferror(w.out);
    if (fclose(w.out) != 0 || !good) {
        free(text);
        return NULL;
    }
    return text;
}
