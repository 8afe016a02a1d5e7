#include "linalg/blas.h"

/* Part of OpenBLAS; absent from other BLAS libraries, hence weak. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));

void mor_blas_single_thread(void)
{
    if (openblas_get_num_threads && openblas_set_num_threads && openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

void mor_blas_end_threads(void)
{
    mor_blas_single_thread();
    if (blas_thread_shutdown_) blas_thread_shutdown_(); /* what OpenBLAS itself does before a fork */
}
