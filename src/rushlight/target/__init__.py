"""What a program is compiled for: cores, boards, and the two together as a target."""

from rushlight.target.board import BOARDS_DIR, Board, Region, board_names, load_board
from rushlight.target.core import Core, cores
from rushlight.target.resolve import Target, all_targets, fallbacks, resolve

__all__ = [
    "BOARDS_DIR",
    "Board",
    "Core",
    "Region",
    "Target",
    "all_targets",
    "board_names",
    "cores",
    "fallbacks",
    "load_board",
    "resolve",
]
