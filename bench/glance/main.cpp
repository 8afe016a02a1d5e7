// Engines at a glance: ten small scenes with known answers, five engines, five lengths of the step; accuracy against CPU
// time, one picture per scene.
//   bench_glance [-o PAGE.md] [-i FOLDER for pictures]
// Every engine gets the bodies of the same scene file (bench/glance/*.yaml). The error is the largest distance of a body
// from where it should be, over ten times of the run; of the tumbling box its angle. CPU time is that of the steps
// alone, the first left out, the least of three rounds in which the engines take turns.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>

std::vector<Config> dart_configs();

namespace
{

const double g = 9.81, leaning = 4.905, pressing = 8.495709211125342;
const double steps[] = { 0.02, 0.01, 0.005, 0.0025, 0.00125 };
const int rounds = 3, samples = 10;
const double floor_error = 1e-9; // drawn as the least error

// Where body `i` (planes counted) should be at time t, given where it began.
typedef mor_vec3 (*Answer)(int i, double t, mor_vec3 start);

mor_vec3 rest(int, double, mor_vec3 p) { return p; }
mor_vec3 shifted(mor_vec3 p, double x) { return mor_v3(p.x + x, p.y, p.z); }

mor_vec3 slide(int, double t, mor_vec3 p)
{
    double a = 0.3 * g, end = 2 / a, s = std::min(t, end);
    return shifted(p, 2 * s - 0.5 * a * s * s);
}

mor_vec3 slope(int, double t, mor_vec3 p) { return shifted(p, 0.5 * (leaning - 0.4 * pressing) * t * t); }
mor_vec3 roll(int, double t, mor_vec3 p) { return shifted(p, 0.5 * 5.0 / 7.0 * leaning * t * t); }

mor_vec3 skid(int, double t, mor_vec3 p)
{
    double a = 0.2 * g, end = 2.0 / 7.0 * 2 / a, s = std::min(t, end);
    return shifted(p, 2 * s - 0.5 * a * s * s + 5.0 / 7.0 * 2 * (t - s));
}

// They touch after 0.5 m at 3 m/s; then both move with (2 - 3) / 4 m/s.
mor_vec3 collide(int i, double t, mor_vec3 p)
{
    double meet = 0.5 / 3, before = std::min(t, meet);
    return shifted(p, (i == 0 ? 2 : -1) * before - 0.25 * (t - before));
}

// Gaps of 0.2 m: the n-th blow leaves 3 / (n + 1) m/s.
mor_vec3 row(int i, double t, mor_vec3 p)
{
    double x = 0, at = 0;
    for (int n = 1; n <= 4; n++) {
        double v = 3.0 / n, length = n < 4 ? 0.2 / v : INFINITY, part = std::min(length, t - at);
        if (part <= 0) break;
        if (i < n) x += v * part;
        at += length;
    }
    return shifted(p, x);
}

struct Case {
    const char *name, *what;
    double end, mu;
    Answer answer; // null: the tumbling box
};

const Case cases[] = {
    { "tumble", "a box without forces turns over", 2, 0, nullptr },
    { "slide", "a box slides to a stop", 1, 0.3, slide },
    { "slope", "a box slides down a slope", 1, 0.4, slope },
    { "stick", "a box stays on a slope", 2, 0.7, rest },
    { "skid", "a ball skids, then rolls", 2, 0.2, skid },
    { "roll", "a ball rolls down a slope", 1, 0.7, roll },
    { "collide", "two balls meet and go on together", 1, 0, collide },
    { "row", "a row of four boxes is hit", 1, 0, row },
    { "stack", "ten boxes stand on each other", 2, 0.5, rest },
    { "heavy", "1000 kg stand on 1 kg", 2, 0.5, rest },
};

// Euler's equations and the quaternion by the Runge-Kutta rule of order four, 20000 steps a second.
mor_quat tumbled(const Body& b, double t)
{
    mor_quat q = b.pose.rotation;
    mor_vec3 w = mor_unrotate(q, b.spin); // body axes
    const double* I = b.inertia;
    auto rate = [&](mor_vec3 v) {
        return mor_v3((I[1] - I[2]) / I[0] * v.y * v.z, (I[2] - I[0]) / I[1] * v.z * v.x,
                      (I[0] - I[1]) / I[2] * v.x * v.y);
    };
    auto turn = [](mor_quat p, mor_vec3 v) {
        mor_quat d = mor_quat_mul(p, { 0, v.x, v.y, v.z });
        return mor_quat{ d.w / 2, d.x / 2, d.y / 2, d.z / 2 };
    };
    auto moved = [](mor_quat p, double h, mor_quat d) {
        return mor_quat{ p.w + h * d.w, p.x + h * d.x, p.y + h * d.y, p.z + h * d.z };
    };
    int n = (int)std::lround(20000 * t);
    double h = n ? t / n : 0;
    for (int i = 0; i < n; i++) {
        mor_vec3 a = rate(w), b2 = rate(mor_add(w, mor_scale(h / 2, a))), c = rate(mor_add(w, mor_scale(h / 2, b2))),
                 d = rate(mor_add(w, mor_scale(h, c)));
        mor_quat qa = turn(q, w), qb = turn(moved(q, h / 2, qa), mor_add(w, mor_scale(h / 2, a))),
                 qc = turn(moved(q, h / 2, qb), mor_add(w, mor_scale(h / 2, b2))),
                 qd = turn(moved(q, h, qc), mor_add(w, mor_scale(h, c)));
        q = moved(moved(q, h / 6, qa), h / 3, qb);
        q = mor_quat_normalize(moved(moved(q, h / 3, qc), h / 6, qd));
        w = mor_add(w, mor_scale(h / 6, mor_add(mor_add(a, d), mor_scale(2, mor_add(b2, c)))));
    }
    return q;
}

double angle(mor_quat a, mor_quat b)
{
    mor_quat d = mor_quat_mul(mor_quat_conj(a), b);
    return 2 * std::atan2(std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z), std::fabs(d.w));
}

