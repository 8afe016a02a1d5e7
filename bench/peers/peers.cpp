// Moreau and the peers on the benchmark scenes S1 to S5 and S9, in one run on one machine: time per step
// together with what the answer is worth.
//   bench_peers [--filter TEXT] [--limit SECONDS] [--long]
// Times are CPU time of the process around the steps alone, mean over the run (the first step left
// out); a run ends after --limit seconds of it (default 1), and the table says how many steps it
// did. Penetration, drift and acceleration come from the poses, by one code.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace
{

enum class Kind { rest, pile, slide, stick, tower, rod };

struct Case {
    const char *name, *file, *what;
    std::vector<std::string> sets;
    double mu;
    int steps, every; // penetration is sampled every so many steps
    Kind kind;
    bool lemke, only_long;
};

// the library's default; the scene has 0.1 for st and ap, and with peg it only culls
const std::string epsilon = "method.collision.epsilon=0.01";

const std::vector<Case> cases = {
    { "S1", "s1", "cube of 125 spheres, must rest", {}, 0.5, 400, 10, Kind::rest, false, false },
    { "S2", "s2", "pyramid of 55 cubes, must rest", {}, 0.5, 500, 10, Kind::rest, false, false },
    { "S3_6", "s3_6", "pile of 216 cubes", {}, 0.5, 1000, 25, Kind::pile, false, false },
    { "S3", "s3", "pile of 1000 cubes", {}, 0.5, 1000, 25, Kind::pile, false, true },
    { "S4 slide",
      "s4_slide",
      "cube on a slope, must slide with 0.657145 m/s^2",
      {},
      0.5,
      500,
      10,
      Kind::slide,
      true,
      false },
    { "S4 slide 45", "s4_slide_45", "the same, turned by 45 degrees", {}, 0.5, 500, 10, Kind::slide, true, false },
    { "S4 stick", "s4_stick", "cube on a slope, must stick", {}, 0.6, 500, 10, Kind::stick, true, false },
    { "S4 stick 45", "s4_stick_45", "the same, turned by 45 degrees", {}, 0.6, 500, 10, Kind::stick, true, false },
    { "S5 1e3",
      "s5",
      "1000 kg on 1 kg, must stand",
      { "bodies.top.mass=1e3" },
      0.5,
      500,
      10,
      Kind::tower,
      true,
      false },
    { "S5 1e4", "s5", "10 t on 1 kg, must stand", { "bodies.top.mass=1e4" }, 0.5, 500, 10, Kind::tower, true, false },
    { "S5 1e6", "s5", "1000 t on 1 kg, must stand", { "bodies.top.mass=1e6" }, 0.5, 500, 10, Kind::tower, true, false },
    { "S9", "peg_rod", "rod on rocks", { epsilon }, 0.5, 1750, 1, Kind::rod, false, false },
    { "S9 eps", "peg_rod", "the same, epsilon 0.1 m as in the scene", {}, 0.5, 1750, 1, Kind::rod, false, false },
    { "S9 h/2",
      "peg_rod",
      "the same, h = 5e-4 s",
      { epsilon, "time.step=5e-4" },
      0.5,
      3500,
      2,
      Kind::rod,
      false,
      false },
    { "S9 h/4",
      "peg_rod",
      "the same, h = 2.5e-4 s",
      { epsilon, "time.step=2.5e-4" },
      0.5,
      7000,
      4,
      Kind::rod,
      false,
      false },
    { "S9 h/8",
      "peg_rod",
      "the same, h = 1.25e-4 s",
      { epsilon, "time.step=1.25e-4" },
      0.5,
      14000,
      8,
      Kind::rod,
      false,
      false },
};

// Kinetic and potential energy of a body.
double energy(const Scene& s, const Engine& engine, int i)
{
    const Body& b = s.bodies[i];
    mor_pose p = engine.pose(i);
    mor_vec3 v = engine.velocity(i), w = mor_unrotate(p.rotation, engine.spin(i));
    return 0.5 * b.mass * mor_dot(v, v) - b.mass * mor_dot(s.gravity, p.position) +
           0.5 * (b.inertia[0] * w.x * w.x + b.inertia[1] * w.y * w.y + b.inertia[2] * w.z * w.z);
}

// Last body of a scene: the cube on the slope, the top of the tower.
int last(const Scene& s) { return (int)s.bodies.size() - 1; }

void run(const Case& c, const Scene& scene, const char* path, const Config& config, double limit)
{
    std::unique_ptr<Engine> engine = config.make(scene, path, c.sets);
    if (!engine) return;
    mor_vec3 x0 = engine->pose(last(scene)).position, at1 = x0;
    double time = 0, deepest = 0, v1 = 0;
    // down the slope: gravity projected on the plane, the first body
    mor_vec3 n = mor_rotate(scene.bodies[0].pose.rotation, mor_v3(0, 0, 1));
    mor_vec3 down = mor_normalize(mor_madd(scene.gravity, -mor_dot(scene.gravity, n), n), mor_v3(1, 0, 0));
    int steps = 0, timed = 0;
    bool gave_up = false, rod = c.kind == Kind::rod;
    double before = rod ? energy(scene, *engine, last(scene)) : 0, rise = 0;
    while (steps < c.steps && time < limit && !gave_up) {
        double start = mor_cpu_clock();
        gave_up = !engine->step();
        double spent = mor_cpu_clock() - start;
        if (steps++ > 0) time += spent, timed++;
        if (rod) {
            double now = energy(scene, *engine, last(scene));
            rise = std::max(rise, now - before);
            before = now;
        }
        if (steps % c.every == 0) deepest = std::max(deepest, penetration(scene, *engine));
        if (steps == 100) v1 = mor_dot(down, engine->velocity(last(scene))), at1 = engine->pose(last(scene)).position;
    }
    double drift = 0;
    for (size_t i = 0; i < scene.bodies.size(); i++)
        drift = std::max(drift, mor_norm(mor_sub(engine->pose((int)i).position, scene.bodies[i].pose.position)));
    double end = penetration(scene, *engine);
    std::printf("  %-22s %10.1f %6d  ", config.name.c_str(), timed ? 1e6 * time / timed : 0.0, steps);
    std::string notes = engine->notes();
    if (gave_up) std::printf("stopped: a step was not solved  ");
    double seconds = (steps - 100) * scene.h;
    mor_vec3 x = engine->pose(last(scene)).position;
    switch (c.kind) {
    case Kind::rest:
        std::printf("drift %8.1e m  penetration %8.1e m (largest %8.1e)\n", drift, end, deepest);
        break;
    case Kind::pile:
        std::printf("penetration %8.1e m (largest %8.1e)\n", end, deepest);
        break;
    case Kind::slide: {
        double exact = mor_dot(scene.gravity, down) + scene.mu * mor_dot(scene.gravity, n); // g (sin - mu cos)
        double a = (mor_dot(down, engine->velocity(last(scene))) - v1) / seconds;
        if (steps > 100) std::printf("error of the acceleration %9.1e  penetration %8.1e m\n", a / exact - 1, deepest);
        else std::printf("\n");
        break;
    }
    case Kind::stick:
        if (steps > 100)
            std::printf("creep %9.1e m/s  penetration %8.1e m\n", mor_dot(down, mor_sub(x, at1)) / seconds, deepest);
        else std::printf("\n");
        break;
    case Kind::rod:
        std::printf("at 1.75 s (%.4f, %.4f, %.4f)  penetration %8.1e m  largest rise of energy in a step %8.1e J\n",
                    x.x, x.y, x.z, deepest, rise);
        break;
    case Kind::tower: {
        bool stands = std::fabs(x.z - 1.5) < 0.05 && std::hypot(x.x, x.y) < 0.05;
        std::printf("%-6s  penetration %8.1e m (largest %8.1e)\n",
                    !stands           ? "FALLS"
                    : steps < c.steps ? "-"
                                      : "stands",
                    end, deepest);
        break;
    }
    }
    if (!notes.empty()) std::printf("  %41s %s\n", "", notes.c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    const char* filter = "";
    double limit = 1;
    bool all = false;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--filter") && i + 1 < argc) filter = argv[++i];
        else if (!std::strcmp(argv[i], "--limit") && i + 1 < argc) limit = std::atof(argv[++i]);
        else if (!std::strcmp(argv[i], "--long")) all = true;
        else return std::fprintf(stderr, "usage: bench_peers [--filter TEXT] [--limit SECONDS] [--long]\n"), 2;
    }
#ifndef __OPTIMIZE__
    return std::fprintf(stderr, "bench_peers: not to be quoted from a build without optimisation\n"), 2;
#endif
    std::vector<Config> configs = moreau_configs();
    std::printf("moreau %s", mor_version());
    std::string versions;
    for (Config& c : peer_configs(&versions)) configs.push_back(c);
    std::printf("%s", versions.c_str());
    std::printf("; one thread, %s %s, at most %g s for a run\n", sizeof(void*) == 8 ? "64 bit," : "", __VERSION__,
                limit);
    for (const Case& c : cases) {
        if (!std::strstr(c.name, filter) || (c.only_long && !all)) continue;
        std::string path = std::string(MOREAU_SCENES) + "/" + c.file + ".yaml";
        try {
            Scene scene = read_scene(path.c_str(), c.sets, c.mu);
            std::printf("\n%s: %s\n  %-22s %10s %6s\n", c.name, c.what, "", "us/step", "steps");
            for (const Config& config : configs) {
                if (config.name == "moreau lemke" && !c.lemke) continue;
                if (c.kind == Kind::rod && config.name.rfind("moreau p", 0) == 0) continue;
                run(c, scene, path.c_str(), config, limit);
            }
        } catch (const std::exception& e) {
            std::fprintf(stderr, "bench_peers: %s\n", e.what());
            return 2;
        }
    }
    return 0;
}
