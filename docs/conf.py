"""How Sphinx builds the site: `make docs`. Nothing on a page asks anything of the network."""

import sys
from pathlib import Path

import chainrule

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

project = "chainrule"
author = "the chainrule authors"
copyright = "the chainrule authors, MIT license"
version = release = chainrule.__version__

extensions = ["myst_nb", "sphinx.ext.mathjax", "sphinx-mathjax-offline", "book"]
exclude_patterns = ["book"]
nitpicky = True
smartquotes = False  # a flag is --flag, and quoted code stays code

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
myst_dmath_allow_space = False
myst_dmath_double_inline = True

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_merge_streams = True

html_theme = "furo"
html_title = "chainrule"
html_static_path = ["book/static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
