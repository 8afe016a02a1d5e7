// What the benchmark knows of an engine: it is given bodies, it steps, it tells poses. Every scene
// is read from scenes/ by Moreau and handed to the peers body by body, so all run the same one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moreau/moreau.h"

enum class Shape { sphere, box, plane, hull };

struct Body {
    Shape shape;
    double size[3]; // sphere: radius; box: full edges; plane: unused (half-space below z = 0 of its
                    // frame)
    bool fixed;
    double mass;
    mor_pose pose;     // of the centre of mass, which is the centre of these shapes
    double inertia[3]; // about the axes of the pose
    mor_vec3 velocity, spin;
    const mor_polyhedron* hull; // box and hull: faces and vertices in the frame of the pose; owned by the scene
};

struct Hinge {
    int body[2]; // -1: the world
    mor_vec3 point, axis;
};

struct Scene {
    std::vector<Body> bodies;
    std::vector<Hinge> hinges;
    mor_vec3 gravity;
    double h, mu;
    bool hulls;                  // some body is a hull
    std::shared_ptr<void> owner; // keeps the shapes
};

struct Engine {
    virtual ~Engine() = default;
    virtual bool step() = 0; // false: the engine gave up
    virtual mor_pose pose(int body) const = 0;
    virtual mor_vec3 velocity(int body) const = 0;
    virtual mor_vec3 spin(int body) const = 0;
    virtual std::string notes() const { return ""; } // what else the engine had to say
};

// `make` gives nullptr where the engine cannot take the scene.
struct Config {
    std::string name;
    std::unique_ptr<Engine> (*make)(const Scene& scene, const char* path, const std::vector<std::string>& sets);
};

std::vector<Config> moreau_configs();
std::unique_ptr<Engine> moreau_with_threads(const char* path, const std::vector<std::string>& sets, int threads);
std::vector<Config> moreau_speed_configs(); // by tolerance and by budget
std::vector<Config> ode_configs();
std::vector<Config> bullet_configs();
std::vector<Config> mujoco_configs();
std::vector<Config> mujoco_plain_and_stiff(); // as it comes, and as stiff as its manual advises
// All peers that were found when the program was built, and their names with versions for the head of a table.
std::vector<Config> peer_configs(std::string* versions);

// Reads a scene file; throws std::runtime_error with the reader's sentence.
Scene read_scene(const char* path, const std::vector<std::string>& sets, double mu);

// Deepest penetration [m] on the nominal shapes, 0 if none.
double penetration(const Scene& scene, const Engine& engine);
