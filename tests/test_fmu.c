/* Units for co-simulation: an importer of our own unpacks what `moreau export-fmu` wrote, loads the library by its path
 * and calls the functions of the standard; the trajectory is compared with the same scene in this process, bit for
 * bit. */
#define _DEFAULT_SOURCE
#include "common/worlds.h"

#include "fmi/unit.h"
#include "moreau/scene.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------- the importer */

typedef struct importer {
    char folder[256]; /* where the unit is unpacked: with blanks and percent signs */
    char uri[4096];
    char token[64];
    char* description;
    void* library;
    char said[1024]; /* what the logger was told last */
} importer;

static void make_parents(char* path)
{
    for (char* at = path + 1; *at; at++)
        if (*at == '/') *at = '\0', mkdir(path, 0755), *at = '/';
}

static unsigned number(const unsigned char* at, int bytes)
{
    unsigned x = 0;
    while (bytes-- > 0) x = x << 8 | at[bytes];
    return x;
}

/* Unpacks an archive of stored entries by its central directory. */
static void unpack(const char* archive, const char* folder)
{
    FILE* f = fopen(archive, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    unsigned char* data = malloc((size_t)size);
    rewind(f);
    assert_int_equal(fread(data, 1, (size_t)size, f), size);
    fclose(f);
    const unsigned char* end = data + size - 22;
    assert_int_equal(number(end, 4), 0x06054b50);
    const unsigned char* at = data + number(end + 16, 4);
    for (unsigned i = number(end + 10, 2); i > 0; i--) {
        assert_int_equal(number(at, 4), 0x02014b50);
        assert_int_equal(number(at + 10, 2), 0); /* stored */
        unsigned length = number(at + 24, 4), name = number(at + 28, 2), local = number(at + 42, 4);
        char path[2048];
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)name, (const char*)at + 46);
        make_parents(path);
        FILE* out = fopen(path, "wb");
        assert_non_null(out);
        const unsigned char* bytes = data + local + 30 + number(data + local + 26, 2) + number(data + local + 28, 2);
        assert_int_equal(fwrite(bytes, 1, length, out), length);
        fclose(out);
        at += 46 + name + number(at + 30, 2) + number(at + 32, 2);
    }
    free(data);
}

/* file:// and every byte that is not plain as %XX. */
static void write_uri(const char* path, char* uri)
{
    uri += sprintf(uri, "file://");
    for (; *path; path++)
        if (strchr("/-_.0123456789", *path) || (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z'))
            *uri++ = *path;
        else uri += sprintf(uri, "%%%02X", (unsigned char)*path);
    *uri = '\0';
}

static void import(importer* m, const char* scene, const char* options, int version)
{
    memset(m, 0, sizeof *m);
    char command[2048], path[1024]; /* of a folder in /tmp */
    snprintf(m->folder, sizeof m->folder, "/tmp/moreau fmu 100%% %%41 %d", (int)getpid());
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s' && '%s' export-fmu %s --fmi %d -o '%s/u.fmu' %s",
             m->folder, m->folder, MOREAU_COMMAND, scene, version, m->folder, options);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/u.fmu", m->folder);
    unpack(path, m->folder);
    snprintf(path, sizeof path, "%s/resources", m->folder);
    if (version == 2) write_uri(path, m->uri);
    else snprintf(m->uri, sizeof m->uri, "%s/", path); /* FMI 3.0: a path */
    snprintf(path, sizeof path, "%s/modelDescription.xml", m->folder);
    FILE* f = fopen(path, "rb");
    assert_non_null(f);
    m->description = calloc(1, 8 << 20);
    assert_true(fread(m->description, 1, (8 << 20) - 1, f) > 0);
    fclose(f);
    const char* at = strstr(m->description, version == 2 ? "guid=\"" : "instantiationToken=\"");
    assert_non_null(at);
    sscanf(strchr(at, '"') + 1, "%63[^\"]", m->token);
    snprintf(path, sizeof path, "%s/binaries/%s/moreau.so", m->folder, version == 2 ? "linux64" : "x86_64-linux");
    m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->library) fail_msg("%s", dlerror());
}

static void end_import(importer* m)
{
    char command[512];
    dlclose(m->library);
    free(m->description);
    snprintf(command, sizeof command, "rm -rf '%s'", m->folder);
    assert_int_equal(system(command), 0);
}

