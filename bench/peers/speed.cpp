// Work against precision: Moreau's methods and the peers on scenes with many contacts, as a page in Markdown.
//   bench_speed [--limit SECONDS] [--filter TEXT]
// Every method runs ROUNDS times, all methods in turn in each round, so that a machine that is busy at times is busy for
// all. A run ends after --limit seconds of CPU time (default 0.5); the time of a step is the CPU time of the process
// around the steps (the first left out), the figure is the median of the rounds. What the answer is worth is measured
// from the poses by one code (measure.cpp) in the first round.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace
{

enum { ROUNDS = 5 };
enum class Worth { drift, penetration, none };

struct Case {
    const char *name, *file, *what;
    std::vector<std::string> sets;
    int steps, every; // penetration is sampled every so many steps
    Worth worth;
    bool exact; // methods that solve each step to a tolerance take part
};

const std::vector<Case> cases = {
    { "S1", "s1", "cube of 125 spheres, must rest; 400 steps", {}, 400, 40, Worth::drift, true },
    { "S2", "s2", "pyramid of 55 cubes, must rest; 500 steps", {}, 500, 50, Worth::drift, true },
    { "S3_6", "s3_6", "pile of 216 cubes that falls; 250 steps", {}, 250, 25, Worth::penetration, true },
    { "S3", "s3", "pile of 1000 cubes that falls; 250 steps", {}, 250, 25, Worth::penetration, false },
    { "8000 in flight",
      "s3",
      "8000 cubes that fall and hardly touch; 20 steps",
      { "bodies.box.grid.count=[20,20,20]" },
      20,
      20,
      Worth::none,
      false },
};

struct Result {
    std::vector<double> times; // s per step, one per round
    int steps = 0;             // of the first round
    double worth = 0;
    bool stopped = false;
};

void run(const Case& c, const Scene& scene, const char* path, const Config& config, double limit, Result& r)
{
    std::unique_ptr<Engine> engine = config.make(scene, path, c.sets);
    if (!engine) return;
    bool first = r.times.empty();
    double time = 0, worth = 0;
    int steps = 0;
    while (steps < c.steps && time < limit) {
        double start = mor_cpu_clock();
        bool ok = engine->step();
        if (steps++ > 0) time += mor_cpu_clock() - start;
        if (!ok) {
            r.stopped = true;
            break;
        }
        if (first && c.worth == Worth::penetration && steps % c.every == 0)
            worth = std::max(worth, penetration(scene, *engine));
    }
    r.times.push_back(steps > 1 ? time / (steps - 1) : 0);
    if (!first) return;
    r.steps = steps;
    for (size_t i = 0; c.worth == Worth::drift && i < scene.bodies.size(); i++)
        worth = std::max(worth, mor_norm(mor_sub(engine->pose((int)i).position, scene.bodies[i].pose.position)));
    r.worth = worth;
}

double median(std::vector<double> x)
{
    std::sort(x.begin(), x.end());
    return x[x.size() / 2];
}

void table(const Case& c, const std::vector<Config>& configs, double limit)
{
    std::string path = std::string(MOREAU_SCENES) + "/" + c.file + ".yaml";
    Scene scene = read_scene(path.c_str(), c.sets, 0.5);
    std::vector<Result> results(configs.size());
    auto takes_part = [&](const Config& k) { return c.exact || k.name.rfind("moreau tol", 0) != 0; };
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < configs.size(); k++)
            if (takes_part(configs[k])) run(c, scene, path.c_str(), configs[k], limit, results[k]);
    double reference = 0;
    for (size_t k = 0; k < configs.size(); k++)
        if (configs[k].name == "Bullet SI 10" && !results[k].times.empty()) reference = median(results[k].times);
    std::printf("\n## %s\n\n%c%s.\n\n", c.name, std::toupper(c.what[0]), c.what + 1);
    std::printf("| method | ms per step | spread | of Bullet SI 10 | %s | steps |\n|---|---|---|---|---|---|\n",
                c.worth == Worth::drift         ? "drift [m]"
                : c.worth == Worth::penetration ? "largest penetration [m]"
                                                : "");
    std::vector<size_t> order;
    for (size_t k = 0; k < configs.size(); k++)
        if (takes_part(configs[k]) && !results[k].times.empty()) order.push_back(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return median(results[a].times) < median(results[b].times); });
    for (size_t k : order) {
        const Result& r = results[k];
        double t = median(r.times), low = *std::min_element(r.times.begin(), r.times.end()),
               high = *std::max_element(r.times.begin(), r.times.end());
        std::printf("| %s | %.3g | %.3g to %.3g | ", configs[k].name.c_str(), 1e3 * t, 1e3 * low, 1e3 * high);
        if (reference > 0) std::printf("%.2f | ", t / reference);
        else std::printf("- | ");
        if (c.worth != Worth::none) std::printf("%.1e", r.worth);
        std::printf(" | %d%s |\n", r.steps, r.stopped ? ", a step was not solved" : "");
    }
    std::fflush(stdout);
}

std::string load()
{
    std::ifstream file("/proc/loadavg");
    std::string text = "unknown";
    file >> text;
    return text;
}

} // namespace

int main(int argc, char** argv)
{
    const char* filter = "";
    double limit = 0.5;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--filter") && i + 1 < argc) filter = argv[++i];
        else if (!std::strcmp(argv[i], "--limit") && i + 1 < argc) limit = std::atof(argv[++i]);
        else return std::fprintf(stderr, "usage: bench_speed [--filter TEXT] [--limit SECONDS]\n"), 2;
    }
    std::vector<Config> configs = moreau_speed_configs();
    std::printf("# Work against precision\n\nWritten by `make bench`, not by hand. Moreau %s", mor_version());
    std::string versions;
    for (Config& c : peer_configs(&versions)) configs.push_back(c);
    std::printf("%s", versions.c_str());
    std::printf("; one thread, CPU time, median of %d rounds in which all methods take turns, at most %g s for a run. "
                "Load of the machine at the start: %s; above the number of cores the times are too long, the ratios "
                "within a table hold better.\n\nRows are sorted by time. A method that is slower than another and no "
                "better is beaten by it. `moreau tol` solves every step to that velocity error [m/s]; "
                "`sequential-impulses`, `soft-step` and `xpbd` have a fixed budget and say so. Runs that end at the "
                "limit have fewer steps than the scene: their figures are not comparable with those of full runs. "
                "MuJoCo takes scenes of at most 300 bodies here.\n",
                (int)ROUNDS, limit, load().c_str());
    for (const Case& c : cases) {
        if (!std::strstr(c.name, filter)) continue;
        try {
            table(c, configs, limit);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "bench_speed: %s\n", e.what());
            return 2;
        }
    }
    return 0;
}
