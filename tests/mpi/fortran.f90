! SPDX-License-Identifier: BSD-3-Clause
!
! fortran.f90 - reductions and an exchange from Fortran: its types, its truth values, a function of
! the program's own.

subroutine add(in, inout, length, type)
  implicit none
  integer :: length, type, in(length), inout(length)

  inout = in + inout
end subroutine

program fortran
  use mpi
  implicit none
  integer, parameter :: n = 700
  integer :: error, rank, ranks, sum_of_ranks, i, failures = 0, total = 0

  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  sum_of_ranks = ranks * (ranks - 1) / 2
  call numbers()
  call truths()
  call own_function()
  call mpi_reduce(failures, total, 1, mpi_integer, mpi_sum, ranks - 1, mpi_comm_world, error)
  if (rank == ranks - 1) print *, 'fortran: ', merge('FAILED', 'passed', total /= 0), total
  call mpi_finalize(error)
  if (total /= 0) stop 1

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (good) return
    failures = failures + 1
    print *, 'FAIL rank ', rank, ': ', what
  end subroutine

  subroutine numbers()
    integer(8) :: wide(n), widest(n)
    complex :: small(n), small_sum(n)
    double complex :: large(n), large_sum(n)
    double precision :: ramp(n), most(n)
    integer :: pair(2), best(2)

    wide = rank * 3000000000_8
    small = [(cmplx(rank, i), i = 1, n)]
    large = [(dcmplx(i, rank), i = 1, n)]
    ramp = [(dble(rank + i), i = 1, n)]
    pair = [mod(rank + 1, ranks), rank]
    call mpi_allreduce(wide, widest, n, mpi_integer8, mpi_max, mpi_comm_world, error)
    call check(all(widest == (ranks - 1) * 3000000000_8), 'maximum of integer(8)')
    call mpi_allreduce(small, small_sum, n, mpi_complex, mpi_sum, mpi_comm_world, error)
    call check(all(small_sum == [(cmplx(sum_of_ranks, i * ranks), i = 1, n)]), 'sum of complex')
    call mpi_allreduce(large, large_sum, n, mpi_double_complex, mpi_sum, mpi_comm_world, error)
    call check(all(large_sum == [(dcmplx(i * ranks, sum_of_ranks), i = 1, n)]), &
        'sum of double complex')
    call mpi_allreduce(ramp, most, n, mpi_double_precision, mpi_max, mpi_comm_world, error)
    call check(all(most == [(dble(ranks - 1 + i), i = 1, n)]), 'maximum of double precision')
    call mpi_allreduce(pair, best, 1, mpi_2integer, mpi_maxloc, mpi_comm_world, error)
    call check(best(1) == ranks - 1 .and. best(2) == ranks - 2, 'maxloc of 2integer')
  end subroutine

  ! What is true, in memory, is the compiler's choice: the MPI knows.
  subroutine truths()
    logical :: mine(n), of_all(n)

    mine = [(mod(i, ranks) == rank, i = 1, n)]
    call mpi_allreduce(mine, of_all, n, mpi_logical, mpi_lor, mpi_comm_world, error)
    call check(all(of_all), 'lor')
    call mpi_allreduce(mine, of_all, n, mpi_logical, mpi_land, mpi_comm_world, error)
    call check(.not. any(of_all), 'land')
    call mpi_allreduce(mine, of_all, n, mpi_logical, mpi_lxor, mpi_comm_world, error)
    call check(all(of_all), 'lxor')
  end subroutine

  subroutine own_function()
    external :: add
    integer :: op, mine(n), total(n), each

    each = n / ranks
    mine = [(rank * i, i = 1, n)]
    call mpi_op_create(add, .true., op, error)
    call mpi_allreduce(mine, total, n, mpi_integer, op, mpi_comm_world, error)
    call check(all(total == [(i * sum_of_ranks, i = 1, n)]), 'a function of its own')
    call mpi_allreduce(mpi_in_place, mine, n, mpi_integer, op, mpi_comm_world, error)
    call check(all(mine == total), 'the same in place')
    call mpi_alltoall(mpi_in_place, 0, mpi_integer, mine, each, mpi_integer, mpi_comm_world, error)
    total(1:each * ranks) = &
        [((rank * each + mod(i, each) + 1) * sum_of_ranks, i = 0, each * ranks - 1)]
    call check(all(mine(1:each * ranks) == total(1:each * ranks)), 'alltoall')
    call mpi_op_free(op, error)
  end subroutine

end program
