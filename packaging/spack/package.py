# SPDX-License-Identifier: BSD-3-Clause
"""
Spack's recipe.  In a repository of your own: packages/huddle/package.py.

    spack dev-build huddle@0.1.0 +openmpi ^openmpi@5     in this tree
"""

import os

from spack.package import *


class Huddle(CMakePackage):
    """Fast collectives of unmodified MPI programs inside a node, through shared memory."""

    homepage = "https://huddle.invalid"
    license("BSD-3-Clause")

    version("0.1.0")

    variant("openmpi", default=True, description="The component for Open MPI 4.1 or 5.0")
    variant("mpich", default=False, description="The front end for MPICH and Intel MPI")
    variant("lab", default=False, description="The laboratory: simulator, models, papers")
    variant("plots", default=False, description="Plots of the commands")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74: +context", type="build")
    depends_on("hwloc@2:")
    depends_on("jansson@2.11:")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-rich", type="run")
    depends_on("py-matplotlib", type="run", when="+plots")
    depends_on("openmpi@4.1:5.0", when="+openmpi")
    depends_on("mpich@4:", type="build", when="+mpich")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("HUD_TESTS", False),
            self.define_from_variant("HUD_LAB", "lab"),
            self.define("HUD_MPICH_COMPILER", "none"),
        ]
        # CMake fails if this Open MPI was configured without its internal headers.
        includes = {"4_1": "none", "5_0": "none"}
        if "+openmpi" in spec:
            series = str(spec["openmpi"].version.up_to(2)).replace(".", "_")
            includes[series] = spec["openmpi"].prefix.include
        for series, include in includes.items():
            args.append(self.define(f"HUD_OPENMPI_{series}_INCLUDE", include))
        if "+mpich" in spec:
            args.append(self.define("HUD_MPICH_INCLUDE", spec["mpich"].prefix.include))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(os.path.join(self.prefix.bin, "huddle"))("info", "--brief")
