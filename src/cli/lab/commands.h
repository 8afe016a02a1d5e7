/* The commands that only moreau-lab has; see cli.h for what they return. */
#ifndef MOREAU_CLI_LAB_COMMANDS_H
#define MOREAU_CLI_LAB_COMMANDS_H

int mor_cli_calibrate(int argc, char** argv);
int mor_cli_compare(int argc, char** argv);
int mor_cli_dataset(int argc, char** argv);
int mor_cli_inverse(int argc, char** argv);
int mor_cli_landscape(int argc, char** argv);
int mor_cli_plot(int argc, char** argv);
int mor_cli_reproduce(int argc, char** argv);
int mor_cli_sweep(int argc, char** argv);
int mor_cli_trust(int argc, char** argv);
int mor_cli_view(int argc, char** argv);

#endif
