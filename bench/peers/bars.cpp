// What the project promises of its speed: our time against a peer's, or against our own, with the bar beside it.
//   bench_bars [--limit SECONDS] [--filter TEXT]
// Each line takes two runs (or more) in turn, ROUNDS times, after one that is not timed; that one ends after --limit
// seconds of CPU time (default 2), and all do the steps of the slowest. The time of a step is the CPU time of the process around it; for threads it is the time of
// the clock. Figures are medians. Lines that say "once" are too long for more than one round. How deep the bodies of a
// pile go is chance in one run: penetrations are medians over SEEDS drawings of the scene, the same ones for all.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

enum { ROUNDS = 5, SEEDS = 7 };

std::string folder; // of the scenes made here
double most = 2;    // seconds for a run

double wall()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct Run {
    std::string scene;
    std::vector<std::string> sets;
    std::string engine; // of ours or of a peer, as in its table; "ours": the scene as it is
    int steps, skip;    // the first `skip` are not timed
    int threads = 1;    // of ours; more than 1, or 0 for one: time of the clock
};

struct Figure {
    std::vector<double> times;
    double time = NAN, drift = 0, deepest = 0;
    int steps = 0;
    bool there = true, failed = false;
};

double median(std::vector<double> x)
{
    std::sort(x.begin(), x.end());
    return x.empty() ? NAN : x[x.size() / 2];
}

std::string path_of(const std::string& scene)
{
    std::string made = folder + "/" + scene + ".yaml";
    return std::filesystem::exists(made) ? made : std::string(MOREAU_SCENES) + "/" + scene + ".yaml";
}

// A pyramid of a single row of cubes at the bottom, as S2; `gap`: height that each layer falls.
void make_pyramid(const std::string& name, int base, double gap)
{
    std::ofstream f(folder + "/" + name + ".yaml");
    f.precision(17);
    f << "moreau: 1\ntime: { step: 0.01, end: 100 }\nmaterials:\n  stone: { friction: 0.5 }\nbodies:\n"
         "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, material: stone, fixed: true "
         "}\n";
    for (int row = 0; row < base; row++)
        f << "  - { name: row" << row << ", shape: { box: [1, 1, 1] }, material: stone, mass: 1, grid: { count: ["
          << base - row << ", 1, 1], spacing: [1.05, 1, 1], origin: [" << -0.525 * (base - 1 - row) << ", 0, "
          << 0.5 + row + gap * (row + 1) << "] } }\n";
}

// Humanoids that stand, in rows of eight.
void make_humanoids(const std::string& name, int count)
{
    std::ofstream f(folder + "/" + name + ".yaml");
    f << "moreau: 1\ntime: { step: 0.001, end: 60 }\nmethod: { solver: { name: auto, tol: 1e-10 } }\nbodies:\n"
         "  - { name: floor, shape: plane, fixed: true, friction: 0.8 }\nrobots:\n";
    for (int i = 0; i < count; i++)
        f << "  - name: human" << i << "\n    urdf: " << std::filesystem::absolute(MOREAU_SCENES).string()
          << "/robots/humanoid.urdf\n    base: floating\n    position: [" << 2 * (i % 8) << ", " << 2 * (i / 8)
          << ", 0.856055732]\n"
             "    joints: { l_hip_pitch: -0.3, l_knee: 0.6, l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, "
             "r_ankle_pitch: -0.3, l_shoulder_roll: 0.15, r_shoulder_roll: -0.15, l_elbow: -0.4, r_elbow: -0.4 }\n";
    f << "controllers:\n";
    for (int i = 0; i < count; i++)
        f << "  - { type: pid, robot: human" << i << ", kp: 1500, kd: 80, gravity_compensation: true }\n";
}

