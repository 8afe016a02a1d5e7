// Steps of other engines as BPMD files: bench_engines -o DIR [ENGINE...]
//
// The same scenes run in every engine that is installed; some steps of each are stored with the engine's answer and
// checked by rebuilding its velocities (frames.h). One line per file: engine, scene, frames, contacts, largest
// difference of a rebuilt velocity, largest velocity. Exit status 1: a difference that rounding does not explain.
#include "sources.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <sys/stat.h>

namespace
{

struct Case {
    const char* scene;
    std::vector<std::string> sets;
    double mu;
    int first, every, count; // steps that are stored
};

const std::vector<Case> cases = {
    { "rpisim/spheres_27", {}, 0.125, 5, 15, 5 },
    { "benchmark/slope_slide", {}, 0.3, 5, 20, 4 },
    { "benchmark/mass_ratio", { "bodies.top.mass=1e3" }, 0.5, 5, 15, 5 },
    { "teaching/dominoes", {}, 0.5, 40, 40, 5 },
    { "teaching/stack", {}, 0.5, 5, 20, 5 },
    { "benchmark/pile", { "bodies.box.grid.count=[3, 3, 3]" }, 0.5, 60, 25, 4 },
    { "rpisim/ten_balls", {}, 0.125, 40, 20, 6 },
    { "rpisim/spheres_on_cube", {}, 0.125, 20, 5, 4 },
};

std::string last_part(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool run(const SourceKind& kind, const Case& c, const std::string& folder)
{
    std::string path = std::string(MOREAU_SCENES) + "/" + c.scene + ".yaml", name = last_part(c.scene);
    std::string file = folder + "/" + kind.engine + "/" + kind.engine + "-" + name + ".h5";
    Scene scene = read_scene(path.c_str(), c.sets, c.mu);
    if (scene.hulls && !kind.hulls) return true;
    mkdir((folder + "/" + kind.engine).c_str(), 0777);
    std::unique_ptr<Source> source = kind.make(scene);
    const double gravity[3] = { scene.gravity.x, scene.gravity.y, scene.gravity.z };
    frames* to = frames_open(file.c_str(), kind.engine.c_str(), kind.solver.c_str(), c.scene, gravity);
    for (int i = 0; i < c.first + c.every * c.count; i++)
        source->step(i >= c.first && (i - c.first) % c.every == 0 ? to : nullptr);
    frames_check check = frames_close(to);
    bool good = check.worst <= kind.rounding * std::max(check.speed, 1.0);
    printf("%-8s %-10s %-18s %4d frames %6d contacts  rebuilt velocities differ by %.1e of %.3g%s\n",
           kind.engine.c_str(), kind.version.c_str(), name.c_str(), check.frames, check.contacts, check.worst,
           check.speed, good ? "" : "  WRONG");
    return good;
}

} // namespace

int main(int argc, char** argv)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    std::string folder = "engines";
    std::vector<std::string> wanted;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-o") && i + 1 < argc) folder = argv[++i];
        else wanted.push_back(argv[i]);
    }
    std::vector<SourceKind> kinds;
#ifdef HAVE_ODE
    kinds.push_back(ode_source());
#endif
#ifdef HAVE_BULLET
    kinds.push_back(bullet_source());
#endif
#ifdef HAVE_MUJOCO
    kinds.push_back(mujoco_source());
#endif
#ifdef HAVE_DART
    kinds.push_back(dart_source());
#endif
    for (const std::string& w : wanted)
        if (std::none_of(kinds.begin(), kinds.end(), [&](const SourceKind& k) { return k.engine == w; })) {
            fprintf(stderr, "bench_engines: %s is not one of the engines of this build\n", w.c_str());
            return 2;
        }
    mkdir(folder.c_str(), 0777);
    bool good = true;
    try {
        for (const SourceKind& kind : kinds) {
            if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), kind.engine) == wanted.end()) continue;
            for (const Case& c : cases) good = run(kind, c, folder) && good;
        }
    } catch (const std::exception& e) {
        fprintf(stderr, "bench_engines: %s\n", e.what());
        return 1;
    }
    return good ? 0 : 1;
}
