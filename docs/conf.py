"""How Sphinx builds the site: `make docs`. Nothing on a page asks anything of the network."""

import os
import sys
import tempfile
from pathlib import Path

import chainrule

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

# Notebooks run under a profile of their own, not the user's, and do not warn about their sockets.
PROFILE = tempfile.TemporaryDirectory()
os.environ["IPYTHONDIR"] = PROFILE.name
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # chainrule
os.environ.setdefault("OMP_NUM_THREADS", "1")  # several pages are executed at a time
kernel = Path(PROFILE.name, "profile_default", "ipython_kernel_config.py")
kernel.parent.mkdir()
kernel.write_text("c.IPKernelApp.log_level = 'ERROR'\n", "utf-8")

project = "chainrule"
author = "the chainrule authors"
copyright = "the chainrule authors, MIT license"
version = release = chainrule.__version__

extensions = ["myst_nb", "sphinx.ext.mathjax", "sphinx-mathjax-offline", "book"]
exclude_patterns = ["book", "notebooks"]
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*"), ("py:obj", r"None|(typing|collections)\..*")]
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
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
html_js_files = ["present.js"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # pages opened from files may not read each other
html_domain_indices = False  # the lists of the reference are better than one of modules
html_theme_options = {"navigation_with_keys": True}
