// Engines whose steps are stored (frames.h): each is given a scene of engine.h and steps it by its own default solver.
#pragma once

#include "engine.h"
#include "frames.h"

struct Source {
    virtual ~Source() = default;
    virtual void step(frames* to) = 0; // to: NULL, or where the step goes
};

struct SourceKind {
    std::string engine, solver, version;
    double rounding; // of a rebuilt velocity, over the largest one
    bool hulls;      // takes polyhedra
    std::unique_ptr<Source> (*make)(const Scene& scene);
};

SourceKind ode_source();
SourceKind bullet_source();
SourceKind mujoco_source();
SourceKind dart_source();

// R diag(d) R', R by rows.
inline void rotated(const double R[9], const double d[3], double I[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            I[3 * r + c] = 0;
            for (int k = 0; k < 3; k++) I[3 * r + c] += R[3 * r + k] * d[k] * R[3 * c + k];
        }
}
