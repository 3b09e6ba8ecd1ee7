/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words.c - prints the names of collectives, algorithms and settings as entries for the dictionary
 * of a fuzz target, in libFuzzer's format. Some entries appear more than once.
 *
 *   fuzz_words config|rules|request
 */
#include "alg/alg.h"
#include "coll/coll.h"
#include "core/config/config.h"

#include <stdio.h>
#include <string.h>

/* The format in which a target's input has the name of a collective, an algorithm, a parameter, a
 * parameter's word, and a setting. NULL if the input has no such name. */
static const struct forms {
    const char *target, *coll, *alg, *param, *word, *setting;
} targets[] = {
    { "config", NULL, "\"%s\"\n", NULL, "\"%s\"\n", "\"%s=\"\n" },
    { "rules", "\"\\x0a%s \"\n", "\"-> %s \"\n", "\"%s=\"\n", "\"%s\"\n", NULL },
    { "request", "\"\\\"%s\\\"\"\n", "\"\\\"%s\\\"\"\n", NULL, NULL, NULL },
};

static void print(const char *form, const char *name)
{
    const char *at = form ? strstr(form, "%s") : NULL;

    if (at)
        printf("%.*s%s%s", (int)(at - form), form, name, at + 2);
}

static void print_all(const struct forms *forms)
{
    int count;
    const struct setting *settings = hud_settings(&count);

    for (int i = 0; i < count; i++)
        print(forms->setting, settings[i].name);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        print(forms->coll, coll_name(kind));
    for (int a = 0; hud_shm_algs[a]; a++) {
        const struct alg_param *p = hud_shm_algs[a]->family->params;
        print(forms->alg, hud_shm_algs[a]->name);
        for (; p && p->name; p++) {
            print(forms->param, p->name);
            for (long w = 0; p->words && w <= p->max - p->min; w++)
                print(forms->word, p->words[w]);
        }
    }
}

int main(int argc, char **argv)
{
    for (size_t t = 0; argc == 2 && t < sizeof targets / sizeof *targets; t++)
        if (strcmp(argv[1], targets[t].target) == 0)
            print_all(&targets[t]);
    return argc == 2 ? 0 : 2;
}
