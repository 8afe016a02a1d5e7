// MuJoCo, in two ways: as it comes (pyramidal cones, contacts that give way within 0.02 s), and stiff: elliptic cones, the
// time constant of contacts as short as it lets the step be (solref 2h). The scene is written as MJCF: bodies with free
// joints and the scene's masses and inertias; its friction of two geoms is the larger one, both have the scene's. No hulls
// and no hinges; at most MOST bodies, because this release reserves constraints times velocities.
#include "engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include <mujoco/mujoco.h>

namespace
{

// Of bodies; and of rows: their square is reserved, and with more than 2 GB its data are not made.
enum { MOST = 300, MOST_ROWS = 8000 };

// What its options are beside those of the scene; NULL and 0: as it comes.
struct Setting {
    const char* solver;
    int iterations;
    bool stiff;
    double impratio;
};

struct Mujoco : Engine {
    mjModel* model = nullptr;
    mjData* data = nullptr;
    std::vector<int> joint; // of body i, -1: it is fixed
    std::vector<mor_pose> fixed;

    Mujoco(const Scene& s, const Setting& setting)
    {
        std::ostringstream xml;
        xml.precision(17);
        auto numbers = [&](const char* name, std::initializer_list<double> x) {
            xml << ' ' << name << "='";
            for (double v : x) xml << v << ' ';
            xml << "'";
        };
        xml << "<mujoco><option";
        if (setting.stiff) xml << " cone='elliptic'";
        if (setting.solver) xml << " solver='" << setting.solver << "' iterations='" << setting.iterations << "'";
        if (setting.impratio > 0.0) numbers("impratio", { setting.impratio });
        numbers("timestep", { s.h });
        numbers("gravity", { s.gravity.x, s.gravity.y, s.gravity.z });
        xml << "/><size njmax='" << std::min<size_t>(60 * s.bodies.size() + 2000, MOST_ROWS) << "' nconmax='" << 20 * s.bodies.size() + 500
            << "'/><default><geom condim='3'";
        numbers("friction", { s.mu, 0.0, 0.0 });
        if (setting.stiff) numbers("solref", { 2.0 * s.h, 1.0 });
        xml << "/></default><worldbody>";
        int count = 0;
        for (const Body& b : s.bodies) {
            const mor_pose& p = b.pose;
            fixed.push_back(p);
            joint.push_back(b.fixed ? -1 : count++);
            auto place = [&] {
                numbers("pos", { p.position.x, p.position.y, p.position.z });
                numbers("quat", { p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z });
            };
            if (!b.fixed) {
                xml << "<body";
                place();
                xml << "><freejoint/><inertial pos='0 0 0'";
                numbers("mass", { b.mass });
                numbers("diaginertia", { b.inertia[0], b.inertia[1], b.inertia[2] });
                xml << "/>";
            }
            xml << "<geom";
            if (b.fixed) place();
            if (b.shape == Shape::sphere) xml << " type='sphere'", numbers("size", { b.size[0] });
            else if (b.shape == Shape::plane) xml << " type='plane' size='0 0 1'";
            else xml << " type='box'", numbers("size", { 0.5 * b.size[0], 0.5 * b.size[1], 0.5 * b.size[2] });
            xml << "/>" << (b.fixed ? "" : "</body>");
        }
        xml << "</worldbody></mujoco>";
        char path[] = "/tmp/moreau-bench-XXXXXX", error[300] = "";
        int file = mkstemp(path);
        if (file < 0) throw std::runtime_error("no temporary file");
        close(file);
        std::ofstream(path) << xml.str();
        model = mj_loadXML(path, nullptr, error, sizeof error);
        unlink(path);
        if (!model) throw std::runtime_error(std::string("MuJoCo: ") + error);
        data = mj_makeData(model);
        for (size_t i = 0; i < s.bodies.size(); i++) {
            if (joint[i] < 0) continue;
            const Body& b = s.bodies[i];
            mor_vec3 w = mor_unrotate(b.pose.rotation, b.spin); // angular velocity in the body's axes
            const double nu[6] = { b.velocity.x, b.velocity.y, b.velocity.z, w.x, w.y, w.z };
            for (int k = 0; k < 6; k++) data->qvel[6 * joint[i] + k] = nu[k];
        }
    }
    ~Mujoco() override
    {
        mj_deleteData(data);
        mj_deleteModel(model);
    }
    bool step() override
    {
        mj_step(model, data); // rows and contacts beyond what is reserved would be left out
        return data->warning[mjWARN_CNSTRFULL].number == 0 && data->warning[mjWARN_CONTACTFULL].number == 0;
    }
    mor_pose pose(int i) const override
    {
        if (joint[i] < 0) return fixed[i];
        const double* q = data->qpos + 7 * joint[i];
        return { { q[0], q[1], q[2] }, { q[3], q[4], q[5], q[6] } };
    }
    mor_vec3 velocity(int i) const override
    {
        if (joint[i] < 0) return mor_v3(0, 0, 0);
        const double* v = data->qvel + 6 * joint[i];
        return mor_v3(v[0], v[1], v[2]);
    }
    mor_vec3 spin(int i) const override
    {
        if (joint[i] < 0) return mor_v3(0, 0, 0);
        const double* v = data->qvel + 6 * joint[i];
        return mor_rotate(pose(i).rotation, mor_v3(v[3], v[4], v[5]));
    }
};

// Nothing where it cannot make its data; told once for each scene and solver.
std::unique_ptr<Engine> make(const Scene& s, const Setting& setting)
{
    if (s.hulls || !s.hinges.empty() || s.bodies.size() > MOST) return nullptr;
    try {
        return std::make_unique<Mujoco>(s, setting);
    } catch (const std::runtime_error& e) {
        std::fprintf(stderr, "%zu bodies, %s: %s\n", s.bodies.size(), setting.solver ? setting.solver : "as it comes",
                     e.what());
        return nullptr;
    }
}

std::unique_ptr<Engine> newton(const Scene& s, const char*, const std::vector<std::string>&)
{
    return make(s, { "Newton", 100, true, 0.0 });
}

std::unique_ptr<Engine> pgs(const Scene& s, const char*, const std::vector<std::string>&)
{
    return make(s, { "PGS", 50, true, 0.0 });
}

std::unique_ptr<Engine> plain(const Scene& s, const char*, const std::vector<std::string>&) { return make(s, {}); }

std::unique_ptr<Engine> stiff(const Scene& s, const char*, const std::vector<std::string>&)
{
    return make(s, { nullptr, 0, true, 10.0 });
}

} // namespace

std::vector<Config> mujoco_configs() { return { { "MuJoCo Newton", newton }, { "MuJoCo PGS 50", pgs } }; }

std::vector<Config> mujoco_plain_and_stiff() { return { { "MuJoCo", plain }, { "MuJoCo stiff", stiff } }; }
