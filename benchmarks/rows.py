"""What a measure returns: rows, and how they become text."""


class Row:
    """One line of a table.

    `wall` and `cpu` are absolute figures in `unit`, by the clock on the wall and by processor time (where it is not about time, `wall` is
    the figure). `ratio` says how many times as fast as the base this was by the wall clock, [median, lower quartile, upper quartile] over
    the pairs, `cpu_ratio` the same by processor time. `note` says what else there is to say, or why there are no figures.
    """

    FIELDS = ("measure", "encoding", "input", "label", "unit", "wall", "cpu", "ratio", "cpu_ratio", "pairs", "note")

    def __init__(self, measure, encoding, input, label, unit="", note=""):
        self.measure, self.encoding, self.input, self.label, self.unit, self.note = measure, encoding, input, label, unit, note
        self.wall = self.cpu = self.ratio = self.cpu_ratio = None
        self.pairs = 0

    def as_dict(self):
        return {name: getattr(self, name) for name in self.FIELDS}


def short(number):
    """Three digits of a number."""
    if number is None:
        return ""
    if abs(number) >= 100:
        return f"{number:.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def spread(ratio):
    return "" if not ratio else f"{short(ratio[0])}x ({short(ratio[1])}-{short(ratio[2])})"


def markdown(rows):
    """One table per measure, in the order of the rows."""
    out = []
    for measure in dict.fromkeys(row.measure for row in rows):
        out += [f"\n### {measure}\n", "| vocabulary | input | | unit | wall | cpu | ratio, wall | ratio, cpu | |"]
        out.append("|---|---|---|---|---:|---:|---:|---:|---|")
        for row in rows:
            if row.measure == measure:
                figures = short(row.wall), short(row.cpu), spread(row.ratio), spread(row.cpu_ratio)
                cells = (row.encoding, row.input, row.label, row.unit, *figures, row.note)
                out.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(out) + "\n"
