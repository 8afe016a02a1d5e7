// The peers that were found when the program was built.
#include "engine.h"

std::vector<Config> peer_configs(std::string* versions)
{
    std::vector<Config> configs;
#ifdef HAVE_ODE
    for (Config& c : ode_configs()) configs.push_back(c);
    *versions += std::string(", ODE ") + ODE_VERSION;
#endif
#ifdef HAVE_BULLET
    for (Config& c : bullet_configs()) configs.push_back(c);
    *versions += std::string(", Bullet ") + BULLET_VERSION + " (single precision)";
#endif
#ifdef HAVE_MUJOCO
    for (Config& c : mujoco_configs()) configs.push_back(c);
    *versions += std::string(", MuJoCo ") + MUJOCO_VERSION;
#endif
    return configs;
}
