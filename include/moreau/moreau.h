/* Moreau: rigid bodies with contact and friction, and fair comparison of the methods.
 * Include this to get all of the library moreau. Only problem.h + solver.h: the complementarity library moreau-solve.
 * lab.h: the laboratory moreau-lab, with all of this.
 * base.h says what holds everywhere on threads, ownership, failures and ABI; each header adds its own. */
#ifndef MOREAU_MOREAU_H
#define MOREAU_MOREAU_H

#include "moreau/base.h"
#include "moreau/control.h"
#include "moreau/geometry.h"
#include "moreau/library.h"
#include "moreau/math.h"
#include "moreau/problem.h"
#include "moreau/robot.h"
#include "moreau/run.h"
#include "moreau/scene.h"
#include "moreau/solver.h"
#include "moreau/state.h"
#include "moreau/world.h"

#endif
