// MuJoCo behind the benchmark's interface: the scene is written as MJCF. As it comes (pyramidal cone, contacts that give
// way within 0.02 s), and as stiff as its manual advises (elliptic cone, two steps, impratio 10). Its friction of two geoms
// is the larger one; both have the scene's.
#include "engine.h"

#include <mujoco/mujoco.h>

#include <cstdio>
#include <stdexcept>
#include <unistd.h>

namespace
{

std::string text(const Scene& s, bool stiff)
{
    char line[800];
    snprintf(line, sizeof line,
             "<mujoco><compiler angle=\"radian\"/><option timestep=\"%.17g\" gravity=\"%.17g %.17g %.17g\"%s/>"
             "<size nconmax=\"400\" njmax=\"1600\"/><default><geom condim=\"3\" friction=\"%.17g 0 0\"",
             s.h, s.gravity.x, s.gravity.y, s.gravity.z, stiff ? " cone=\"elliptic\" impratio=\"10\"" : "", s.mu);
    std::string out = line;
    snprintf(line, sizeof line, " solref=\"%.17g 1\"", 2 * s.h);
    out += std::string(stiff ? line : "") + "/></default><worldbody>";
    for (const Body& b : s.bodies) {
        const mor_pose& p = b.pose;
        snprintf(line, sizeof line, "<body pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">", p.position.x,
                 p.position.y, p.position.z, p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z);
        out += line;
        if (!b.fixed) {
            snprintf(line, sizeof line,
                     "<freejoint/><inertial pos=\"0 0 0\" mass=\"%.17g\" diaginertia=\"%.17g %.17g %.17g\"/>", b.mass,
                     b.inertia[0], b.inertia[1], b.inertia[2]);
            out += line;
        }
        if (b.shape == Shape::plane) snprintf(line, sizeof line, "<geom type=\"plane\" size=\"100 100 1\"/>");
        else if (b.shape == Shape::sphere)
            snprintf(line, sizeof line, "<geom type=\"sphere\" size=\"%.17g\"/>", b.size[0]);
        else if (b.shape == Shape::box)
            snprintf(line, sizeof line, "<geom type=\"box\" size=\"%.17g %.17g %.17g\"/>", b.size[0] / 2, b.size[1] / 2,
                     b.size[2] / 2);
        else throw std::runtime_error("hulls are not compared here");
        out += std::string(line) + "</body>";
    }
    return out + "</worldbody></mujoco>";
}

struct MuJoCo : Engine {
    mjModel* model = nullptr;
    mjData* data = nullptr;
    std::vector<bool> fixed;

    MuJoCo(const Scene& s, bool stiff)
    {
        char path[] = "/tmp/moreau-glance-XXXXXX.xml", error[500] = "";
        int file = mkstemps(path, 4);
        std::string xml = text(s, stiff);
        if (file < 0 || write(file, xml.data(), xml.size()) != (ssize_t)xml.size())
            throw std::runtime_error("no temporary file");
        close(file);
        model = mj_loadXML(path, nullptr, error, sizeof error);
        unlink(path);
        if (!model) throw std::runtime_error(error);
        data = mj_makeData(model);
        for (size_t i = 0; i < s.bodies.size(); i++) {
            const Body& b = s.bodies[i];
            fixed.push_back(b.fixed);
            if (b.fixed) continue;
            // linear velocity in the world, angular in the body
            mor_vec3 w = mor_unrotate(b.pose.rotation, b.spin);
            double v[6] = { b.velocity.x, b.velocity.y, b.velocity.z, w.x, w.y, w.z };
            for (int k = 0; k < 6; k++) data->qvel[model->body_dofadr[i + 1] + k] = v[k];
        }
    }
    ~MuJoCo() override
    {
        mj_deleteData(data);
        mj_deleteModel(model);
    }
    bool step() override
    {
        mj_step(model, data);
        return true;
    }
    mor_pose pose(int i) const override
    {
        const double* q = fixed[i] ? nullptr : data->qpos + model->jnt_qposadr[model->body_jntadr[i + 1]];
        if (!q) return { { 0, 0, 0 }, { 1, 0, 0, 0 } };
        return { { q[0], q[1], q[2] }, { q[3], q[4], q[5], q[6] } };
    }
    mor_vec3 velocity(int i) const override
    {
        const double* v = data->qvel + model->body_dofadr[i + 1];
        return mor_v3(v[0], v[1], v[2]);
    }
    mor_vec3 spin(int i) const override
    {
        const double* v = data->qvel + model->body_dofadr[i + 1] + 3;
        return mor_rotate(pose(i).rotation, mor_v3(v[0], v[1], v[2]));
    }
};

template <bool stiff> std::unique_ptr<Engine> make(const Scene& s, const char*, const std::vector<std::string>&)
{
    return std::make_unique<MuJoCo>(s, stiff);
}

} // namespace

std::vector<Config> mujoco_configs() { return { { "MuJoCo", make<false> }, { "MuJoCo stiff", make<true> } }; }
