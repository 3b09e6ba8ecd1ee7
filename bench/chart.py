# SPDX-License-Identifier: BSD-3-Clause
"""The measurement as a picture: a panel per number of ranks and class of line transfer, time over message size, both variants."""
from measure import HUDDLE, PLAIN, SETTINGS

INK, GREY, BLUE = "#222222", "#8a8a8a", "#0b6fb8"


def size_text(row):
    if row.collective == "barrier":
        return "barrier"
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if row.bytes >= scale:
            return f"{row.bytes // scale}{unit}"
    return f"{row.bytes}"


def time_text(us, _=None):
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us:g} µs"


def factor_text(factor):
    return f"{factor:.0f}×" if factor >= 9.95 else f"{factor:.1f}×"


def draw_variant(axis, rows, times, colour, label):
    """The barrier stands alone at the left; the broadcasts are a line."""
    places = range(len(rows))
    line = [i for i in places if rows[i].collective == "bcast"]
    axis.plot(line, [times[i] for i in line], "-o", color=colour, lw=2.2, ms=6.5, mec="white", mew=1, zorder=2, label=label)
    axis.plot(places, times, "o", color=colour, ms=6.5, mec="white", mew=1, zorder=3)


def draw_panel(axis, rows, title):
    plain, ours = [r.plain_us for r in rows], [r.huddle_us for r in rows]
    draw_variant(axis, rows, plain, GREY, PLAIN)
    draw_variant(axis, rows, ours, BLUE, HUDDLE)
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.set_ylim(low / 1.6, high * 2.2)
    for i, (before, now) in enumerate(zip(plain, ours)):
        axis.annotate(factor_text(before / now), (i, max(before, now)), (-4, 9), textcoords="offset points", ha="center", fontsize=9,
                      color=BLUE if before >= now else "#b3402a", fontweight="bold")
    axis.set_xticks(range(len(rows)), [size_text(r) for r in rows])
    if rows[0].collective == "barrier":
        axis.axvline(0.5, color="#dddddd", lw=1)
    axis.set_title(title, loc="left", fontsize=11, color=INK, pad=10)
    axis.set_xlabel("broadcast, bytes", color=INK, loc="right")
    axis.yaxis.set_major_formatter(time_text)
    axis.yaxis.set_minor_formatter("")
    axis.grid(axis="y", color="#ececec", zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=INK, length=0)


def panels(rows):
    """[(title, rows)] in the order of the settings; the line transfer is in the title."""
    found = []
    for setting in SETTINGS:
        for kind in dict.fromkeys(r.line for r in rows if r.ranks == setting.ranks):
            mine = [r for r in rows if (r.ranks, r.line) == (setting.ranks, kind)]
            line = sorted(r.line_ns for r in mine)[len(mine) // 2]
            found.append((f"{setting.title}\nprocessors {kind}: a cache line crosses in {line:.0f} ns", mine))
    return found


def draw(rows, version, path):
    """Writes a PNG.  Returns False where matplotlib is not installed or nothing was measured."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    drawn = panels(rows)
    if not drawn:
        return False
    across = min(2, len(drawn))
    down = -(-len(drawn) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(6.4 * across, 4.5 * down + 0.5), squeeze=False)
    for axis in axes.flat[len(drawn):]:
        axis.set_visible(False)
    for axis, (title, mine) in zip(axes.flat, drawn):
        draw_panel(axis, mine, title)
    axes.flat[0].legend(frameon=False, loc="lower right", fontsize=10)
    figure.suptitle(f"{version}, as it is and with huddle: slowest rank's time of one call, median (blue: times faster)", x=0.012, ha="left", fontsize=12.5, color=INK)
    figure.tight_layout(rect=(0, 0, 1, 0.99))
    figure.savefig(path, dpi=140)
    return True
