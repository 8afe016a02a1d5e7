#include "moreau/moreau.h"
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "plot") == 0) return mor_cli_plot(argc - 1, argv + 1);
    puts(mor_version());
    return 0;
}
