"""From an integer graph to an ordered list of kernel calls and a plan of memory."""

from rushlight.schedule.build import make_schedule
from rushlight.schedule.fits import DoesNotFit
from rushlight.schedule.types import Buffer, Call, Lifetime, MemoryPlan, Schedule

__all__ = ["Buffer", "Call", "DoesNotFit", "Lifetime", "MemoryPlan", "Schedule", "make_schedule"]