void make_spheres(const std::string& name, int side)
{
    std::ofstream f(folder + "/" + name + ".yaml");
    double half = 0.55 * side;
    f << "moreau: 1\ntime: { step: 0.005, end: 100 }\nseed: 3\nmethod: { formulation: { name: sequential-impulses, "
         "iterations: 10 } }\nbodies:\n"
         "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, friction: 0.5, fixed: true }\n"
      << "  - { name: left, shape: { plane: { normal: [1, 0, 0], point: [" << -half
      << ", 0, 0] } }, friction: 0.5, fixed: true }\n"
      << "  - { name: right, shape: { plane: { normal: [-1, 0, 0], point: [" << half
      << ", 0, 0] } }, friction: 0.5, fixed: true }\n"
      << "  - { name: front, shape: { plane: { normal: [0, 1, 0], point: [0, " << -half
      << ", 0] } }, friction: 0.5, fixed: true }\n"
      << "  - { name: back, shape: { plane: { normal: [0, -1, 0], point: [0, " << half
      << ", 0] } }, friction: 0.5, fixed: true }\n"
      << "  - { name: ball, shape: { sphere: 0.5 }, friction: 0.5, mass: 1, grid: { count: [" << side << ", " << side
      << ", " << side << "], spacing: [1.01, 1.01, 1.0], origin: [" << -0.505 * (side - 1) << ", "
      << -0.505 * (side - 1) << ", 0.5] } }\n";
}

const Config* find(const std::vector<Config>& configs, const std::string& name)
{
    for (const Config& c : configs)
        if (c.name == name) return &c;
    return nullptr;
}

// Ours with a number of threads, which the interface for all engines does not know.
std::unique_ptr<Engine> open(const Run& run, const std::vector<Config>& configs, const Scene* scene)
{
    std::string path = path_of(run.scene);
    if (run.engine == "ours") return moreau_with_threads(path.c_str(), run.sets, run.threads > 1 ? run.threads : 1);
    const Config* c = find(configs, run.engine);
    if (!c || !scene) return nullptr;
    return c->make(*scene, path.c_str(), run.sets);
}

// One round of a run. What is not timed ends by time too and says how many steps the others take, and what the answer is
// worth.
void measure(const Run& run, const std::vector<Config>& configs, const Scene* scene, int steps, bool timed, Figure& f)
{
    std::unique_ptr<Engine> engine = open(run, configs, scene);
    if (!engine) {
        f.there = false;
        return;
    }
    auto clock = run.threads == 1 ? mor_cpu_clock : wall;
    double begin = clock(), start = begin;
    int done = 0;
    for (; done < steps && !f.failed; done++) {
        if (!timed && done > run.skip && done % 25 == 0 && clock() - begin > most) break;
        if (done == run.skip) start = clock(); /* once: reading the clock takes as long as a step of a small scene */
        f.failed = !engine->step();
        if (!timed && scene && done % 25 == 24) f.deepest = std::max(f.deepest, penetration(*scene, *engine));
    }
    if (timed) f.times.push_back(done > run.skip ? (clock() - start) / (done - run.skip) : NAN);
    f.steps = done;
    if (timed || !scene) return;
    for (size_t i = 0; i < scene->bodies.size(); i++)
        f.drift = std::max(f.drift, mor_norm(mor_sub(engine->pose((int)i).position, scene->bodies[i].pose.position)));
}

// All runs in turn; steps are those that the slowest of them does in its time.
std::vector<Figure> in_turn(const std::vector<Run>& runs, const std::vector<Config>& configs, int rounds = ROUNDS)
{
    std::vector<Figure> figures(runs.size());
    std::vector<std::unique_ptr<Scene>> scenes;
    for (const Run& r : runs) {
        bool wanted = r.engine != "ours" || r.scene.rfind("humanoids", 0) != 0;
        scenes.push_back(wanted ? std::make_unique<Scene>(read_scene(path_of(r.scene).c_str(), r.sets, 0.5)) : nullptr);
    }
    int fewest = runs[0].steps;
    for (size_t k = 0; k < runs.size(); k++) {
        measure(runs[k], configs, scenes[k].get(), runs[k].steps, false, figures[k]);
        if (figures[k].there) fewest = std::min(fewest, figures[k].steps);
    }
    for (int round = 0; round < rounds; round++)
        for (size_t k = 0; k < runs.size(); k++)
            if (figures[k].there)
                measure(runs[k], configs, scenes[k].get(), std::max(fewest, runs[k].skip + 1), true, figures[k]);
    for (Figure& f : figures) f.time = median(f.times);
    return figures;
}

// The largest penetration in a run of that many steps, over drawings of the scene: its own and SEEDS - 1 others.
double deepest(const Run& run, int steps, const std::vector<Config>& configs)
{
    std::vector<double> all;
    for (int seed = 0; seed < SEEDS; seed++) {
        Run r = run;
        if (seed > 0) r.sets.push_back("seed=" + std::to_string(seed));
        Scene scene = read_scene(path_of(r.scene).c_str(), r.sets, 0.5);
        Figure f;
        measure(r, configs, &scene, steps, false, f);
        if (f.there) all.push_back(f.deepest);
    }
    return median(all);
}

