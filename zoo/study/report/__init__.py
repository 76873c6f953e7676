"""The report of a study: report.html, report.md and results.csv beside its study.json.

A section is a file: from the evidence to a table and a figure, or to the reason why there is none. It depends on
nothing but the run folders, so that a report that was removed is built again to the byte.
"""
