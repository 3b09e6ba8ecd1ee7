! SPDX-License-Identifier: BSD-3-Clause
! pi.f90 - pi.c in Fortran 2008, by the module mpi_f08.  It does not depend on huddle.
!
!     mpifort -O2 examples/pi.f90 -o pi
!     huddle run --stats -- mpirun -np 4 ./pi
program pi_by_integration
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi_f08
    implicit none
    integer, parameter :: steps = 12
    integer :: rank, ranks, step, intervals
    real(real64) :: mine, pi, error

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    do step = 0, steps - 1
        if (rank == 0) intervals = shiftl(100, step)
        call MPI_Bcast(intervals, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
        mine = part(intervals, rank, ranks)
        call MPI_Allreduce(mine, pi, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    end do
    error = abs(pi - acos(-1.0_real64))
    if (rank == 0) print '(a, f12.10, a, es7.1)', 'pi is ', pi, ', error ', error
    call MPI_Finalize()
    if (error >= 1e-10_real64) error stop 1

contains

    ! Returns this rank's part of the integral of 4 / (1 + x**2) over 0..1.
    pure function part(intervals, rank, ranks) result(sum)
        integer, intent(in) :: intervals, rank, ranks
        real(real64) :: sum, width, x
        integer :: i

        width = 1.0_real64 / intervals
        sum = 0
        do i = rank, intervals - 1, ranks
            x = width * (i + 0.5_real64)
            sum = sum + 4 / (1 + x * x)
        end do
        sum = width * sum
    end function
end program
