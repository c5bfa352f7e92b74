"""scru_postgres generates IDs in Python, which the server reads."""

from datetime import datetime, timedelta, timezone

from scru_postgres import Scru128, Ulid

id = Scru128.new()
ids = [id, *(Scru128.new() for _ in range(999))]
assert ids == sorted(set(ids))
ids += [Ulid.new() for _ in range(1000)]
assert {type(id) for id in ids} == {Scru128, Ulid}
assert len(set(ids)) == 2000
assert all(abs(id.timestamp - datetime.now(timezone.utc)) < timedelta(minutes=1) for id in ids)
print(ids[0], ids[-1])
