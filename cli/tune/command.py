# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune: measures this machine, without any MPI, and writes a tuning file.

Every cell (a collective, a team, a size) has a first look (screen), then a contest if a candidate
looks better than what serves now (contest).  Cells with the same best choice form ranges of sizes
(stats), whose rules are measured as a file (together).  Other MPIs, if asked for, are measured with
the file (against).  Each part has its share of the time (budget).
"""

import sys

from ..common import places, stop
from ..common.layout import Trouble
from ..common.options import real, sizes_of
from ..common.parser import Parser
from ..common.progress import Progress
from . import contest, describe, network, plot, screen, show, together, tuning_file
from .against import Against
from .campaign import Campaign
from .results import results

STEPS = 100  # of the time, in the progress that is shown
PLOT_S = 1.5  # that a plot takes, about
TURNS, WORTHWHILE_S = 4, 4  # of looks and contests; time that is worth another one
# Options that measure something else than choices -> what goes with them, as a message has it.
ALONE = {
    "--machine": ("--machine FILE", "--force"),
    "--network": ("--network COMMAND", "--output FILE", "--site", "--force"),
}


def add_arguments(parser):
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=(
            "the tuning file to write (default: in the user's configuration directory, where huddle"
            " finds it)"
        ),
    )
    parser.add_argument(
        "--site",
        action="store_true",
        help="write to the site's configuration directory instead, for all users",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help=(
            "overwrite a file that tune did not write; with --machine also write figures that do"
            " not agree, and mark them"
        ),
    )
    parser.add_argument(
        "--machine",
        nargs="?",
        const=describe.THERE,
        metavar="FILE.toml",
        help=(
            "describe this machine by micro-measurements instead, for huddle simulate (default: the"
            " file that huddle simulate reads)"
        ),
    )
    parser.add_argument(
        "--network",
        metavar="COMMAND",
        help=(
            "measure the network between nodes instead, and write it into the tuning file; COMMAND"
            " starts ranks on two nodes or more, as 'mpirun -H a,b -np 2'"
        ),
    )
    parser.add_argument("--collectives", metavar="NAMES", help="separated by commas (default: all)")
    parser.add_argument(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help="only these sizes, as 64K, 8,1K or 4K:1M; rules serve no others (default: 8 B to 16M)",
    )
    parser.add_argument(
        "--ranks",
        metavar="NUMBERS",
        help=(
            "separated by commas; more ranks than cores are oversubscribed and unbound (default: 2,"
            " 4, ... all cores, and one oversubscribed number)"
        ),
    )
    parser.add_argument("--quick", action="store_true", help="only every second size, in a minute")
    parser.add_argument(
        "--minutes",
        type=real(0.01, 24 * 60),
        metavar="N",
        help="the time that it may take; what it did not decide then is listed (default: 5; 1 with"
        " --quick)",
    )
    parser.add_argument(
        "--from",
        dest="base",
        metavar="FILE",
        help="a tuning file to start from, instead of the built-in table: its rules are what is to"
        " be beaten, and follow the new ones",
    )
    parser.add_argument(
        "--against",
        metavar="NAMES",
        help="also measure these MPIs without huddle, as 'huddle bench' names them, separated by"
        " commas; all: those found here.  huddle profile estimates from their times, next to the"
        " tuning file, what huddle saves",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="the plot of the result, SVG or PNG (default: next to the tuning file)",
    )
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="also try algorithms that huddle has for comparison only",
    )
    parser.add_argument("--fresh", action="store_true", help="discard the figures of a stopped run")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue a stopped run, which is the default; fail if there is none",
    )
    parser.epilog = (
        "--machine takes some seconds on a quiet machine, and up to half a minute on a busy one."
        f" {places.HELP}"
    )


def check_alone(options):
    """Refuses what --machine and --network have no use for, whatever options there are."""
    parser = Parser()
    add_arguments(parser)
    given = [
        action.option_strings[-1]
        for action in parser._actions
        if getattr(options, action.dest, action.default) != action.default
    ]
    for mode, accepted in ALONE.items():
        for name in given if mode in given else ():
            if name not in {words.split()[0] for words in accepted}:
                raise Trouble(f"tune: {name}: not with {mode} (accepted: {', '.join(accepted)})", 2)


class Clock(Progress):
    """Progress in parts of the time, with what is left at most."""

    def __init__(self, budget):
        super().__init__(STEPS)
        self.budget = budget

    def stage(self, words):
        self.done = round(STEPS * self.budget.used())
        super().stage(f"{words}; at most {self.budget.left_text()} left")

    def step(self):
        self.done = round(STEPS * self.budget.used())
        self.draw()


def begin(campaign, options):
    state = campaign.state
    if options.fresh:
        state.forget()
    state.check_place()
    found = state.load()
    if options.resume and not found:
        raise Trouble(
            "--resume: no stopped run of this huddle with this output, on these processors,"
            " with these settings was found",
            2,
        )
    cells = campaign.cells()
    kept = sum(state.has(cell) for cell in cells)
    teams = ", ".join(
        str(t.ranks) + (" (oversubscribed)" if t.oversubscribed else "") for t in campaign.teams
    )
    print(
        f"huddle tune: {', '.join(c.name for c in campaign.collectives)}; {teams} ranks;"
        f" {len(cells)} sizes; at most {campaign.minutes:g} minute(s)."
        "  Other work on this machine spoils the figures.",
        flush=True,
    )
    if kept:
        print(
            f"{kept} of {len(cells)} measurements are kept from a run that was stopped (--fresh"
            " discards them)."
        )


def look_and_decide(campaign, progress):
    """
    Returns the contests that are not decided.  Where a busy machine left sizes out of the first
    look, it goes on with what contests do not need.
    """
    for turn in range(TURNS):
        if turn:
            campaign.budget.reopen("screen", "contest")
        screen.screen(campaign, progress)
        undecided = contest.contest(campaign, progress)
        missing = any(not campaign.state.has(cell) for cell in campaign.cells())
        if not missing or campaign.budget.left("contest") < WORTHWHILE_S:
            break
    return undecided


def write_plot(campaign, found):
    if not campaign.plot or not found:
        return
    if campaign.budget.seconds_left() < PLOT_S:
        print("No plot: the time was over.")
        return
    form = "png" if campaign.plot.lower().endswith(".png") else "svg"
    title = f"{campaign.facts['cpu'] or 'this machine'}: time of a call relative to before"
    places.write(campaign.plot, plot.draw(found, title, form))
    print(f"Plot: {campaign.plot}")


def tell_use(campaign, timed):
    """timed: the file with times of other MPIs; None: there is none."""
    print(f"\nWritten: {campaign.output}")
    if campaign.options.output:
        print(f"Use it: HUDDLE_TUNING={campaign.output}")
    else:
        print("huddle uses it from now on, on this machine; HUDDLE_TUNING=off disables it.")
    if timed:
        print(f"Times: {timed}; huddle profile estimates from them what huddle saves.")
    print(
        "huddle explain bcast --bytes 8:16M prints the algorithm, and the file and line that"
        " decided."
    )


def main(options, _command, layout):
    check_alone(options)
    if options.machine is not None:
        return describe.main(options, layout)
    if options.site and options.output:
        raise Trouble("tune: --site: not with --output (accepted: one of the two places)", 2)
    if options.network is not None:
        return network.main(options, layout)
    campaign = Campaign(options, layout)
    against = Against(campaign) if options.against is not None else None
    begin(campaign, options)
    try:
        with Clock(campaign.budget) as progress:
            undecided = look_and_decide(campaign, progress)
            if show.why_nothing(campaign):
                raise Trouble(show.why_nothing(campaign))
            rules, figures, left = together.together(campaign, progress)
            tuning_file.write(campaign.output, campaign.text(rules))
            tuning_file.check_reads(layout, campaign.output)
            if against:
                against.run(campaign.output, progress)
    except KeyboardInterrupt as interrupt:
        campaign.state.save()
        cells = campaign.cells()
        done = sum(campaign.state.has(cell) for cell in cells)
        print(
            f"\nhuddle tune: stopped; {done} of {len(cells)} measurements are kept, and the same"
            " command continues with them.",
            file=sys.stderr,
        )
        return stop.status_of(interrupt)
    found = results(campaign, rules, figures, against)
    campaign.state.forget()
    timed = against.write_times() if against else False
    if against and not timed:
        campaign.notes.append(f"No times for huddle profile: {against.why_no_times()}.")
    show.show(campaign, rules, found, undecided, left)
    tell_use(campaign, against.place if timed else None)
    write_plot(campaign, found)
    return 0
