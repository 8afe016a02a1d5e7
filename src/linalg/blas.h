/* One BLAS thread: our matrices are small, answers must not depend on the number of threads, and threads of the BLAS
 * waiting for each other on a busy machine cost a thousand times what they save. */
#ifndef MOR_LINALG_BLAS_H
#define MOR_LINALG_BLAS_H

/* Tells OpenBLAS to use one thread in this process; other libraries are left alone. Cheap; called by every solve. */
void mor_blas_single_thread(void);
/* The same, and ends the threads that OpenBLAS began when it was loaded: idle, they spin for 30 ms of CPU time. For a
 * program that has no threads of its own yet. */
void mor_blas_end_threads(void);

#endif
