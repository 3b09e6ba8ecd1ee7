/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - huddle COMMAND...: handles `run` here, and leaves all other commands to the Python
 * CLI. */
#include "launch.h"

#include <string.h>

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "run") == 0)
        return hud_launch_run(words + 2);
    return hud_launch_cli(words + (count > 0));
}
