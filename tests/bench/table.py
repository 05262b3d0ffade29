"""Tables as Markdown writes them."""


def print_table(title, columns, rows):
    print("\n**%s**\n" % title)
    cells = [columns] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for number, row in enumerate(cells):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def seconds(value):
    return "%.2f s" % value if value >= 1 else "%.0f ms" % (value * 1000) if value >= 0.1 else "%.1f ms" % (value * 1000)


def ratio(ours, theirs):
    """How often ours goes into theirs."""
    return "%.1f" % (theirs / ours)


def verdict(met):
    return "met" if met else "NOT met"
