"""The benchmark; docs/performance.md describes what it measures and how.

Modules: candidates (the keys compared), workloads (the SQL), server (a private server), measure (the rounds), results
(the JSON file), report and charts (the output), compare (two builds).
"""
