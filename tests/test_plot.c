/* Figures: ticks, files, and what the command says. The recording is a ball that falls from 1 m and
 * bounces with restitution 0.7, from the closed form, sliding along x. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <cairo.h>
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/recording/frames.h"
#include "plot/axis.h"
#include "plot/figure.h"
#include "plot/series.h"

/* fontconfig keeps its configuration until the process ends: not our leak. */
MOR_API const char* __lsan_default_suppressions(void);
MOR_API const char* __lsan_default_options(void);
const char* __lsan_default_suppressions(void) { return "leak:libfontconfig"; }
const char* __lsan_default_options(void) { return "print_suppressions=0"; }

static char folder[] = "/tmp/moreau-test-plot-XXXXXX";
static char paths[8][256];

static const char* in_folder(int slot, const char* name)
{
    snprintf(paths[slot], sizeof paths[slot], "%s/%s", folder, name);
    return paths[slot];
}

/* Height and speed at time t. */
static void bounce(double t, double e, double* z, double* v, double* impulse, double h)
{
    const double g = 9.81;
    double speed = sqrt(2.0 * g), fall = sqrt(2.0 / g);
    *impulse = 0.0;
    if (t < fall) {
        *z = 1.0 - 0.5 * g * t * t;
        *v = -g * t;
        return;
    }
    t -= fall;
    for (;;) {
        double before = speed;
        speed *= e;
        if (t < h) *impulse = before + speed;
        if (2.0 * speed / g < 0.01) break;
        if (t < 2.0 * speed / g) {
            *z = speed * t - 0.5 * g * t * t;
            *v = speed - g * t;
            return;
        }
        t -= 2.0 * speed / g;
    }
    *z = *v = 0.0;
    *impulse = g * h;
}

static void make_recording(const char* path, double e, const char* solver)
{
    mor_frames_body bodies[3] = { { .name = "floor", .kind = MOR_FIXED },
                                  { .name = "ball", .kind = MOR_DYNAMIC, .mass = { .mass = 1.0 } },
                                  { .name = "cart.left", .kind = MOR_KINEMATIC } };
    const mor_frames_def def = { .scene_name = "bouncing <ball> & cart",
                                 .scene_text = "",
                                 .formulation = "st",
                                 .solver = solver,
                                 .collision = "manifold",
                                 .integrator = "",
                                 .stabilisation = "",
                                 .step = 0.005,
                                 .dimension = 3,
                                 .gravity = { 0, 0, -9.81 },
                                 .every = 1,
                                 .contacts = true,
                                 .body_count = 3,
                                 .bodies = bodies };
    mor_error error = { 0 };
    mor_frames* frames = mor_frames_create(path, &def, &error);
    assert_non_null(frames);
    const double h = 0.005;
    for (int i = 0; i <= 600; i++) {
        double t = h * i, z, v, p, *pose, *velocity;
        bounce(t, e, &z, &v, &p, h);
        mor_frame* f = mor_frames_begin(frames, 1, &pose, &velocity);
        memset(pose, 0, 21 * sizeof *pose);
        memset(velocity, 0, 18 * sizeof *velocity);
        pose[3] = pose[10] = pose[17] = 1.0;
        pose[7] = 0.3 * t;
        pose[9] = z;
        velocity[6] = 0.3;
        velocity[8] = v;
        pose[14] = 0.2 * sin(2.0 * t);
        f->step_number = i;
        f->time = t;
        f->step_size = h;
        f->kinetic = 0.5 * v * v;
        f->potential = 9.81 * z;
        f->total = f->kinetic + f->potential;
        f->penetration = p > 0.0 ? 2e-6 * fabs(sin(40.0 * t)) : 0.0;
        f->contacts = p > 0.0;
        f->islands = p > 0.0;
        f->iterations = p > 0.0 ? 6 + i % 5 : 0;
        f->residual = p > 0.0 ? 1e-9 * exp(2.0 * sin(i)) : 0.0;
        f->velocity_error = f->residual;
        f->timing = (mor_timing){ .total = 3.1e-5 + 1e-6 * sin(i),
                                  .collision = 1.2e-5,
                                  .solve = 1e-5 + 1e-6 * cos(3.0 * i),
                                  .assemble = 4e-6,
                                  .formulate = 2e-6,
                                  .integrate = 1e-6,
                                  .user = 5e-7,
                                  .record = 3e-7 };
        if (p > 0.0) {
            mor_contact contact = { .normal = { 0, 0, 1 }, .impulse = { -0.1 * p, 0, p }, .normal_impulse = p };
            mor_frames_contact(frames, &contact, (int[2]){ 0, 1 });
            f->normal_total = f->normal_max = p;
            f->friction_total = 0.1 * p;
        }
        mor_frames_end(frames);
    }
    assert_int_equal(mor_frames_close(frames, &error), MOR_OK);
}