double cpu()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct Point {
    double h, error = 0, time = INFINITY; // CPU seconds per simulated second
    bool failed = false;
};

void run(const Case& c, const Config& config, const std::vector<mor_quat>& turned, Point& p)
{
    char path[600], step[64];
    snprintf(path, sizeof path, "%s/%s.yaml", MOREAU_GLANCE, c.name);
    snprintf(step, sizeof step, "time.step=%.17g", p.h);
    std::vector<std::string> sets = { step };
    Scene s = read_scene(path, sets, c.mu);
    auto engine = config.make(s, path, sets);
    int n = (int)std::lround(c.end / p.h), every = n / samples;
    double spent = 0, error = 0;
    for (int k = 1; k <= n && !p.failed; k++) {
        double begin = cpu();
        if (!engine->step()) p.failed = true;
        if (k > 1) spent += cpu() - begin;
        if (k % every) continue;
        for (size_t i = 0; i < s.bodies.size(); i++) {
            if (s.bodies[i].fixed) continue;
            mor_pose now = engine->pose((int)i);
            double e = c.answer ? mor_norm(mor_sub(now.position, c.answer((int)i, k * p.h, s.bodies[i].pose.position)))
                                : angle(now.rotation, turned[(size_t)(k / every)]);
            error = std::max(error, std::isfinite(e) ? e : 1e9);
        }
    }
    p.error = error;
    p.time = std::min(p.time, spent / (c.end - p.h));
}

// ------------------------------------------------------------------------------------------ pictures

const char* const colors[] = { "#1769c4", "#c43d00", "#e08a5b", "#2e8b57", "#7fbf9b", "#7a4fbf", "#b39ad9", "#b5890b" };

typedef std::vector<std::vector<Point>> Curves; // engine, step

void decade(FILE* f, double x, double y, const char* anchor, int power)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">1e%d</text>\n", x, y, anchor, power);
}

