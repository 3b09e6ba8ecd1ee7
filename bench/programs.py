# SPDX-License-Identifier: BSD-3-Clause
"""
Profiles and compares three real programs: Quantum ESPRESSO, an example of PETSc, OpenFOAM.

usage: programs.py [--build BUILD] [--ranks N] [--runs N] FOLDER [NAME...]

Debian's packages are quantum-espresso and quantum-espresso-data, petsc3.18-doc and
libpetsc-real3.18-dev, openfoam and openfoam-examples; all use Open MPI.  A program that is not
installed is left out.  FOLDER gets NAME.html and NAME.json of the profile, NAME-compare.json, and
the output of both in NAME.txt.
"""

import argparse
import glob
import gzip
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

AS_ROOT = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}
DOCUMENTS = pathlib.Path("/usr/share/doc")
SILICON = """&control
  calculation='scf', prefix='si', pseudo_dir='.', outdir='.', disk_io='none'
/
&system
  ibrav=1, celldm(1)=10.2, nat=8, ntyp=1, ecutwfc=30
/
&electrons
  conv_thr=1d-8
/
ATOMIC_SPECIES
Si 28.086 Si.upf
ATOMIC_POSITIONS crystal
Si 0 0 0
Si .5 .5 0
Si .5 0 .5
Si 0 .5 .5
Si .25 .25 .25
Si .75 .75 .25
Si .75 .25 .75
Si .25 .75 .75
K_POINTS automatic
3 3 3 1 1 1
"""


class Missing(Exception):
    """A program that is not installed."""


def needed(found, package):
    """Returns the path `found`, and raises Missing if there is none."""
    if not found:
        raise Missing(package)
    return found


def text_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        return file.read()


def quantum_espresso(folder, ranks):
    program = needed(shutil.which("pw.x"), "quantum-espresso")
    examples = DOCUMENTS / "quantum-espresso" / "examples"
    pseudo = glob.glob(str(examples / "**" / "Si.pz-vbc.UPF*"), recursive=True)
    (folder / "Si.upf").write_text(
        text_of(needed(pseudo, "quantum-espresso-data")[0]), encoding="utf-8"
    )
    (folder / "si.in").write_text(SILICON, encoding="utf-8")
    return launched(ranks, [program, "-in", "si.in"])


def petsc(folder, ranks):
    """Extracts and compiles an example from PETSc's documentation, where the sources are pages."""
    page = DOCUMENTS / "petsc3.18-doc" / "docs/src/ksp/ksp/tutorials/ex45.c.html"
    found = glob.glob(f"{page}*")
    text = text_of(needed(found, "petsc3.18-doc")[0])
    body = re.search(r"<pre[^>]*>(.*)</pre>", text, re.DOTALL)[1]
    lines = html.unescape(re.sub(r"<[^>]*>", "", body))
    source = re.sub(r"^\s*\d+: ", "", lines, flags=re.MULTILINE)
    (folder / "ex45.c").write_text(source, encoding="utf-8")
    pattern = "/usr/lib/petscdir/petsc3.18/*-real/lib/pkgconfig"
    paths = needed(glob.glob(pattern), "libpetsc-real3.18-dev")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "PETSc"],
        env={**os.environ, "PKG_CONFIG_PATH": paths[0]},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()
    made = ["mpicc.openmpi", "-g", "-O2", "-w", "ex45.c", "-o", "ex45", *flags, "-lm"]
    subprocess.run(made, cwd=folder, check=True)
    grid = [word for axis in "xyz" for word in (f"-da_grid_{axis}", "49")]
    return launched(ranks, ["./ex45", *grid, "-ksp_rtol", "1e-8", "-ksp_max_it", "2000"])


def openfoam(folder, ranks):
    """Prepares the lid-driven cavity, with a finer mesh."""
    needed(shutil.which("icoFoam"), "openfoam")
    case = DOCUMENTS / "openfoam-examples/examples/incompressible/icoFoam/cavity/cavity"
    shutil.copytree(needed(case.exists() and case, "openfoam-examples"), folder, dirs_exist_ok=True)
    for path in folder.rglob("*.gz"):
        path.with_suffix("").write_text(text_of(str(path)), encoding="utf-8")
        path.unlink()
    mesh, control = folder / "system/blockMeshDict", folder / "system/controlDict"
    mesh.write_text(mesh.read_text().replace("(20 20 1)", "(80 80 1)"), encoding="utf-8")
    words = control.read_text().replace("deltaT          0.005", "deltaT          0.001")
    control.write_text(words.replace("endTime         0.5", "endTime         0.1"))
    head = "FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }\n"
    split = f"simpleCoeffs {{ n ({ranks} 1 1); delta .001; }}\n"
    words = f"{head}numberOfSubdomains {ranks};\nmethod simple;\n{split}"
    (folder / "system/decomposeParDict").write_text(words, encoding="utf-8")
    os.environ["WM_PROJECT_DIR"] = "/usr/share/openfoam"  # its shell file sets this and much else
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL}
    subprocess.run(["blockMesh"], check=True, **quiet)
    subprocess.run(["decomposePar", "-force"], check=True, **quiet)
    return launched(ranks, ["icoFoam", "-parallel"])


def launched(ranks, program):
    return ["mpirun.openmpi", "-np", str(ranks), "--bind-to", "core", *program]


PROGRAMS = {"quantum-espresso": quantum_espresso, "petsc": petsc, "openfoam": openfoam}


def measure(name, options):
    out = pathlib.Path(options.folder).absolute()
    work = out / f"{name}.run"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    command = PROGRAMS[name](work, options.ranks)
    huddle = str(pathlib.Path(options.build).absolute() / "bin" / "huddle")
    pages = ["--html", str(out / f"{name}.html"), "--json", str(out / f"{name}.json")]
    runs = ["--runs", str(options.runs), "--json", str(out / f"{name}-compare.json")]
    env = {**os.environ, **AS_ROOT, "XDG_CACHE_HOME": str(work / "cache")}
    with open(out / f"{name}.txt", "w", encoding="utf-8") as told:
        for words in (["profile", *pages], ["compare", *runs])[: 2 if options.runs else 1]:
            asked = [huddle, *words, "--", *command]
            with open(work / "printed", "w", encoding="utf-8") as printed:
                where = {"stdout": printed, "stderr": told} if words[0] == "profile" else {}
                where = where or {"stdout": told, "stderr": subprocess.DEVNULL}
                done = subprocess.run(asked, cwd=work, env=env, check=False, **where)
            print(f"{name}: huddle {words[0]}: status {done.returncode}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--build", default="build")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=15, help="0: only profiles")
    options = parser.parse_args()
    for name in options.names or PROGRAMS:
        try:
            measure(name, options)
        except Missing as package:
            print(f"{name}: left out, {package} is not installed", file=sys.stderr)


if __name__ == "__main__":
    main()
