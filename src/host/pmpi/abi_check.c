/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi_check.c - checks the facts of MPICH's ABI on which the front end relies.
 *
 * Vendors and sites build MPICH with other names and version texts.  Before MPI_Init the names that
 * the library defines show its ABI (host/mpich_abi.h).  After it, predefined handles must be the
 * objects that they name, and a status must have the fields of the headers.  An MPI that passes is
 * served.  One line names an MPI that passes without having been tested with huddle.
 */
#define _GNU_SOURCE
#include "host/first_words.h"
#include "host/mpich_abi.h"
#include "host/pmpi/pmpi.h"
#include "host/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char untested[FIRST_WORDS + 128]; /* version and library; empty if the MPI was tested */

/* ---- the library ----------------------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const beginnings[2])
{
    return strncmp(text, beginnings[0], strlen(beginnings[0])) == 0 ||
           strncmp(text, beginnings[1], strlen(beginnings[1])) == 0;
}

/* Returns whether the tests of huddle ran with an MPI of this name and version text. */
static bool is_tested(const char *soname, const char *version)
{
    static const char *const sonames[] = { "libmpich.so.12", "libmpi.so.12" }, *const versions[] = {
        "MPICH Version:", "Intel(R) MPI"
    };

    return is_one_of(soname, sonames) && is_one_of(version, versions);
}

const char *hud_abi_refusal(const struct object *mpi, const char *version)
{
    const char *set = getenv("HUDDLE"), *soname = mpi->soname ? mpi->soname : "no name";
    char words[FIRST_WORDS];

    if (!mpich_abi_is_of(mpi))
        return "its library lacks names of MPICH's ABI";
    if (is_tested(soname, version))
        return NULL;
    if (set && strcmp(set, "require") == 0)
        return "huddle was not tested with it, although it has MPICH's ABI";
    first_words(version, words);
    snprintf(untested, sizeof untested, "%s (%.100s)", words, soname);
    return NULL;
}

void hud_abi_report_untested(void)
{
    int rank = 0, size = 0;

    if (!untested[0] || real.Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || rank > 0 ||
        real.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS || size < 2)
        return;
    hud_report_warn("%s has MPICH's ABI and is served; huddle was not tested with it", untested);
}

/* ---- its objects ----------------------------------------------------------------------------- */

static bool type_fits(MPI_Datatype type, const char *name, MPI_Count bytes)
{
    char found[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Count size = 0;

    return real.Type_get_name(type, found, &length) == MPI_SUCCESS && strcmp(found, name) == 0 &&
           real.Type_size_c(type, &size) == MPI_SUCCESS && size == bytes;
}

static bool op_fits(MPI_Op op, bool commutes)
{
    int found = 0;

    return real.Op_commutative(op, &found) == MPI_SUCCESS && (found != 0) == commutes;
}

static bool communicators_fit(void)
{
    int world = 0, self = 0;

    /* Not by name: a program may rename MPI_COMM_WORLD on a single rank. */
    return real.Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS && world > 0 &&
           real.Comm_size(MPI_COMM_SELF, &self) == MPI_SUCCESS && self == 1;
}

/* Checks the place of a status's count, and that the MPI writes nothing beyond a status. */
static bool status_fits(void)
{
    struct {
        MPI_Status status;
        unsigned char beyond[16], same[16];
    } s;
    enum { COUNT = 0x1234 };
    int count = 0;

    memset(&s, 0xa5, sizeof s);
    return real.Status_set_elements(&s.status, MPI_BYTE, COUNT) == MPI_SUCCESS &&
           real.Status_set_cancelled(&s.status, 0) == MPI_SUCCESS &&
           real.Get_count(&s.status, MPI_BYTE, &count) == MPI_SUCCESS && count == COUNT &&
           s.status.count_lo == COUNT && memcmp(s.beyond, s.same, sizeof s.beyond) == 0;
}

/* Checks that the MPI's packed form is the bare bytes: other ranks may see the same message as
 * contiguous. */
static bool packs_bare_bytes(void)
{
    const int given[2] = { 0x01020304, 0x05060708 };
    MPI_Count position = 0;
    char packed[64] = "";

    return real.Pack_c(given, 2, MPI_INT, packed, sizeof packed, &position, MPI_COMM_SELF) ==
               MPI_SUCCESS &&
           position == sizeof given && memcmp(packed, given, sizeof given) == 0;
}

const char *hud_abi_misfit(void)
{
    if (!communicators_fit())
        return "communicators";
    if (!type_fits(MPI_INT, "MPI_INT", sizeof(int)) ||
        !type_fits(MPI_DOUBLE, "MPI_DOUBLE", sizeof(double)) ||
        !type_fits(MPI_INT64_T, "MPI_INT64_T", sizeof(int64_t)))
        return "datatypes";
    if (!op_fits(MPI_SUM, true) || !op_fits(MPI_REPLACE, false))
        return "operations";
    if (!status_fits())
        return "status";
    return packs_bare_bytes() ? NULL : "packed form";
}
