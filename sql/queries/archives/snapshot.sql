-- The chosen copies of URLs, one at each archive, and how many of them were dropped in a quarter (A-1, A-3, U-8).

-- name: record_snapshots
INSERT INTO snapshot (
    bucket, host_key, url_key, archive, stamp, origin, due, asked, strikes, wanted, note, address, preview
)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(archive)s::smallint[],
    %(stamp)s::bigint[], %(origin)s::smallint[], %(due)s::smallint[], %(asked)s::smallint[], %(strikes)s::smallint[],
    %(wanted)s::smallint[], %(note)s::smallint[], %(address)s::text[], %(preview)s::text[])
    AS given (bucket, host_key, url_key, archive, stamp, origin, due, asked, strikes, wanted, note, address, preview)
ORDER BY bucket, host_key, url_key, archive
ON CONFLICT (bucket, host_key, url_key, archive) DO UPDATE
SET stamp = excluded.stamp, origin = excluded.origin, due = excluded.due, asked = excluded.asked,
    strikes = excluded.strikes, wanted = excluded.wanted, note = excluded.note, address = excluded.address,
    preview = excluded.preview

-- name: record_cited_snapshots
-- What was chosen stays, and what was cited first.
INSERT INTO snapshot (bucket, host_key, url_key, archive, stamp, origin, due, address)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(archive)s::smallint[],
    %(stamp)s::bigint[], %(origin)s::smallint[], %(due)s::smallint[], %(address)s::text[])
    AS given (bucket, host_key, url_key, archive, stamp, origin, due, address)
ORDER BY bucket, host_key, url_key, archive
ON CONFLICT (bucket, host_key, url_key, archive) DO NOTHING

-- name: list_snapshots
SELECT bucket, host_key, url_key, archive, stamp, origin, due, asked, strikes, wanted, note, address
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN snapshot USING (bucket, host_key, url_key)
ORDER BY archive

-- name: lease_snapshots
-- fan-out: the few of each archive that are due, in any buckets, by index. Those that another worker has just taken are
-- passed over. The new day is the lease: if the worker ends without a result, the snapshot is due again on that day.
-- by shard: a lease may be of any.
WITH taken AS MATERIALIZED (
    SELECT first.* FROM unnest(%(archives)s::smallint[]) AS asked (archive)
    CROSS JOIN LATERAL (
        SELECT bucket, host_key, url_key, archive FROM snapshot
        WHERE snapshot.archive = asked.archive AND due <= %(day)s
        ORDER BY due
        LIMIT %(limit)s
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS first
)
UPDATE snapshot SET due = %(until)s
FROM taken
WHERE snapshot.bucket = taken.bucket AND snapshot.host_key = taken.host_key AND snapshot.url_key = taken.url_key
    AND snapshot.archive = taken.archive
RETURNING snapshot.bucket, snapshot.host_key, snapshot.url_key, snapshot.archive, snapshot.stamp, snapshot.origin,
    snapshot.due, snapshot.asked, snapshot.strikes, snapshot.wanted, snapshot.note, snapshot.address

-- name: record_visit
-- Only of the copy that was visited: there may be another one by now.
UPDATE snapshot SET asked = %(asked)s, due = %(due)s, strikes = %(strikes)s, stamp = %(new_stamp)s,
    preview = coalesce(%(preview)s, preview)
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND archive = %(archive)s
    AND stamp = %(stamp)s

-- name: delete_visited
DELETE FROM snapshot
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND archive = %(archive)s
    AND stamp = %(stamp)s

-- name: list_samples
-- fan-out: some of an archive, from any day on, by index; no more are looked at than `most`.
SELECT bucket, host_key, url_key, archive, stamp, origin, due, asked, strikes, wanted, note, address
FROM (
    SELECT * FROM snapshot WHERE archive = %(archive)s AND due >= %(first)s ORDER BY due LIMIT %(most)s
) AS few
WHERE strikes = 0 AND asked IS NOT NULL
LIMIT %(limit)s

-- name: find_size
SELECT pg_relation_size('snapshot')

-- name: count_sample
-- fan-out: a share of the table's blocks, all of a small one.
SELECT archive, count(*) FROM snapshot TABLESAMPLE SYSTEM (%(percent)s) GROUP BY archive

-- name: lock_withdrawn
-- One drop after another, for where there is no row yet, two workers would both begin with none.
SELECT pg_advisory_xact_lock(hashtextextended('weboid withdrawals', 0))

-- name: find_withdrawn
SELECT archive, since, kept, dropped FROM withdrawal WHERE archive = %(archive)s

-- name: record_withdrawn
INSERT INTO withdrawal (archive, since, kept, dropped) VALUES (%(archive)s, %(since)s, %(kept)s, %(dropped)s)
ON CONFLICT (archive) DO UPDATE SET since = excluded.since, kept = excluded.kept, dropped = excluded.dropped
