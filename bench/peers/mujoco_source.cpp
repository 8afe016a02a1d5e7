// MuJoCo's steps (Newton's method on its convex problem with elliptic cones, Euler integration). Its contacts are soft:
// the force balances a spring and a damper, and the solution is that of a regularised problem, so there is no least
// normal velocity that its rows ask for; the problem stored is the rigid one without recovery (v_n >= 0 in overlap).
// The tree of every body is in MuJoCo's own coordinates: M with the implicit damping of its integrator.
#include "sources.h"

#include <cmath>
#include <cstring>
#include <mujoco/mujoco.h>
#include <sstream>
#include <stdexcept>

namespace
{

std::string numbers(std::initializer_list<double> all)
{
    std::ostringstream out;
    out.precision(17);
    for (double x : all) out << x << ' ';
    return out.str();
}

std::string xml(const Scene& s)
{
    std::ostringstream meshes, bodies, out;
    out.precision(17);
    for (size_t i = 0; i < s.bodies.size(); i++) {
        const Body& b = s.bodies[i];
        const mor_vec3& x = b.pose.position;
        const mor_quat& q = b.pose.rotation;
        std::string place = " pos='" + numbers({ x.x, x.y, x.z }) + "' quat='" + numbers({ q.w, q.x, q.y, q.z }) + "'";
        std::string geom = " friction='" + numbers({ s.mu, 0, 0 }) + "' condim='3'";
        if (b.shape == Shape::sphere) geom += " type='sphere' size='" + numbers({ b.size[0] }) + "'";
        else if (b.shape == Shape::box)
            geom += " type='box' size='" + numbers({ b.size[0] / 2, b.size[1] / 2, b.size[2] / 2 }) + "'";
        else if (b.shape == Shape::plane) geom += " type='plane' size='100 100 1'";
        else {
            geom += " type='mesh' mesh='m" + std::to_string(i) + "'";
            meshes << "<mesh name='m" << i << "' vertex='";
            for (int v = 0; v < b.hull->vertex_count; v++)
                meshes << numbers({ b.hull->vertices[v].x, b.hull->vertices[v].y, b.hull->vertices[v].z });
            meshes << "'/>";
        }
        if (b.fixed) bodies << "<geom" << geom << place << "/>";
        else
            bodies << "<body" << place << "><freejoint/><inertial pos='0 0 0' mass='" << numbers({ b.mass })
                   << "' diaginertia='" << numbers({ b.inertia[0], b.inertia[1], b.inertia[2] }) << "'/><geom" << geom
                   << "/></body>";
    }
    out << "<mujoco><option timestep='" << numbers({ s.h }) << "' cone='elliptic' gravity='"
        << numbers({ s.gravity.x, s.gravity.y, s.gravity.z }) << "'/><size nconmax='800' njmax='2400'/><asset>"
        << meshes.str() << "</asset><worldbody>" << bodies.str() << "</worldbody></mujoco>";
    return out.str();
}

struct Mujoco : Source {
    mjModel* m = nullptr;
    mjData* d = nullptr;
    double time = 0;

