/* A controller in another process: state out, torques in, once per robot and control instant (docs/control-link.md).
 *
 *   unix:PATH    a socket; the first program that connects is the controller
 *   fifo:PATH    two named pipes, PATH.state and PATH.torque, for programs without sockets
 *
 * Messages are little-endian, a header of 16 bytes and doubles:
 *
 *   bytes 0-3   "MOR1"
 *   4-7         kind: 1 hello, 2 state, 3 torques, 4 end
 *   8-11        robot, from 0
 *   12-15       number of doubles that follow
 *
 *   hello    (once per robot, to the controller)  n joints, N velocities, control step [s], 1 if the base floats
 *   state    (to the controller)  time [s], pose of the base (7), s (n), nu (N)
 *   torques  (to the simulator)   n joint torques [N m, N], which pass through the motors
 *   end      (either way)         nothing follows: the other side goes on without, or ends
 */
#ifndef MOREAU_CLI_CONTROL_LINK_H
#define MOREAU_CLI_CONTROL_LINK_H

#include "moreau/moreau.h"

typedef struct mor_control_link mor_control_link;

typedef struct mor_control_link_options {
    const char* address; /* "unix:PATH" or "fifo:PATH" */
    double timeout;      /* for the connection and for every answer [s] */
    double pace;         /* simulated seconds per second of the clock; 0: as fast as both can */
} mor_control_link_options;

/* Makes the address, waits for the controller and adds a controller of this kind to every robot of the world. NULL and
 * a sentence: no robots, the address is taken, nobody came in time. */
mor_control_link* mor_control_link_open(const mor_control_link_options* options, mor_world* world, mor_error* error);
/* Tells the other side and removes the address. NULL is allowed. */
void mor_control_link_close(mor_control_link* link);

#endif
