/* One BLAS thread: our matrices are small, answers must not depend on the number of threads, and threads of the BLAS
 * waiting for each other on a busy machine cost a thousand times what they save. */
#ifndef MOR_LINALG_BLAS_H
#define MOR_LINALG_BLAS_H

/* Tells OpenBLAS to use one thread in this process; other libraries are left alone. Cheap; called by every solve. */
void mor_blas_single_thread(void);

#endif