static int set_up(void** state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    FILE* file = fopen(in_folder(0, "suppressions"), "w"); /* the same for the command */
    fprintf(file, "%s\n", __lsan_default_suppressions());
    fclose(file);
    make_recording(in_folder(0, "ball.h5"), 0.7, "lemke");
    make_recording(in_folder(1, "soft.h5"), 0.4, "pgs");
    FILE* scene = fopen(in_folder(2, "chain.yaml"), "w");
    fprintf(scene, "moreau: 1\ndimension: 2\ntime: { step: 0.01, end: 0.1 }\nbodies:\n");
    for (int i = 1; i <= 20; i++)
        fprintf(scene, "  - { name: link%d, shape: { disc: 0.1 }, position: [%d, 0] }\n", i, i);
    fprintf(scene, "  - { name: wheel, shape: { disc: 0.1 }, position: [0, 9], angular_velocity: 1.7 }\njoints:\n");
    for (int i = 1; i <= 20; i++) {
        char before[16] = "world";
        if (i > 1) snprintf(before, sizeof before, "link%d", i - 1);
        fprintf(scene, "  - { name: hinge%d, type: revolute, bodies: [link%d, %s], point: [%d, 0] }\n", i, i, before,
                i - 1);
    }
    fclose(scene);
    char line[1200];
    snprintf(line, sizeof line,
             "cd '%s' && '%s' run chain.yaml --quiet --record chain.h5 && '%s' run sphere_drop --steps 20 --quiet "
             "--set record.contacts=false --record plain.h5",
             folder, MOREAU_COMMAND, MOREAU_COMMAND);
    if (system(line) != 0) return -1;
    return 0;
}

