"""The benchmark: every workload for every candidate in turn, round after round, on one private server.

`make bench` runs it; docs/performance.md says how it measures. The files: candidates (what is compared), workloads
(what is timed), sizes, memory, targets (what is asked for), runner (the rounds), results (the JSON), and what is shown
of them: tables, readme, page and charts.
"""
