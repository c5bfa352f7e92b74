"""The benchmark. docs/performance.md says what it measures, and how: candidates (what is compared), workloads (the SQL),
server (a private server), measure (the rounds), results (the JSON), report (tables, charts), compare (two builds).
"""
