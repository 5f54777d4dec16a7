"""The lab: claims of the theory, each checked by measurement.

    from chainrule.lab import check
    check("novikoff", trials=500).plot()

A claim is a file in the folder of its chapter; what several share lies in `helpers`.
"""

from chainrule.lab.result import ClaimResult
from chainrule.lab.result import check_claim as check

__all__ = ["ClaimResult", "check"]