const char* filter = "";

void line(const std::string& what, double value, double bar, const char* unit, const std::string& more)
{
    if (std::isnan(value))
        std::printf("| %s | - | %.3g%s | not measured | %s |\n", what.c_str(), bar, unit, more.c_str());
    else
        std::printf("| %s | %.3g%s | %.3g%s | %s | %s |\n", what.c_str(), value, unit, bar, unit,
                    value <= bar ? "holds" : "misses", more.c_str());
    std::fflush(stdout);
}

std::string times(const Figure& a, const Figure& b)
{
    char text[160];
    std::snprintf(text, sizeof text, "%.4g and %.4g ms, %d steps%s", 1e3 * a.time, 1e3 * b.time, a.steps,
                  a.failed || b.failed ? ", a step failed" : "");
    return text;
}

bool wanted(const char* what) { return std::strstr(what, filter) != nullptr; }

// Time of the first run over that of the second.
std::vector<Figure> ratio(const char* what, double bar, const Run& ours, const Run& other, const std::vector<Config>& c)
{
    if (!wanted(what)) return {};
    std::vector<Figure> f = in_turn({ ours, other }, c);
    line(what, f[0].time / f[1].time, bar, "", times(f[0], f[1]));
    return f;
}

void drift(const char* what, const std::vector<Figure>& f)
{
    if (!f.empty()) line(std::string(what) + ": drift", f[0].drift, 1e-9, " m", "");
}

// The largest ratio of the cost at a tolerance to that at the next tighter one.
void ladder(const char* what, const std::string& scene, int steps, const std::vector<Config>& c)
{
    if (!wanted(what)) return;
    const char* tolerances[] = { "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10" };
    std::vector<Run> runs;
    for (const char* t : tolerances)
        runs.push_back({ scene, { std::string("method.solver={ name: auto, tol: ") + t + " }" }, "ours", steps, 0 });
    std::vector<Figure> f = in_turn(runs, c);
    double worst = 0;
    std::string all;
    for (size_t k = 0; k < f.size(); k++) {
        char text[32];
        std::snprintf(text, sizeof text, "%s%.3g", k ? ", " : "", 1e3 * f[k].time);
        all += text;
        if (k + 1 < f.size()) worst = std::max(worst, f[k].time / f[k + 1].time);
    }
    line(what, worst, 1.1, "", all + " ms from 1e-3 to 1e-10");
}

// Memory of a run in a process of its own, beyond what it has before the world is made.
void memory(const char* what, const std::string& scene, int steps)
{
    if (!wanted(what)) return;
    int pipes[2];
    std::fflush(stdout);
    if (pipe(pipes)) return;
    pid_t child = fork();
    if (child == 0) {
        rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        double result[4] = { NAN, NAN, NAN, NAN }; // bytes beyond the bar's, contacts, ms per step, of the bar
        try {
            mor_step_report report = {};
            mor_error error = {};
            mor_scene* s = mor_scene_load(path_of(scene).c_str(), nullptr, nullptr, &error);
            mor_world* w = s ? mor_scene_build(s, 1, &error) : nullptr;
            int contacts = 0, bodies = w ? mor_world_body_count(w) : 0;
            double begin = mor_cpu_clock();
            for (int i = 0; w && i < steps; i++) {
                if (mor_world_step(w, &report, &error) != MOR_OK) break;
                contacts = std::max(contacts, report.contacts);
            }
            result[2] = 1e3 * (mor_cpu_clock() - begin) / steps;
            getrusage(RUSAGE_SELF, &after);
            double bytes = 1024.0 * (double)(after.ru_maxrss - before.ru_maxrss);
            result[0] = bytes / (1200.0 * contacts + 2000.0 * bodies), result[1] = contacts, result[3] = bytes;
        } catch (...) {
        }
        ssize_t written = write(pipes[1], result, sizeof result);
        _exit(written == (ssize_t)sizeof result ? 0 : 1);
    }
    close(pipes[1]);
    double result[4] = { NAN, NAN, NAN, NAN };
    if (read(pipes[0], result, sizeof result) != (ssize_t)sizeof result) result[0] = NAN;
    close(pipes[0]);
    waitpid(child, nullptr, 0);
    char more[128];
    std::snprintf(more, sizeof more, "%.0f MB, %.0f contacts, %.3g ms per step; once", result[3] / 1e6, result[1],
                  result[2]);
    line(what, result[0], 1, "", more);
}

