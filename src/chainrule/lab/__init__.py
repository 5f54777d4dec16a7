"""Claims of the notes, each measured: predicted, found, verdict, picture."""