/* The number of a variable, from the XML text. */
static unsigned reference(const importer* m, const char* name)
{
    char pattern[300];
    snprintf(pattern, sizeof pattern, "name=\"%s\" valueReference=\"", name);
    const char* at = strstr(m->description, pattern);
    if (!at) fail_msg("modelDescription.xml has no %s", name);
    return (unsigned)atoi(at + strlen(pattern));
}

/* --------------------------------------------------------------------------------- FMI 2.0 */

typedef void* component;
typedef void (*logger)(void*, const char*, int, const char*, const char*, ...);
typedef struct callbacks {
    logger log;
    void* (*allocate)(size_t, size_t);
    void (*release)(void*);
    void (*finished)(void*, int);
    void* environment;
} callbacks;

static void listen(void* environment, const char* name, int status, const char* category, const char* format, ...)
{
    importer* m = environment;
    (void)name, (void)status, (void)category;
    va_list args;
    va_start(args, format);
    vsnprintf(m->said, sizeof m->said, format, args);
    va_end(args);
}

typedef struct api {
    component (*instantiate)(const char*, int, const char*, const char*, const callbacks*, int, int);
    void (*release)(component);
    int (*setup)(component, int, double, double, int, double);
    int (*enter)(component), (*leave)(component), (*terminate)(component), (*reset)(component);
    int (*get)(component, const unsigned*, size_t, double*);
    int (*set)(component, const unsigned*, size_t, const double*);
    int (*step)(component, double, double, int);
    int (*get_state)(component, void**), (*set_state)(component, void*), (*free_state)(component, void**);
    int (*size)(component, void*, size_t*);
    int (*write)(component, void*, char*, size_t), (*read)(component, const char*, size_t, void**);
    int (*real_status)(component, int, double*);
} api;

/* A function pointer of a symbol, without the conversion that ISO C does not know. */
static void take(void* library, const char* name, void* function)
{
    void* symbol = dlsym(library, name);
    if (!symbol) fail_msg("the unit has no %s", name);
    memcpy(function, &symbol, sizeof symbol);
}

static api functions(const importer* m)
{
    api f;
    void* l = m->library;
    take(l, "fmi2Instantiate", &f.instantiate), take(l, "fmi2FreeInstance", &f.release);
    take(l, "fmi2SetupExperiment", &f.setup), take(l, "fmi2EnterInitializationMode", &f.enter);
    take(l, "fmi2ExitInitializationMode", &f.leave), take(l, "fmi2Terminate", &f.terminate);
    take(l, "fmi2Reset", &f.reset), take(l, "fmi2GetReal", &f.get), take(l, "fmi2SetReal", &f.set);
    take(l, "fmi2DoStep", &f.step), take(l, "fmi2GetFMUstate", &f.get_state), take(l, "fmi2SetFMUstate", &f.set_state);
    take(l, "fmi2FreeFMUstate", &f.free_state), take(l, "fmi2SerializedFMUstateSize", &f.size);
    take(l, "fmi2SerializeFMUstate", &f.write), take(l, "fmi2DeSerializeFMUstate", &f.read);
    take(l, "fmi2GetRealStatus", &f.real_status);
    return f;
}

static component begin(importer* m, const api* f)
{
    static callbacks c;
    c = (callbacks){ .log = listen, .environment = m };
    component u = f->instantiate("one", 1, m->token, m->uri, &c, 0, 0);
    if (!u) fail_msg("%s", m->said);
    assert_int_equal(f->setup(u, 0, 0, 0, 0, 0), 0);
    return u;
}

static component ready(importer* m, const api* f)
{
    component u = begin(m, f);
    assert_int_equal(f->enter(u), 0);
    assert_int_equal(f->leave(u), 0);
    return u;
}

/* Poses and velocities of all moving bodies, by their names. */
static void compare_states(importer* m, const api* f, component u, const mor_world* w)
{
    for (int b = 0; b < mor_world_body_count(w); b++) {
        mor_body_id id = mor_world_body(w, b);
        if (mor_body_get_kind(w, id) == MOR_FIXED) continue;
        mor_body_state s = mor_body_get_state(w, id);
        double expected[7] = { s.pose.position.x, s.pose.position.y, s.pose.position.z,   s.pose.rotation.w,
                               s.velocity.x,      s.velocity.z,      s.angular_velocity.y };
        static const char* const words[7] = { "position[1]", "position[2]", "position[3]",        "quaternion[1]",
                                              "velocity[1]", "velocity[3]", "angular_velocity[2]" };
        for (int k = 0; k < 7; k++) {
            char name[256];
            snprintf(name, sizeof name, "bodies.%s.%s", mor_body_name(w, id), words[k]);
            unsigned r = reference(m, name);
            double got;
            assert_int_equal(f->get(u, &r, 1, &got), 0);
            if (memcmp(&got, &expected[k], sizeof got) != 0) fail_msg("%s: %.17g, not %.17g", name, got, expected[k]);
        }
    }
}