void all(const std::vector<Config>& c)
{
    const std::vector<std::string> impulses = { "method.formulation={ name: sequential-impulses, iterations: 10 }" };
    const std::vector<std::string> cubes8000 = { "bodies.box.grid.count=[20,20,20]" };
    std::vector<std::string> impulses8000 = impulses;
    impulses8000.push_back(cubes8000[0]);
    drift("S1", ratio("S1, of Bullet's 200 sweeps", 0.3, { "s1", {}, "ours", 400, 1 },
                      { "s1", {}, "Bullet SI 200", 400, 1 }, c));
    drift("S2", ratio("S2, of Bullet's 200 sweeps", 0.25, { "s2", {}, "ours", 500, 1 },
                      { "s2", {}, "Bullet SI 200", 500, 1 }, c));
    ratio("S2 dropped by 1 cm per layer, once it rests (after 3 s)", 0.25, { "dropped", {}, "ours", 500, 300 },
          { "dropped", {}, "Bullet SI 200", 500, 300 }, c);
    ratio("S4 slide, of Bullet", 2, { "s4_slide", {}, "ours", 500, 1 }, { "s4_slide", {}, "Bullet SI 10", 500, 1 }, c);
    ratio("S4 stick, of Bullet", 2, { "s4_stick", {}, "ours", 500, 1 }, { "s4_stick", {}, "Bullet SI 10", 500, 1 }, c);
    const std::vector<std::string> peg = { "bodies.peg.shape.scale=1.01" };
    ratio("S6, peg 1.01, of Bullet", 1.5, { "s6", peg, "ours", 300, 1 }, { "s6", peg, "Bullet SI 10", 300, 1 }, c);
    ratio("S7 maximal, N = 10, of ODE's dWorldStep", 1, { "s7_maximal", {}, "ours", 1000, 1 },
          { "s7_maximal", {}, "ODE dWorldStep", 1000, 1 }, c);
    ratio("S8 roll, of ODE's dWorldStep", 1.5, { "s8_roll", {}, "ours", 200, 1 },
          { "s8_roll", {}, "ODE dWorldStep", 200, 1 }, c);
    ratio("pyramid of base 40, of ODE's QuickStep 20", 0.3, { "pyramid40", {}, "ours", 100, 1 },
          { "pyramid40", {}, "ODE QuickStep 20", 100, 1 }, c);
    if (wanted("pyramid, exponent of time against bodies")) {
        std::vector<Figure> f =
            in_turn({ { "pyramid40", {}, "ours", 100, 1 }, { "pyramid20", {}, "ours", 100, 1 } }, c);
        line("pyramid, exponent of time against bodies", std::log(f[0].time / f[1].time) / std::log(820.0 / 210.0), 1.4,
             "", times(f[0], f[1]) + " of base 40 and 20");
    }
    if (wanted("cube of 1000 spheres, first step")) {
        const std::vector<std::string> cube = { "bodies.ball.grid.count=[10,10,10]" };
        std::vector<Figure> f = in_turn({ { "s1", cube, "ours", 1, 0 } }, c);
        line("cube of 1000 spheres, first step", 1e3 * f[0].time, 150, " ms", "");
    }
    ratio("64 humanoids, of one", 70, { "humanoids64", {}, "ours", 200, 1 }, { "humanoids1", {}, "ours", 200, 1 }, c);
    /* both bars are of time and penetration together */
    const std::vector<std::string> positions = { "method.formulation={ name: xpbd, substeps: 6 }" };
    const std::vector<std::string> finer = { "method.formulation={ name: xpbd, substeps: 7 }" };
    const std::vector<std::string> few = {
        "method.formulation={ name: sequential-impulses, iterations: 6, erp: 0.4, warm_start: 1 }"
    };
    const struct {
        const char *method, *peer;
        const std::vector<std::string>& sets;
        double time, depth;
    } budgets[] = { { "sequential-impulses 10", "Bullet SI 10", impulses, 1.2, 0.2 },
                    { "sequential-impulses 6, erp 0.4, warm start 1", "Bullet SI 10", few, 1.2, 0.2 },
                    { "sequential-impulses 10", "ODE QuickStep 20", impulses, 1, 0.1 },
                    { "xpbd 6", "ODE QuickStep 20", positions, 1, 0.1 },
                    { "xpbd 7", "ODE QuickStep 20", finer, 1, 0.1 } };
    for (const auto& k : budgets) {
        std::string what = std::string("S3 with a budget (") + k.method + "), of " + k.peer;
        const Run ours = { "s3", k.sets, "ours", 250, 1 }, other = { "s3", {}, k.peer, 250, 1 };
        std::vector<Figure> f = ratio(what.c_str(), k.time, ours, other, c);
        if (f.empty()) continue;
        const double depth = deepest(ours, 250, c), others = deepest(other, 250, c);
        char text[96];
        std::snprintf(text, sizeof text, "%.3g and %.3g m, medians of %d drawings", depth, others, (int)SEEDS);
        line("its largest penetration", depth / others, k.depth, "", text);
    }
    if (wanted("S3 at 1e-6 m/s, 250 steps")) {
        double before = most;
        most = 30;
        std::vector<Figure> f = in_turn({ { "s3", {}, "ours", 250, 1 } }, c, 1);
        most = before;
        line("S3 at 1e-6 m/s, 250 steps", 1e3 * f[0].time, 150, " ms",
             "once, " + std::to_string(f[0].steps) + " steps");
    }
    std::vector<std::string> few8000 = few;
    few8000.push_back(cubes8000[0]);
    ratio("8000 boxes with a budget (sequential-impulses 10), 120 steps, of Bullet", 0.6,
          { "s3", impulses8000, "ours", 120, 1 }, { "s3", cubes8000, "Bullet SI 10", 120, 1 }, c);
    ratio("8000 boxes with a budget (sequential-impulses 6, erp 0.4, warm start 1), 120 steps, of Bullet", 0.6,
          { "s3", few8000, "ours", 120, 1 }, { "s3", cubes8000, "Bullet SI 10", 120, 1 }, c);
    ladder("S1: cost of a tolerance, of the next tighter one", "s1", 100, c);
    ladder("S2: cost of a tolerance, of the next tighter one", "s2", 100, c);
    ladder("S5: cost of a tolerance, of the next tighter one", "s5", 200, c);
    ladder("S3_6: cost of a tolerance, of the next tighter one", "s3_6", 100, c);
    ratio("two threads, S3 with a budget, of one (by the clock)", 1 / 1.6, { "s3", impulses, "ours", 150, 1, 2 },
          { "s3", impulses, "ours", 150, 1, 0 }, c);
    ratio("two threads, 64 humanoids, of one (by the clock)", 1 / 1.6, { "humanoids64", {}, "ours", 200, 1, 2 },
          { "humanoids64", {}, "ours", 200, 1, 0 }, c);
    memory("100,000 spheres in a box, 100 steps: memory, of 1.2 kB per contact and 2 kB per body", "spheres", 100);
}

} // namespace

