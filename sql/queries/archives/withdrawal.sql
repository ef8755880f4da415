-- How many snapshots of each archive service were dropped in a quarter (A-3, U-8).

-- name: lock_withdrawn
-- One drop after another, for where there is no row yet, two workers would both begin with none.
SELECT pg_advisory_xact_lock(hashtextextended('weboid withdrawals', 0))

-- name: find_withdrawn
SELECT since, kept, dropped FROM withdrawal WHERE archive = %(archive)s

-- name: record_withdrawn
INSERT INTO withdrawal (archive, since, kept, dropped) VALUES (%(archive)s, %(since)s, %(kept)s, %(dropped)s)
ON CONFLICT (archive) DO UPDATE SET since = excluded.since, kept = excluded.kept, dropped = excluded.dropped