/* Positions of the joints between bodies; how many there are. */
static int compare_joints(importer* m, const api* f, component u, const mor_world* w)
{
    int count = 0;
    for (int j = 0; j < mor_world_joint_count(w); j++) {
        const mor_joint_def* d = mor_world_joint(w, j);
        if (d->kind != MOR_JOINT_REVOLUTE && d->kind != MOR_JOINT_PRISMATIC) continue;
        char name[256];
        snprintf(name, sizeof name, "joints.%s.position", d->name);
        unsigned r = reference(m, name);
        double got, expected = mor_world_joint_position(w, j);
        assert_int_equal(f->get(u, &r, 1, &got), 0);
        assert_true(got == expected);
        count++;
    }
    return count;
}

static mor_world* same_world(const char* path, mor_scene** scene)
{
    mor_error error = { 0 };
    *scene = mor_scene_load(path, NULL, NULL, &error);
    if (!*scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(*scene, 1, &error);
    assert_non_null(w);
    return w;
}

static void a_unit_gives_the_trajectory_of_the_command(void** state)
{
    (void)state;
    static const char* const scenes[] = { "stack", "bounce", "four_bar", "humanoid_stand", "flat_discs", "conveyor" };
    int joints = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        importer m;
        char path[512];
        import(&m, scenes[i], "", 2);
        api f = functions(&m);
        component u = ready(&m, &f);
        snprintf(path, sizeof path, "%s/scenes/%s.yaml", MOREAU_SOURCE_DIR, scenes[i]);
        mor_scene* scene;
        mor_world* w = same_world(path, &scene);
        double h = mor_world_get_step(w);
        for (int k = 0; k < 10; k++) {
            int n = 1 + k % 3; /* the communication step is a multiple of the step */
            assert_int_equal(f.step(u, mor_world_time(w), n * h, 1), 0);
            for (int j = 0; j < n; j++) assert_int_equal(mor_world_step(w, NULL, NULL), MOR_OK);
            compare_states(&m, &f, u, w);
            joints += compare_joints(&m, &f, u, w);
        }
        assert_int_equal(f.terminate(u), 0);
        f.release(u);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        end_import(&m);
    }
    assert_true(joints > 0);
}

static void inputs_act_and_states_return(void** state)
{
    (void)state;
    importer m;
    import(&m, "sphere_drop", "--set gravity=[0,0,0]", 2);
    api f = functions(&m);
    component u = ready(&m, &f), other = ready(&m, &f);
    const char* body = strstr(m.description, "name=\"bodies.");
    char name[128], variable[256];
    sscanf(body, "name=\"bodies.%127[^.]", name);
    snprintf(variable, sizeof variable, "bodies.%s.force[1]", name);
    unsigned force = reference(&m, variable);
    snprintf(variable, sizeof variable, "bodies.%s.velocity[1]", name);
    unsigned velocity = reference(&m, variable);
    double x = 2.0, v;
    assert_int_equal(f.set(u, &force, 1, &x), 0);
    assert_int_equal(f.step(u, 0.0, 0.1, 1), 0);
    assert_int_equal(f.get(u, &velocity, 1, &v), 0);
    assert_true(v > 0.0);
    void* saved = NULL;
    assert_int_equal(f.get_state(u, &saved), 0);
    size_t size;
    assert_int_equal(f.size(u, saved, &size), 0);
    char* bytes = malloc(size);
    assert_int_equal(f.write(u, saved, bytes, size), 0);
    double first, again;
    assert_int_equal(f.step(u, 0.1, 0.1, 1), 0);
    assert_int_equal(f.get(u, &velocity, 1, &first), 0);
    assert_true(fabs(first - 2 * v) < 1e-12); /* constant force: the speed doubles */
    assert_int_equal(f.set_state(u, saved), 0);
    assert_int_equal(f.step(u, 0.1, 0.1, 1), 0);
    assert_int_equal(f.get(u, &velocity, 1, &again), 0);
    assert_true(again == first);
    /* in another instance, from bytes */
    void* copy = NULL;
    assert_int_equal(f.read(other, bytes, size, &copy), 0);
    assert_int_equal(f.set_state(other, copy), 0);
    assert_int_equal(f.step(other, 0.1, 0.1, 1), 0);
    assert_int_equal(f.get(other, &velocity, 1, &again), 0);
    assert_true(again == first);
    assert_int_equal(f.read(other, bytes, size - 1, &copy), 3); /* cut bytes are an error, not a crash */
    f.free_state(u, &saved);
    f.free_state(other, &copy);
    free(bytes);
    assert_int_equal(f.reset(u), 0);
    assert_int_equal(f.get(u, &velocity, 1, &again), 0);
    assert_true(again == 0.0);
    f.release(u);
    f.release(other);
    end_import(&m);
}