int main(int argc, char** argv)
{
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--filter") && i + 1 < argc) filter = argv[++i];
        else if (!std::strcmp(argv[i], "--limit") && i + 1 < argc) most = std::atof(argv[++i]);
        else return std::fprintf(stderr, "usage: bench_bars [--filter TEXT] [--limit SECONDS]\n"), 2;
    }
    char name[] = "/tmp/moreau-bars-XXXXXX";
    if (!mkdtemp(name)) return std::fprintf(stderr, "bench_bars: no temporary folder\n"), 3;
    folder = name;
    std::string versions;
    int status = 0;
    try {
        std::vector<Config> configs = peer_configs(&versions);
        make_pyramid("dropped", 10, 0.01);
        make_pyramid("pyramid20", 20, 0);
        make_pyramid("pyramid40", 40, 0);
        make_humanoids("humanoids1", 1);
        make_humanoids("humanoids64", 64);
        make_spheres("spheres", 46);
        std::printf("## What must hold\n\nTimes are those of a step, ratios of medians of %d rounds in which both take "
                    "turns and do the same steps; a run takes at most %g s.\n\n| what | figure | bar | | |\n"
                    "|---|---|---|---|---|\n",
                    (int)ROUNDS, most);
        all(configs);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_bars: %s\n", e.what());
        status = 2;
    }
    std::filesystem::remove_all(folder);
    return status;
}