void draw(const std::string& path, const Case& c, const std::vector<Config>& engines, const Curves& curves)
{
    FILE* f = fopen(path.c_str(), "w");
    if (!f) throw std::runtime_error("cannot write " + path);
    double x0 = 1e9, x1 = -1e9, y0 = 1e9, y1 = -1e9;
    for (const auto& curve : curves)
        for (const Point& p : curve) {
            if (p.failed) continue;
            double x = std::log10(1e3 * p.time), y = std::log10(std::max(floor_error, p.error));
            x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
        }
    x0 = std::floor(x0), x1 = std::ceil(x1 + 1e-9), y0 = std::floor(y0), y1 = std::ceil(y1 + 1e-9);
    const double left = 52, top = 30, wide = 330, high = 230;
    auto X = [&](double x) { return left + (x - x0) / (x1 - x0) * wide; };
    auto Y = [&](double y) { return top + (y1 - y) / (y1 - y0) * high; };
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 540 310\" width=\"540\" height=\"310\" "
            "font-family=\"sans-serif\" font-size=\"11\" fill=\"#18212b\">\n<rect width=\"540\" height=\"310\" "
            "fill=\"#ffffff\"/>\n<text x=\"%g\" y=\"18\" font-size=\"13\" font-weight=\"bold\">%s: %s</text>\n",
            left, c.name, c.what);
    for (int k = (int)x0; k <= (int)x1; k++) {
        fprintf(f, "<path d=\"M%.1f %.1fv%g\" stroke=\"#dfe4ea\"/>\n", X(k), top, high);
        decade(f, X(k), top + high + 15, "middle", k);
    }
    int stride = y1 - y0 > 6 ? 2 : 1;
    for (int k = (int)y0; k <= (int)y1; k += stride) {
        fprintf(f, "<path d=\"M%g %.1fh%g\" stroke=\"#dfe4ea\"/>\n", left, Y(k), wide);
        decade(f, left - 5, Y(k) + 4, "end", k);
    }
    fprintf(f,
            "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">CPU time per simulated second [ms]</text>\n"
            "<text x=\"12\" y=\"%g\" text-anchor=\"middle\" transform=\"rotate(-90 12 %g)\">error [%s]</text>\n",
            left + wide / 2, top + high + 34, top + high / 2, top + high / 2, c.answer ? "m" : "rad");
    for (size_t e = 0; e < engines.size(); e++) {
        const char* color = colors[e % 8];
        fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" d=\"", color, e == 0 ? "2.6" : "1.5");
        char command = 'M';
        for (const Point& p : curves[e])
            if (!p.failed) {
                fprintf(f, "%c%.1f %.1f", command, X(std::log10(1e3 * p.time)),
                        Y(std::log10(std::max(floor_error, p.error))));
                command = 'L';
            }
        fprintf(f, "\"/>\n");
        for (const Point& p : curves[e])
            if (!p.failed)
                fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", X(std::log10(1e3 * p.time)),
                        Y(std::log10(std::max(floor_error, p.error))), e == 0 ? 3.5 : 2.5, color);
        double y = top + 12 + 18 * (double)e;
        fprintf(f, "<path d=\"M%g %gh16\" stroke=\"%s\" stroke-width=\"3\"/><text x=\"%g\" y=\"%g\">%s</text>\n",
                left + wide + 14, y - 4, color, left + wide + 34, y, engines[e].name.c_str());
    }
    fprintf(f, "</svg>\n");
    fclose(f);
}

// ---------------------------------------------------------------------------------------------- page

// Whether another engine has a point that is at least as accurate and cheaper.
bool beaten(const Curves& curves, size_t own)
{
    for (const Point& mine : curves[own]) {
        bool worse = false;
        for (size_t e = 0; e < curves.size(); e++)
            for (const Point& p : curves[e])
                worse = worse || (e != own && !p.failed && p.time < mine.time &&
                                  std::max(floor_error, p.error) <= std::max(floor_error, mine.error));
        if (!worse) return false;
    }
    return true;
}

std::string versions()
{
    std::string all;
#ifdef HAVE_MUJOCO
    all += " MuJoCo " MUJOCO_VERSION;
#endif
#ifdef HAVE_BULLET
    all += ", Bullet " BULLET_VERSION;
#endif
#ifdef HAVE_ODE
    all += ", ODE " ODE_VERSION;
#endif
#ifdef HAVE_DART
    all += ", DART " DART_VERSION;
#endif
    return all[0] == ',' ? all.substr(1) : all;
}