static double value_of(const importer* m, const api* f, component u, const char* name)
{
    unsigned r = reference(m, name);
    double x = NAN;
    assert_int_equal(f->get(u, &r, 1, &x), 0);
    return x;
}

static void give(const importer* m, const api* f, component u, const char* name, double x)
{
    unsigned r = reference(m, name);
    assert_int_equal(f->set(u, &r, 1, &x), 0);
}

/* A cube of 2 kg (inertia 1/3 kg m^2) in the air under another gravity, pushed and turned for 0.2 s: v = (g + F/m) t,
 * omega = T t / I, kinetic energy from both. At rest on the floor: the contact carries m g, four points, no depth. */
static void numbers_of_a_unit_are_those_of_mechanics(void** state)
{
    (void)state;
    char path[] = "/tmp/moreau_unit_XXXXXX.yaml";
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    FILE* out = fdopen(file, "w");
    fputs("moreau: 1\nname: 'a < b & \"c\" > d'\ntime: { step: 0.01, end: 9 }\nbodies:\n"
          "  - { name: floor, shape: plane, fixed: true }\n"
          "  - { name: high, shape: { box: [1, 1, 1] }, mass: 2, position: [0, 0, 50] }\n"
          "  - { name: low, shape: { box: [1, 1, 1] }, mass: 2, position: [5, 0, 0.5] }\n",
          out);
    assert_int_equal(fclose(out), 0);
    importer m;
    import(&m, path, "", 2);
    remove(path);
    assert_non_null(strstr(m.description, "a &lt; b &amp; &quot;c&quot; &gt; d"));
    api f = functions(&m);
    component u = begin(&m, &f);
    for (int k = 0; k < 3; k++) {
        static const char* const names[3] = { "gravity[1]", "gravity[2]", "gravity[3]" };
        const double g = k < 2 ? 0.0 : -5.0;
        give(&m, &f, u, names[k], g);
        assert_true(value_of(&m, &f, u, names[k]) == g);
    }
    assert_int_equal(f.enter(u), 0);
    assert_int_equal(f.leave(u), 0);
    give(&m, &f, u, "bodies.high.force[2]", 3.0);
    give(&m, &f, u, "bodies.high.torque[3]", 0.25);
    assert_true(value_of(&m, &f, u, "bodies.high.force[2]") == 3.0);
    assert_int_equal(f.step(u, 0.0, 0.2, 1), 0);
    test_near(value_of(&m, &f, u, "bodies.high.velocity[2]"), 0.3, 1e-12, "v of the push");
    test_near(value_of(&m, &f, u, "bodies.high.velocity[3]"), -1.0, 1e-12, "v of the fall");
    test_near(value_of(&m, &f, u, "bodies.high.angular_velocity[3]"), 0.15, 1e-9, "omega");
    test_near(value_of(&m, &f, u, "energy.kinetic"), 1.0 + 0.09 + 0.5 / 3.0 * 0.15 * 0.15, 1e-9, "kinetic energy");
    double z = value_of(&m, &f, u, "bodies.high.position[3]");
    test_near(z, 49.9, 0.0051, "its height, to first order in the step");
    test_near(value_of(&m, &f, u, "energy.potential"), 2 * 5 * (z + 0.5), 1e-9, "potential energy");
    test_near(value_of(&m, &f, u, "bodies.low.contact_force[3]"), 10.0, 1e-6, "the weight");
    test_near(value_of(&m, &f, u, "bodies.low.contact_torque[1]"), 0.0, 1e-6, "no torque");
    test_near(value_of(&m, &f, u, "penetration"), 0.0, 1e-9, "no depth");
    assert_true(value_of(&m, &f, u, "contacts") == 4.0);
    f.release(u);
    end_import(&m);
}

