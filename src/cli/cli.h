/* Subcommands of `moreau`: argv[0] is the subcommand's name; the result is the exit status. */
#ifndef MOR_CLI_CLI_H
#define MOR_CLI_CLI_H

int mor_cli_plot(int argc, char** argv);

#endif