void write_page(FILE* f, const std::vector<Config>& engines, const std::vector<Curves>& all)
{
    size_t scenes = all.size();
    std::vector<int> best(engines.size()), front(engines.size()), first(engines.size());
    for (const Curves& curves : all) {
        double least = INFINITY, cheapest = INFINITY;
        for (const auto& curve : curves) {
            if (!curve[1].failed) least = std::min(least, std::max(floor_error, curve[1].error));
            cheapest = std::min(cheapest, curve[1].time);
        }
        for (size_t e = 0; e < engines.size(); e++) {
            best[e] += !curves[e][1].failed && std::max(floor_error, curves[e][1].error) <= 1.01 * least;
            first[e] += curves[e][1].time <= 1.01 * cheapest;
            front[e] += !beaten(curves, e);
        }
    }
    fprintf(f,
            "# Engines at a glance\n\n"
            "Ten small scenes whose answers are known in closed form (the tumbling box: by a fine Runge-Kutta rule), "
            "run by\neach engine with five lengths of the step, 0.02 s to 0.00125 s. Written by\n\n"
            "    make bench-glance\n\n"
            "Every engine gets the bodies of the same files, [bench/glance](../../bench/glance). The error is the "
            "largest distance\nof a body from where it should be, over ten times of the run; of the tumbling box its "
            "angle. CPU time is that of\nthe steps alone, the first left out, the least of three rounds in which the "
            "engines take turns in one process.\nErrors below 1e-9 are drawn as 1e-9. Down and to the left is "
            "better; the points of a line are the steps.\n\n");
    fprintf(f,
            "Moreau runs its default method. MuJoCo as it comes has contacts that give way on purpose, so bodies at "
            "rest\nsink a little; \"stiff\" is an elliptic cone with a time constant of two "
            "steps and impratio 10. ODE: QuickStep with\n20 iterations and the full step. Bullet: 10 and 200 "
            "iterations, in single "
            "precision as Debian builds it. DART: its own\ncollision detector and Dantzig's method. Versions:%s."
            "\n\n",
            versions().c_str());
    fprintf(f, "| engine | least error at h = 0.01 s | least time at h = 0.01 s | on the front |\n|---|---|---|---|\n");
    for (size_t e = 0; e < engines.size(); e++)
        fprintf(f, "| %s | %d of %zu | %d of %zu | %d of %zu |\n", engines[e].name.c_str(), best[e], scenes, first[e],
                scenes, front[e], scenes);
    fprintf(
        f,
        "\nOn the front: for at least one of its steps no other engine, with any step, is cheaper and at least "
        "as accurate.\n\nWhere bodies rest or go on together after a blow, Moreau is exact up to rounding, "
        "because gaps and impacts are met within\nthe step. Where friction or rolling accelerates a body, most "
        "engines have the same error of first order in the step, and\nODE and Bullet are cheaper than "
        "Moreau. The tumbling box has the same error at the two smallest steps: Moreau turns a body in two halves when "
        "a step turns\nit by more than 0.01 rad, and in one when it does not, so that both steps turn it by "
        "0.00125 s at a time.\n\n## At h = 0.01 s\n\nError and CPU time per simulated second [ms].\n\n| scene |");
    for (const Config& e : engines) fprintf(f, " %s |", e.name.c_str());
    fprintf(f, "\n|---|");
    for (size_t e = 0; e < engines.size(); e++) fprintf(f, "---|");
    fprintf(f, "\n");
    for (size_t c = 0; c < scenes; c++) {
        fprintf(f, "| %s |", cases[c].name);
        for (const auto& curve : all[c]) {
            if (curve[1].failed) fprintf(f, " gave up |");
            else fprintf(f, " %.1e, %.2g |", curve[1].error, 1e3 * curve[1].time);
        }
        fprintf(f, "\n");
    }
    fprintf(f, "\n## Pictures\n");
    for (size_t c = 0; c < scenes; c++)
        fprintf(f, "\n![%s: error against CPU time](../images/glance-%s.svg)\n", cases[c].what, cases[c].name);
}

} // namespace

int main(int argc, char** argv)
{
    const char *page = nullptr, *folder = nullptr;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-o")) page = argv[i + 1];
        else if (!strcmp(argv[i], "-i")) folder = argv[i + 1];
    }
    std::vector<Config> engines = { { "Moreau", moreau_configs()[0].make } };
#ifdef HAVE_MUJOCO
    for (const Config& c : mujoco_plain_and_stiff()) engines.push_back(c);
#endif
#ifdef HAVE_BULLET
    for (const Config& c : bullet_configs()) engines.push_back(c);
#endif
#ifdef HAVE_ODE
    for (const Config& c : ode_configs())
        if (c.name.find("200") == std::string::npos) engines.push_back(c);
#endif
#ifdef HAVE_DART
    for (const Config& c : dart_configs()) engines.push_back(c);
#endif
    try {
        std::vector<Curves> all;
        for (const Case& c : cases) {
            Curves curves(engines.size());
            for (auto& curve : curves)
                for (double h : steps) curve.push_back({ h });
            std::vector<mor_quat> turned;
            char path[600];
            snprintf(path, sizeof path, "%s/%s.yaml", MOREAU_GLANCE, c.name);
            Scene s = read_scene(path, {}, c.mu);
            for (int k = 0; !c.answer && k <= samples; k++) turned.push_back(tumbled(s.bodies[0], c.end * k / samples));
            for (int r = 0; r < rounds; r++)
                for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
                    for (size_t e = 0; e < engines.size(); e++) run(c, engines[e], turned, curves[e][k]);
            for (size_t e = 0; e < engines.size(); e++) {
                printf("%-8s %-18s", c.name, engines[e].name.c_str());
                for (const Point& p : curves[e])
                    if (p.failed) printf("  gave up");
                    else printf("  %.1e %.3g ms", p.error, 1e3 * p.time);
                printf("\n");
            }
            fflush(stdout);
            if (folder) draw(std::string(folder) + "/glance-" + c.name + ".svg", c, engines, curves);
            all.push_back(curves);
        }
        if (page) {
            FILE* f = fopen(page, "w");
            if (!f) throw std::runtime_error(std::string("cannot write ") + page);
            write_page(f, engines, all);
            fclose(f);
        }
    } catch (const std::exception& error) {
        fprintf(stderr, "bench_glance: %s\n", error.what());
        return 1;
    }
    return 0;
}