static void wrong_calls_are_told(void** state)
{
    (void)state;
    importer m;
    import(&m, "stack", "", 2);
    api f = functions(&m);
    callbacks c = { .log = listen, .environment = &m };
    assert_null(f.instantiate("one", 1, "{another}", m.uri, &c, 0, 0));
    assert_non_null(strstr(m.said, "token"));
    assert_null(f.instantiate("one", 0, m.token, m.uri, &c, 0, 0));
    assert_null(f.instantiate("one", 1, m.token, "file:///no/where", &c, 0, 0));
    assert_null(f.instantiate("one", 1, m.token, "http://example.org/x", &c, 0, 0));
    assert_null(f.instantiate("one", 1, m.token, "file:///a%4", &c, 0, 0));
    component u = begin(&m, &f);
    assert_int_equal(f.step(u, 0, 0.01, 1), 3); /* before it is initialised */
    assert_non_null(strstr(m.said, "order of calls"));
    unsigned step = reference(&m, "step"), many = 1000000, output = reference(&m, "energy.kinetic");
    double x = 0.005, bad = NAN;
    assert_int_equal(f.set(u, &step, 1, &x), 0);
    assert_int_equal(f.enter(u), 0);
    assert_int_equal(f.leave(u), 0);
    assert_int_equal(f.get(u, &step, 1, &x), 0);
    assert_true(x == 0.005);
    assert_int_equal(f.set(u, &step, 1, &x), 3); /* fixed now */
    assert_int_equal(f.set(u, &output, 1, &x), 3);
    assert_int_equal(f.get(u, &many, 1, &x), 3);
    assert_non_null(strstr(m.said, "value reference"));
    unsigned gravity = reference(&m, "gravity[3]");
    assert_int_equal(f.set(u, &gravity, 1, &bad), 3);
    assert_int_equal(f.step(u, 0.5, 0.01, 1), 3); /* not the unit's time */
    assert_int_equal(f.step(u, 0, -0.01, 1), 3);
    assert_int_equal(f.step(u, 0, 0.0123, 1), 0); /* not a multiple: the rest is a shorter step */
    unsigned time = reference(&m, "time");
    assert_int_equal(f.get(u, &time, 1, &x), 0);
    assert_true(fabs(x - 0.0123) < 1e-12);
    void* saved = NULL;
    size_t size;
    assert_int_equal(f.get_state(u, &saved), 0);
    assert_int_equal(f.size(u, saved, &size), 0);
    char* bytes = malloc(size);
    assert_int_equal(f.write(u, saved, bytes, size), 0);
    bytes[0] ^= 1; /* no state of ours */
    void* copy = NULL;
    int read = f.read(u, bytes, size, &copy);
    assert_true(read == 3 || f.set_state(u, copy) == 3);
    if (read == 0) f.free_state(u, &copy);
    f.free_state(u, &saved);
    free(bytes);
    f.release(u);
    f.release(NULL);
    end_import(&m);
}

static void a_step_that_is_not_solved_is_rejected(void** state)
{
    (void)state;
    importer m;
    import(&m, "stack", "--formulation st --solver pgs --set method.solver.max_iter=1", 2);
    api f = functions(&m);
    component u = ready(&m, &f);
    int status = 0;
    double t = 0.0, last = 0.0;
    for (int k = 0; k < 50 && status == 0; k++, t += 0.01) status = f.step(u, t, 0.01, 1);
    assert_int_equal(status, 2); /* fmi2Discard */
    assert_int_equal(f.real_status(u, 2, &last), 0);
    assert_true(last < t);
    f.release(u);
    end_import(&m);
}

/* ---------------------------------------------------------------------------------- FMI 3.0 */

