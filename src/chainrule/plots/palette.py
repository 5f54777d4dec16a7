"""The colors of all figures as plain hex strings, which web pages can use without matplotlib.

Every two colors of a palette stay apart for normal vision, protanopia, deuteranopia and tritanopia.
The first four also stay apart in gray: their lightness is 29, 62, 47 and 70 of 100.
"""

PALETTE = ("#004488", "#E07B00", "#1B7F5C", "#56B4E9", "#661100", "#CC3311")
EXTENDED_PALETTE = (*PALETTE, "#8844EE", "#886688", "#000022", "#AAAAAA")  # for up to ten classes
BLUE, ORANGE, GREEN, SKY, BROWN, RED = PALETTE
PEACH = "#F6C48A"  # a light orange between white and red

INK = "#222222"  # text
QUIET = "#6B7280"  # secondary text, axes and reference lines
FAINT = "#E5E7EB"  # grids and frames

SEQUENTIAL = ("white", SKY, BLUE)  # 0 to the largest value
WARM = ("white", PEACH, RED, BROWN)  # 0 to the largest value, for errors and surprisal
DIVERGING = (BLUE, "white", ORANGE)  # negative, zero, positive
