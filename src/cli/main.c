#include "moreau/moreau.h"
#include <stdio.h>
int main(void) { puts(mor_version()); return 0; }
