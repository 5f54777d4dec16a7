"""`python -m chainrule` is `chainrule`."""

import sys

from chainrule.cli.main import main

sys.exit(main())
