! SPDX-License-Identifier: BSD-3-Clause
!
! f08.f90 - nonblocking collectives by mpi_f08, whose routines without a choice buffer do not pass
! through C in MPICH.  The ranks come to them at different moments of the set-up of a communicator.

program f08
  use mpi_f08
  implicit none
  integer, parameter :: turns = 6
  integer :: rank, ranks, turn, failures = 0, total = 0

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  call mpi_comm_size(mpi_comm_world, ranks)
  do turn = 1, turns
    call behind(turn, 'barrier')
    call behind(turn, 'copy')
    call behind(turn, 'copy later')
    call behind(turn, 'parts')
    call behind(turn, 'grid')
  end do
  call looked_at()
  call disconnected()
  call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum, mpi_comm_world)
  if (rank == 0) print *, 'f08: ', merge('FAILED', 'passed', total /= 0), total
  call mpi_finalize()
  if (total /= 0) stop 1

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (.not. good) then
      failures = failures + 1
      print *, 'rank', rank, 'FAILED: ', what
    end if
  end subroutine

  ! A first collective of a new communicator, and behind it another call.  One rank tests the first
  ! one meanwhile, the others do not.
  subroutine behind(turn, what)
    integer, intent(in) :: turn
    character(*), intent(in) :: what
    type(mpi_comm) :: comm, made
    type(mpi_request) :: request(2)
    integer, asynchronous :: mine, total
    integer :: i, members
    logical :: done

    call mpi_comm_dup(mpi_comm_world, comm)
    mine = rank + 1
    total = -1
    call mpi_iallreduce(mine, total, 1, mpi_integer, mpi_sum, comm, request(1))
    request(2) = mpi_request_null
    do i = 1, merge(200, turn, rank == mod(turn, ranks))
      call mpi_test(request(1), done, mpi_status_ignore)
    end do
    made = mpi_comm_null
    select case (what)
    case ('barrier')
      call mpi_ibarrier(comm, request(2))
    case ('copy')
      call mpi_comm_dup(comm, made)
    case ('copy later')
      call mpi_comm_idup(comm, made, request(2))
    case ('parts')
      call mpi_comm_split(comm, 0, rank, made)
    case ('grid')
      call mpi_cart_create(comm, 1, [ranks], [.true.], .false., made)
    end select
    call mpi_waitall(2, request, mpi_statuses_ignore)
    call check(total == ranks * (ranks + 1) / 2, 'sum before ' // what)
    if (made /= mpi_comm_null) then
      call mpi_comm_size(made, members)
      call check(members == ranks, what)
      call mpi_comm_free(made)
    end if
    call mpi_comm_free(comm)
  end subroutine

  ! A program may only look.
  subroutine looked_at()
    type(mpi_request) :: request
    integer, asynchronous :: mine, total
    logical :: done

    mine = 1
    done = .false.
    call mpi_iallreduce(mine, total, 1, mpi_integer, mpi_sum, mpi_comm_world, request)
    do while (.not. done)
      call mpi_request_get_status(request, done, mpi_status_ignore)
    end do
    call mpi_wait(request, mpi_status_ignore)
    call check(total == ranks, 'looked at')
  end subroutine

  subroutine disconnected()
    type(mpi_comm) :: comm
    type(mpi_request) :: request
    integer, asynchronous :: mine, total

    call mpi_comm_dup(mpi_comm_world, comm)
    mine = 1
    call mpi_iallreduce(mine, total, 1, mpi_integer, mpi_sum, comm, request)
    call mpi_wait(request, mpi_status_ignore)
    call mpi_comm_disconnect(comm)
    call check(total == ranks .and. comm == mpi_comm_null, 'disconnected')
  end subroutine
end program
