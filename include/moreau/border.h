/* A number made of all types that plug-ins and the program both use; scripts/check-abi --announce writes it. */
#ifndef MOREAU_BORDER_H
#define MOREAU_BORDER_H

#include "moreau/base.h"

#define MOR_BORDER_TYPES 0x0cbadfe7u

#endif
