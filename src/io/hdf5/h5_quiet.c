/* HDF5's own printing, off and on again, see h5_inside.h. It has two manners, of which a program may have set either;
 * what it had is put back. */
#include "io/hdf5/h5_inside.h"

mor_h5_printing mor_h5_quiet(void)
{
    mor_h5_printing p = { .second = 1 };
    H5Eauto_is_v2(H5E_DEFAULT, &p.second);
    if (p.second) {
        H5Eget_auto2(H5E_DEFAULT, &p.by.two, &p.user);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    } else {
        H5Eget_auto1(&p.by.one, &p.user);
        H5Eset_auto1(NULL, NULL);
    }
    return p;
}

void mor_h5_loud(mor_h5_printing p)
{
    if (p.second) H5Eset_auto2(H5E_DEFAULT, p.by.two, p.user);
    else H5Eset_auto1(p.by.one, p.user);
}