static void the_same_in_version_three(void** state)
{
    (void)state;
    importer m;
    import(&m, "humanoid_stand", "", 3);
    component (*instantiate)(const char*, const char*, const char*, bool, bool, bool, bool, const uint32_t*, size_t,
                             void*, void (*)(void*, int, const char*, const char*), void*);
    int (*enter)(component, bool, double, double, bool, double), (*leave)(component);
    int (*get)(component, const uint32_t*, size_t, double*, size_t);
    int (*step)(component, double, double, bool, bool*, bool*, bool*, double*);
    void (*release)(component);
    const char* (*version)(void);
    void* l = m.library;
    take(l, "fmi3InstantiateCoSimulation", &instantiate), take(l, "fmi3EnterInitializationMode", &enter);
    take(l, "fmi3ExitInitializationMode", &leave), take(l, "fmi3GetFloat64", &get), take(l, "fmi3DoStep", &step);
    take(l, "fmi3FreeInstance", &release), take(l, "fmi3GetVersion", &version);
    assert_string_equal(version(), "3.0");
    component u = instantiate("one", m.token, m.uri, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL);
    assert_non_null(u);
    assert_int_equal(enter(u, 0, 0, 0, 0, 0), 0);
    assert_int_equal(leave(u), 0);
    mor_scene* scene;
    mor_world* w = same_world(MOREAU_SOURCE_DIR "/scenes/humanoid_stand.yaml", &scene);
    double h = mor_world_get_step(w), last = 0.0;
    bool event, terminate, early;
    for (int k = 0; k < 20; k++) {
        assert_int_equal(step(u, mor_world_time(w), h, 1, &event, &terminate, &early, &last), 0);
        assert_int_equal(mor_world_step(w, NULL, NULL), MOR_OK);
        assert_true(last == mor_world_time(w) && !event && !terminate && !early);
    }
    const mor_robot_model* model = mor_world_robot_model(w, 0);
    int n = mor_robot_joint_count(model);
    double* s = malloc((size_t)n * sizeof *s);
    mor_world_robot_state(w, 0, NULL, s, NULL);
    for (int j = 0; j < n; j++) {
        char name[256];
        snprintf(name, sizeof name, "robots.%s.%s.position", mor_world_robot_name(w, 0),
                 mor_robot_link(model, mor_robot_link_of_joint(model, j))->joint_name);
        uint32_t r = reference(&m, name);
        double got;
        assert_int_equal(get(u, &r, 1, &got, 1), 0);
        assert_true(got == s[j]);
    }
    free(s);
    release(u);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    end_import(&m);
}

/* ----------------------------------------------------------------------------------- others */

static void a_path_comes_out_of_every_uri(void** state)
{
    (void)state;
    static const char* const pairs[][2] = { { "file:///a/b", "/a/b" },
                                            { "file:/a/b/", "/a/b" },
                                            { "file://localhost/a", "/a" },
                                            { "file:///a%20b%25%c3%a4", "/a b%\xc3\xa4" },
                                            { "/a b%20c/", "/a b%20c" } };
    char path[64];
    mor_error error = { 0 };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(mor_fmu_path(pairs[i][0], path, sizeof path, &error), MOR_OK);
        assert_string_equal(path, pairs[i][1]);
    }
    static const char* const bad[] = { "file://host/a", "http://a", "file:///%0", "file:///%zz", "file:///%00" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mor_fmu_path(bad[i], path, sizeof path, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_fmu_path("file:///abcdefgh", path, 6, &error), MOR_BAD_INPUT);
}

static void the_library_inside_needs_nothing_but_the_c_library(void** state)
{
    (void)state;
    importer m;
    import(&m, "stack", "", 2);
    char command[600], line[512];
    snprintf(command, sizeof command, "readelf -d '%s/binaries/linux64/moreau.so'", m.folder);
    FILE* f = popen(command, "r");
    int needed = 0;
    while (fgets(line, sizeof line, f)) {
        if (strstr(line, "RPATH") || strstr(line, "RUNPATH")) fail_msg("the library has a search path: %s", line);
        if (!strstr(line, "NEEDED")) continue;
        needed++;
        if (!strstr(line, "libc.so") && !strstr(line, "libm.so") && !strstr(line, "ld-linux"))
            printf("note: the unit's library needs %s", strstr(line, "["));
    }
    pclose(f);
    assert_true(needed > 0);
    end_import(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_gives_the_trajectory_of_the_command),
        cmocka_unit_test(inputs_act_and_states_return),
        cmocka_unit_test(numbers_of_a_unit_are_those_of_mechanics),
        cmocka_unit_test(wrong_calls_are_told),
        cmocka_unit_test(a_step_that_is_not_solved_is_rejected),
        cmocka_unit_test(the_same_in_version_three),
        cmocka_unit_test(a_path_comes_out_of_every_uri),
        cmocka_unit_test(the_library_inside_needs_nothing_but_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