    explicit Mujoco(const Scene& s)
    {
        std::string text = xml(s);
        char why[500] = "";
        mjVFS* vfs = new mjVFS;
        mj_defaultVFS(vfs);
        if (mj_makeEmptyFileVFS(vfs, "scene.xml", (int)text.size() + 1) == 0)
            memcpy(vfs->filedata[0], text.c_str(), text.size() + 1);
        m = mj_loadXML("scene.xml", vfs, why, sizeof why);
        mj_deleteVFS(vfs);
        delete vfs;
        if (!m) throw std::runtime_error(why);
        d = mj_makeData(m);
        int at = 0;
        for (const Body& b : s.bodies) {
            if (b.fixed) continue;
            mor_quat back = { b.pose.rotation.w, -b.pose.rotation.x, -b.pose.rotation.y, -b.pose.rotation.z };
            mor_vec3 spin = mor_rotate(back, b.spin); // MuJoCo's free joints: angular velocity in the axes of the body
            const double v[6] = { b.velocity.x, b.velocity.y, b.velocity.z, spin.x, spin.y, spin.z };
            memcpy(d->qvel + at, v, sizeof v);
            at += 6;
        }
    }
    ~Mujoco() override
    {
        mj_deleteData(d);
        mj_deleteModel(m);
    }
    void step(frames* to) override
    {
        std::vector<double> before(d->qvel, d->qvel + m->nv);
        mj_step(m, d); // leaves contacts, forces and Jacobians of the start; only qpos and qvel are new
        if (to) store(to, before);
        time += m->opt.timestep;
    }
    /* Trees of degrees of freedom: first and one past the last. */
    std::vector<std::pair<int, int>> trees() const
    {
        std::vector<std::pair<int, int>> all;
        for (int i = 0; i < m->nv; i++) {
            if (m->dof_parentid[i] < 0) all.push_back({ i, i + 1 });
            else all.back().second = i + 1;
        }
        return all;
    }
    void store(frames* to, const std::vector<double>& before)
    {
        const double h = m->opt.timestep;
        size_t nv = (size_t)m->nv;
        std::vector<double> M(nv * nv), J(6 * nv);
        mj_fullM(m, M.data(), d->qM);
        for (size_t i = 0; i < nv; i++) M[(nv + 1) * i] += h * m->dof_damping[i];
        frames_begin(to, time, h);
        std::vector<int> tree_of(nv), start;
        for (auto [a, b] : trees()) {
            size_t n = (size_t)(b - a);
            std::vector<double> block(n * n), L(n * n), free(n);
            for (size_t i = 0; i < n * n; i++) block[i] = M[((size_t)a + i / n) * nv + (size_t)a + i % n];
            L = block;
            mju_cholFactor(L.data(), (int)n, 0);
            mju_cholSolve(free.data(), L.data(), d->qfrc_smooth + a, (int)n);
            for (size_t i = 0; i < n; i++) free[i] = before[(size_t)a + i] + h * free[i];
            int tree = frames_tree(to, (int)n, block.data(), before.data() + a, free.data(), d->qvel + a);
            start.push_back(a);
            for (int i = a; i < b; i++) tree_of[(size_t)i] = tree;
        }
        std::vector<int> link((size_t)m->nbody, -1);
        for (int b = 1; b < m->nbody; b++) {
            int dof = b; // the body's own or its next parent's
            while (dof > 0 && m->body_dofnum[dof] == 0) dof = m->body_parentid[dof];
            if (dof == 0) continue;
            int tree = tree_of[(size_t)m->body_dofadr[dof]];
            mj_jacBodyCom(m, d, J.data(), J.data() + 3 * nv, b);
            link[(size_t)b] = add_link(to, b, tree, start, J, before);
        }
        for (int i = 0; i < d->ncon; i++) contact(to, i, link);
        frames_end(to);
    }
    int add_link(frames* to, int body, int tree, const std::vector<int>& start, const std::vector<double>& J,
                 const std::vector<double>& before)
    {
        size_t nv = (size_t)m->nv, a = (size_t)start[(size_t)tree];
        size_t n = ((size_t)tree + 1 < start.size() ? (size_t)start[(size_t)tree + 1] : nv) - a;
        std::vector<double> own(6 * n);
        frames_link l = {};
        for (size_t k = 0; k < 6; k++)
            for (size_t i = 0; i < n; i++) {
                own[k * n + i] = J[k * nv + a + i];
                (k < 3 ? l.v[k] : l.w[k - 3]) += own[k * n + i] * before[a + i];
            }
        l.mass = m->body_mass[body];
        rotated(d->ximat + 9 * body, m->body_inertia + 3 * body, l.inertia);
        memcpy(l.x, d->xipos + 3 * body, sizeof l.x);
        mju_mat2Quat(l.q, d->ximat + 9 * body);
        return frames_add_link(to, tree, &l, own.data());
    }
    void contact(frames* to, int i, const std::vector<int>& link)
    {
        const mjContact& from = d->contact[i];
        if (from.efc_address < 0) return;
        double f[6];
        mj_contactForce(m, d, i, f);
        frames_contact c = {};
        c.body[0] = link[(size_t)m->geom_bodyid[from.geom1]];
        c.body[1] = link[(size_t)m->geom_bodyid[from.geom2]];
        c.gap = from.dist;
        c.mu = from.friction[0];
        for (int k = 0; k < 3; k++) {
            c.point[0][k] = c.point[1][k] = from.pos[k];
            c.normal[k] = from.frame[k];
            for (int r = 0; r < 3; r++) c.impulse[k] += m->opt.timestep * f[r] * from.frame[3 * r + k];
        }
        frames_add_contact(to, &c);
    }
};

} // namespace

SourceKind mujoco_source()
{
    return { "mujoco", "newton", mj_versionString(),
             1e-6,     true,     [](const Scene& s) -> std::unique_ptr<Source> { return std::make_unique<Mujoco>(s); } };
}
