/* The code of a call that has failed and whose answer is a null pointer. */
#ifndef MOR_BASE_FAILED_H
#define MOR_BASE_FAILED_H

#include "moreau/base.h"

/* What it told; `otherwise` where nobody listens (error NULL). */
static inline mor_code mor_failed(const mor_error* error, mor_code otherwise)
{
    return error && error->code ? error->code : otherwise;
}

#endif
