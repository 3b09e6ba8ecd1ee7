# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's settings of the documentation site; make.py gives it the folder of pages."""

# pylint: disable=invalid-name
project = "huddle"
copyright = "the huddle authors, BSD-3-Clause"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["docs/site/**", "examples/programs/**"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_title = "huddle"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
