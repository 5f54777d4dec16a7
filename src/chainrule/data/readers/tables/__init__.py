"""Tables: columns found, checked, encoded; files of every kind; blocks of rows."""