static int tear_down(void** state)
{
    (void)state;
    if (getenv("MOREAU_KEEP")) return 0;
    char command[320];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Exit status of `moreau plot ARGUMENTS`; what it printed goes to `output`. */
static int run(const char* arguments, char* output, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command,
             "cd '%s' && LSAN_OPTIONS=suppressions=suppressions:print_suppressions=0 '%s' plot %s 2>&1", folder,
             MOREAU_COMMAND, arguments);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(output, 1, size - 1, pipe);
    output[n] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static char* slurp(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char* text = calloc(1, *size + 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

/* Well-formed XML with the root svg. Returns the text; free it. */
static char* parse_svg(const char* path)
{
    size_t size;
    char* text = slurp(path, &size);
    XML_Parser parser = XML_ParserCreate(NULL);
    if (XML_Parse(parser, text, (int)size, 1) != XML_STATUS_OK)
        fail_msg("%s:%d: %s", path, (int)XML_GetCurrentLineNumber(parser), XML_ErrorString(XML_GetErrorCode(parser)));
    XML_ParserFree(parser);
    assert_non_null(strstr(text, "<svg"));
    return text;
}

/* --------------------------------------------------------------------------------- axes */

static void ticks_are_round_and_cover_the_range(void** state)
{
    (void)state;
    mor_rng rng = { 1 };
    for (int k = 0; k < 2000; k++) {
        double size = pow(10.0, 24.0 * mor_rng_uniform(&rng) - 14.0);
        double low = size * (mor_rng_uniform(&rng) - 0.5), high = low + size * (0.01 + mor_rng_uniform(&rng));
        mor_plot_axis a = mor_plot_axis_make(low, high, false, false, true, 6);
        assert_true(a.tick_count >= 3 && a.tick_count <= 8);
        double slack = 0.0051 * (a.tick[1] - a.tick[0]); /* less than a pixel may be cut */
        assert_true(a.low <= low + slack && a.high >= high - slack);
        assert_true(a.high - a.low < 3.0 * (high - low));
        double step = a.tick[1] - a.tick[0], digit = step / pow(10.0, floor(log10(step) + 1e-6));
        assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
        for (int i = 1; i < a.tick_count; i++) assert_string_not_equal(a.label[i], a.label[i - 1]);
        assert_true(fabs(mor_plot_axis_place(&a, a.low)) < 1e-12 &&
                    fabs(mor_plot_axis_place(&a, a.high) - 1.0) < 1e-12);
    }
}

static void labels_use_prefixes_and_true_minus_signs(void** state)
{
    (void)state;
    char unit[32];
    mor_plot_axis a = mor_plot_axis_make(-2e-6, 2e-6, false, false, true, 4);
    assert_int_equal(a.exponent, -6);
    assert_string_equal(a.label[0], "\xe2\x88\x92"
                                    "2");
    mor_plot_axis_unit("m", a.exponent, unit, sizeof unit);
    assert_string_equal(unit, "[\xc2\xb5m]");
    a = mor_plot_axis_make(0, 0.5, false, false, true, 5);
    assert_int_equal(a.exponent, 0);
    assert_string_equal(a.label[1], "0.1");
    mor_plot_axis_unit("", 3, unit, sizeof unit);
    assert_string_equal(unit, "[\xc3\x97 10\xc2\xb3]");
    mor_plot_axis_unit("", 0, unit, sizeof unit);
    assert_string_equal(unit, "");
    a = mor_plot_axis_make(3e-12, 2e-3, true, false, true, 6);
    assert_true(fabs(a.low / 1e-12 - 1) < 1e-9 && fabs(a.high / 1e-2 - 1) < 1e-9);
    assert_true(isnan(mor_plot_axis_place(&a, 0.0)));
    assert_true(fabs(mor_plot_axis_place(&a, 1e-7) - 0.5) < 1e-12);
}

static void strange_ranges_can_be_drawn(void** state)
{
    (void)state;
    const double cases[][2] = { { NAN, NAN },     { INFINITY, -INFINITY }, { 0, 0 },      { 5, 5 },
                                { -5, -5 },       { 1e308, 1.1e308 },      { 0, 1e-320 }, { 1, 1 + 1e-15 },
                                { -1e300, 1e300 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int log = 0; log < 2; log++) {
            mor_plot_axis a = mor_plot_axis_make(cases[k][0], cases[k][1], log, false, true, 5);
            assert_true(isfinite(a.low) && isfinite(a.high) && a.low < a.high && a.tick_count >= 2);
        }
}

/* -------------------------------------------------------------------------------- files */

static void every_quantity_makes_a_well_formed_svg_with_its_titles(void** state)
{
    (void)state;
    char output[2048], arguments[256];
    for (const mor_quantity* q = mor_quantities(); q->name; q++) {
        snprintf(arguments, sizeof arguments, "ball.h5 %s -o one.svg", q->name);
        int status = run(arguments, output, sizeof output);
        if (status) print_error("%s", output);
        assert_int_equal(status, 0);
        char* svg = parse_svg(in_folder(2, "one.svg"));
        assert_non_null(strstr(svg, "<title>bouncing &lt;ball&gt; &amp; cart</title>"));
        char title[64]; /* "contact-forces" is titled "Contact forces" */
        snprintf(title, sizeof title, "\n%s: ", q->name);
        title[1] = (char)(title[1] - 'a' + 'A');
        if (strchr(title, '-')) *strchr(title, '-') = ' ';
        assert_non_null(strstr(svg, title));
        assert_non_null(strstr(svg, "st with lemke, step 0.005 s"));
        assert_true(strlen(svg) > 5000);
        free(svg);
    }
}

static void a_png_is_not_blank_and_has_the_curves_colours(void** state)
{
    (void)state;
    char output[2048];
    assert_int_equal(run("ball.h5 soft.h5 position:ball.z energy residual -o many.png", output, sizeof output), 0);
    assert_non_null(strstr(output, "many.png"));
    cairo_surface_t* png = cairo_image_surface_create_from_png(in_folder(2, "many.png"));
    assert_int_equal(cairo_surface_status(png), CAIRO_STATUS_SUCCESS);
    int width = cairo_image_surface_get_width(png), height = cairo_image_surface_get_height(png);
    assert_int_equal(width, 1840);
    assert_true(height > 1000 && height < 2000);
    const unsigned char* data = cairo_image_surface_get_data(png);
    int stride = cairo_image_surface_get_stride(png), blue = 0, vermillion = 0, white = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const unsigned char* p = data + y * stride + 4 * x; /* B G R */
            blue += abs(p[2] - 0) < 8 && abs(p[1] - 114) < 8 && abs(p[0] - 178) < 8;
            vermillion += abs(p[2] - 213) < 8 && abs(p[1] - 94) < 8 && p[0] < 8;
            white += p[0] == 255 && p[1] == 255 && p[2] == 255;
        }
    cairo_surface_destroy(png);
    assert_true(blue > 3000 && vermillion > 3000);
    assert_true(white > width * height / 2);
}

static void the_default_output_is_next_to_the_recording(void** state)
{
    (void)state;
    char output[2048];
    assert_int_equal(run("ball.h5 energy --title 'mine'", output, sizeof output), 0);
    assert_string_equal(output, "ball.svg\n");
    char* svg = parse_svg(in_folder(2, "ball.svg"));
    assert_non_null(strstr(svg, "<title>mine</title>"));
    assert_non_null(strstr(svg, "Energy: total, kinetic, potential"));
    free(svg);
    char command[320];
    snprintf(command, sizeof command, "ls '%s' | grep -q part", folder);
    assert_int_not_equal(system(command), 0);
}

static void mistakes_are_told_with_exit_status_2(void** state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } cases[] = {
        { "ball.h5 energie", "did you mean 'energy'" },
        { "ball.h5 flavour", "known: position, orientation" },
        { "ball.h5 position:bal", "did you mean 'ball'" },
        { "ball.h5 position:ball.q", "unknown component 'q'" },
        { "ball.h5 position:ball.wx", "unknown component 'wx'" },
        { "ball.h5 orientation:ball.q", "known: w, x, y, z" },
        { "ball.h5 /solver/nothing", "no such dataset" },
        { "ball.h5 /bodies/mass", "one row per frame" },
        { "ball.h5 position:", "a body name follows" },
        { "ball.h5 energy:ball", "write 'energy'" },
        { "ball.h5 energy -o figure.tiff", ".svg, .pdf or .png" },
        { "ball.h5 energy -o", "needs a value" },
        { "ball.h5 energy --colour red", "unknown option '--colour'" },
        { "ball.h5 joint-position:elbow", "ball.h5: no joints" },
        { "chain.h5 joint-position:hinge99", "no joint 'hinge99'; did you mean 'hinge" },
        { "plain.h5 gap", "contacts were not recorded one by one" },
        { "ball.h5 energy energy energy energy energy energy energy energy energy energy energy energy energy "
          "energy energy energy energy energy energy energy energy energy energy energy energy energy energy "
          "energy energy energy energy energy energy energy energy energy energy energy energy energy",
          "quantities" },
        { "ball.h5", "at least one quantity" },
        { "", "give a recording" },
        { "nowhere.h5 energy", "nowhere.h5: cannot open" },
        { "ball.h5 nowhere.h5 energy", "nowhere.h5: cannot open" },
        { "/dev/null energy", "not an HDF5 file" },
    };
    char output[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = run(cases[i].arguments, output, sizeof output);
        if (status != 2 || !strstr(output, cases[i].words))
            print_error("%s -> %d %s", cases[i].arguments, status, output);
        assert_int_equal(status, 2);
        assert_non_null(strstr(output, cases[i].words));
    }
    assert_int_equal(run("ball.h5 energy -o missing/folder.svg", output, sizeof output), 3);
    assert_int_equal(run("--help", output, sizeof output), 0);
    for (const mor_quantity* q = mor_quantities(); q->name; q++) assert_non_null(strstr(output, q->name));
}

/* A planar chain of twenty links, a free wheel that turns at 1.7 rad/s, and a ball recorded without contacts. */
static void scenes_of_the_plane_and_joints_are_drawn(void** state)
{
    (void)state;
    static const struct {
        const char* asked;
        int curves;
        const char *label, *unit, *note;
    } cases[] = {
        { "joint-position", 14, "hinge1", "", "14 of 20 joints, choose with joint-position:JOINT" },
        { "joint-position:hinge2", 1, "", "", "" },
        { "orientation:wheel", 1, "", "rad", "" },
        { "orientation:wheel.z", 1, "", "", "" },
        { "velocity:wheel.wz", 1, "", "rad/s", "" },
        { "acceleration:wheel.wz", 1, "", "rad/s\xc2\xb2", "" },
        { "position", 14, "link1", "m", "height y; 14 of 21 bodies, choose with position:BODY" },
        { "timing", 0, "", "s", "" },
    };
    enum { CASES = sizeof cases / sizeof *cases };
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(in_folder(2, "chain.h5"), &error);
    assert_non_null(r);
    mor_figure figure = { 0 };
    for (int i = 0; i < CASES; i++) {
        if (mor_plot_add(&figure, &r, 1, cases[i].asked, &error)) fail_msg("%s: %s", cases[i].asked, error.text);
        const mor_panel* p = &figure.panels[i];
        if (cases[i].curves) assert_int_equal(p->curve_count, cases[i].curves);
        else assert_true(p->curve_count > 4);
        if (*cases[i].label) assert_string_equal(p->curves[0].label, cases[i].label);
        if (*cases[i].unit) assert_string_equal(p->unit, cases[i].unit);
        if (cases[i].curves) assert_string_equal(p->note, cases[i].note);
    }
    assert_int_equal(figure.panels[0].curves[0].count, 11);
    assert_true(figure.panels[1].curves[0].y[0] == 0.0 && figure.panels[2].curves[0].y[0] == 0.0);
    for (int i = 0; i <= 10; i++) {
        assert_true(fabs(figure.panels[2].curves[0].y[i] - 1.7 * 0.01 * i) < 1e-12);
        assert_true(fabs(figure.panels[4].curves[0].y[i] - 1.7) < 1e-12);
    }
    mor_figure_clear(&figure);
    mor_recording_close(r);
    char output[4096];
    static const char* const lines[][2] = {
        { "chain.h5 soft.h5 energy timing", "chain: potential, soft: total" },
        { "chain.h5 chain.h5 joint-error", "Joint error: chain, chain" },
        { "plain.h5 contacts energy", "Contacts" },
        { "chain.h5 /joints/position", "/joints/position: 0, 1, 2" },
    };
    for (int i = 0; i < 4; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s -o drawn.svg", lines[i][0]);
        if (run(line, output, sizeof output) != 0) fail_msg("%s: %s", line, output);
        char* svg = parse_svg(in_folder(2, "drawn.svg"));
        assert_non_null(strstr(svg, lines[i][1]));
        free(svg);
    }
    assert_int_equal(run("chain.h5 energy -o drawn.pdf --title 'a <b> & \"c\"'", output, sizeof output), 0);
    size_t size;
    char* pdf = slurp(in_folder(2, "drawn.pdf"), &size);
    assert_true(size > 2000 && memcmp(pdf, "%PDF-", 5) == 0);
    free(pdf);
}

/* ------------------------------------------------------------------------------- curves */

static void curves_are_the_recorded_numbers(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(paths[0], &error);
    assert_non_null(r);
    mor_figure figure = { 0 };
    static const char* const asked[] = { "position:ball",       "acceleration:ball.z",
                                         "contact-forces:ball", "position:cart.left.x",
                                         "velocity:ball.norm",  "contact-forces",
                                         "orientation:ball",    "gap",
                                         "/solver/iterations",  "/velocity" };
    for (int i = 0; i < 10; i++) assert_int_equal(mor_plot_add(&figure, &r, 1, asked[i], &error), MOR_OK);
    const mor_panel* p = figure.panels;
    assert_int_equal(p[0].curve_count, 3);
    assert_true(fabs(p[0].curves[0].y[100] - 0.15) < 1e-12);
    assert_true(fabs(p[0].curves[2].y[40] - (1.0 - 0.5 * 9.81 * 0.04)) < 1e-12);
    assert_int_equal(p[1].curve_count, 1);
    assert_true(isnan(p[1].curves[0].y[0]));
    assert_true(fabs(p[1].curves[0].y[50] + 9.81) < 1e-9); /* free fall */
    /* at rest the contact carries the weight, on the ball: upwards */
    assert_true(fabs(p[2].curves[2].y[600] - 9.81) < 1e-9);
    assert_true(fabs(p[2].curves[0].y[600] + 0.981) < 1e-9);
    assert_true(fabs(p[3].curves[0].y[100] - 0.2 * sin(1.0)) < 1e-12);
    assert_true(fabs(p[4].curves[0].y[50] - hypot(0.3, 9.81 * 0.25)) < 1e-12);
    assert_true(fabs(p[5].curves[0].y[600] - 9.81) < 1e-9);
    assert_true(p[2].steps && !p[0].steps);
    assert_int_equal(p[6].curve_count, 4);
    assert_true(p[6].curves[0].y[100] == 1.0 && p[6].curves[3].y[100] == 0.0); /* never turned */
    assert_int_equal(p[7].curve_count, 2);
    /* in the air; at rest its one contact has the gap 0 */
    assert_true(isnan(p[7].curves[0].y[0]) && p[7].curves[0].y[600] == 0.0);
    assert_int_equal(p[8].curve_count, 1);
    assert_true(p[8].curves[0].y[600] == 6.0); /* 6 + 600 % 5 */
    assert_int_equal(p[9].curve_count, 14);    /* of 18 columns */
    assert_true(p[9].curves[6].y[50] == 0.3);
    assert_string_equal(p[9].unit, "m/s, rad/s");
    mor_figure_clear(&figure);
    mor_recording_close(r);
}

/* A curve of a million points must neither take for ever nor make a file of a hundred megabytes. */
static void long_curves_are_thinned(void** state)
{
    (void)state;
    const int n = 1000000;
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    for (int i = 0; i < n; i++) {
        x[i] = i;
        y[i] = sin(0.001 * i) + (i == 777777 ? 9.0 : 0.0); /* the spike must stay */
    }
    mor_figure figure = { .title = "long" };
    mor_panel* panel = mor_figure_panel(&figure, "wave", "m");
    assert_true(mor_panel_curve(panel, "", 0, 0, x, y, n));
    mor_error error = { 0 };
    assert_int_equal(mor_figure_write(&figure, in_folder(2, "long.svg"), &error), MOR_OK);
    char* svg = parse_svg(paths[2]);
    assert_in_range(strlen(svg), 20000, 800000);
    free(svg);
    mor_figure_clear(&figure);
    free(x);
    free(y);
}

static void empty_and_strange_curves_are_drawn(void** state)
{
    (void)state;
    mor_figure figure = { .title = "strange" };
    double x[4] = { 0, 1, 2, 3 }, nothing[4] = { NAN, NAN, NAN, NAN }, zero[4] = { 0 },
           wild[4] = { 1, INFINITY, -INFINITY, 2 };
    mor_figure_panel(&figure, "no curves", "");
    mor_panel_curve(mor_figure_panel(&figure, "NaN", "m"), "a", 0, 0, x, nothing, 4);
    mor_panel* log = mor_figure_panel(&figure, "log of zero", "m");
    log->log = true;
    mor_panel_curve(log, "b", 0, 0, x, zero, 4);
    mor_panel_curve(mor_figure_panel(&figure, "infinite", "m"), "c", 0, 0, x, wild, 4);
    mor_panel* crowd = mor_figure_panel(&figure, "crowd", "");
    for (int i = 0; i < 40; i++)
        mor_panel_curve(crowd, "a body with quite a long name that goes on and on \xc3\xa9\xc3\xa9\xc3\xa9", i, i / 7,
                        x, zero, 4);
    mor_error error = { 0 };
    assert_int_equal(mor_figure_write(&figure, in_folder(2, "strange.png"), &error), MOR_OK);
    assert_int_equal(mor_figure_write(&figure, in_folder(2, "strange.svg"), &error), MOR_OK);
    free(parse_svg(paths[2]));
    mor_figure_clear(&figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_and_cover_the_range),
        cmocka_unit_test(labels_use_prefixes_and_true_minus_signs),
        cmocka_unit_test(strange_ranges_can_be_drawn),
        cmocka_unit_test(every_quantity_makes_a_well_formed_svg_with_its_titles),
        cmocka_unit_test(a_png_is_not_blank_and_has_the_curves_colours),
        cmocka_unit_test(the_default_output_is_next_to_the_recording),
        cmocka_unit_test(mistakes_are_told_with_exit_status_2),
        cmocka_unit_test(scenes_of_the_plane_and_joints_are_drawn),
        cmocka_unit_test(curves_are_the_recorded_numbers),
        cmocka_unit_test(long_curves_are_thinned),
        cmocka_unit_test(empty_and_strange_curves_are_drawn),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
