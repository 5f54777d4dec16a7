"""The machinery of `chainrule bench`: contenders in processes of their own, rounds, statistics."""
