-- The URLs whose copies are to be looked up (A-1). In the log 2 is the verdict "doubtful" and 3 is "dead".

-- name: record_first_position
INSERT INTO copy_queue_position (change) VALUES (0) ON CONFLICT DO NOTHING

-- name: lock_position
-- Nothing if another worker is following the log just now.
SELECT change FROM copy_queue_position FOR UPDATE SKIP LOCKED

-- name: record_position
-- one row: there is one position.
UPDATE copy_queue_position SET change = %(change)s

-- name: list_log
SELECT change, bucket, host_key, url_key, day FROM change
WHERE change > %(since)s AND change <= %(until)s AND wiki = 0
ORDER BY change
LIMIT %(limit)s

-- name: record_by_log
-- The newest change of each URL counts, whichever was read. What was looked up already keeps its day.
INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due)
SELECT given.bucket, given.host_key, given.url_key, CASE newest.after WHEN 3 THEN 0 ELSE 1 END, newest.day, newest.day
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT after, day FROM change
    WHERE change.bucket = given.bucket AND change.host_key = given.host_key AND change.url_key = given.url_key
        AND change.wiki = 0
    ORDER BY change DESC
    LIMIT 1
) AS newest
WHERE newest.after IN (2, 3)
ORDER BY given.bucket, given.host_key, given.url_key
ON CONFLICT (bucket, host_key, url_key) DO UPDATE SET rank = excluded.rank, day = excluded.day
WHERE copy_queue.waits AND (copy_queue.rank, copy_queue.day) IS DISTINCT FROM (excluded.rank, excluded.day)

-- name: delete_by_log
DELETE FROM copy_queue
USING (
    SELECT queued.bucket, queued.host_key, queued.url_key
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    JOIN copy_queue AS queued USING (bucket, host_key, url_key)
    WHERE (
        SELECT after FROM change
        WHERE change.bucket = given.bucket AND change.host_key = given.host_key AND change.url_key = given.url_key
            AND change.wiki = 0
        ORDER BY change DESC
        LIMIT 1
    ) NOT IN (2, 3)
    ORDER BY queued.bucket, queued.host_key, queued.url_key
    FOR UPDATE OF queued
) AS over
WHERE copy_queue.bucket = over.bucket AND copy_queue.host_key = over.host_key AND copy_queue.url_key = over.url_key

-- name: record_wanted
INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due)
SELECT bucket, host_key, url_key, %(rank)s, %(day)s, %(day)s
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
WHERE (
    SELECT after FROM change
    WHERE change.bucket = given.bucket AND change.host_key = given.host_key AND change.url_key = given.url_key
        AND change.wiki = 0
    ORDER BY change DESC
    LIMIT 1
) IN (2, 3)
ORDER BY bucket, host_key, url_key
ON CONFLICT (bucket, host_key, url_key) DO UPDATE
SET rank = least(copy_queue.rank, excluded.rank), day = excluded.day, waits = true, until = '-infinity'
WHERE NOT copy_queue.waits

-- name: record_due_again
-- fan-out: those whose look-ups have become old, by index, with a limit.
UPDATE copy_queue SET waits = true, rank = %(rank)s, day = copy_queue.due, until = '-infinity'
FROM (
    SELECT bucket, host_key, url_key FROM copy_queue
    WHERE NOT waits AND due <= %(day)s
    ORDER BY due
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
) AS old
WHERE copy_queue.bucket = old.bucket AND copy_queue.host_key = old.host_key AND copy_queue.url_key = old.url_key

-- name: lease_wanted
-- fan-out: the first of the queue, in any buckets, by index. Only those that other workers hold are passed over.
WITH taken AS MATERIALIZED (
    SELECT bucket, host_key, url_key FROM copy_queue
    WHERE waits AND until < clock_timestamp()
    ORDER BY rank, day DESC
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE copy_queue SET until = clock_timestamp() + make_interval(secs => %(lease_s)s)
FROM taken
WHERE copy_queue.bucket = taken.bucket AND copy_queue.host_key = taken.host_key
    AND copy_queue.url_key = taken.url_key
RETURNING copy_queue.bucket, copy_queue.host_key, copy_queue.url_key, copy_queue.rank, copy_queue.day

-- name: list_citing
SELECT given.bucket, given.host_key, given.url_key, asked.wiki
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN unnest(%(wiki)s::integer[]) AS asked (wiki)
CROSS JOIN LATERAL (
    SELECT 1 FROM link
    WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
        AND link.wiki = asked.wiki
    LIMIT 1
) AS cites

-- name: record_done
UPDATE copy_queue SET waits = false, due = given.due, until = '-infinity'
FROM (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(due)s::smallint[])
        AS asked (bucket, host_key, url_key, due)
    JOIN copy_queue USING (bucket, host_key, url_key)
    ORDER BY copy_queue.bucket, copy_queue.host_key, copy_queue.url_key
    FOR NO KEY UPDATE OF copy_queue
) AS given
WHERE copy_queue.bucket = given.bucket AND copy_queue.host_key = given.host_key
    AND copy_queue.url_key = given.url_key

-- name: record_released
UPDATE copy_queue SET until = '-infinity'
FROM (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN copy_queue USING (bucket, host_key, url_key)
    ORDER BY copy_queue.bucket, copy_queue.host_key, copy_queue.url_key
    FOR NO KEY UPDATE OF copy_queue
) AS given
WHERE copy_queue.bucket = given.bucket AND copy_queue.host_key = given.host_key
    AND copy_queue.url_key = given.url_key

-- name: lock_rows
SELECT count(*) FROM (
    SELECT FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    JOIN copy_queue USING (bucket, host_key, url_key)
    ORDER BY copy_queue.bucket, copy_queue.host_key, copy_queue.url_key
    FOR UPDATE OF copy_queue
) AS locked

-- name: count_queue
-- fan-out: by rank, by index, no more than the limit of each.
SELECT known.rank, waiting.count, oldest.day
FROM unnest(%(ranks)s::smallint[]) AS known (rank)
CROSS JOIN LATERAL (
    SELECT count(*) FROM (
        SELECT FROM copy_queue WHERE waits AND copy_queue.rank = known.rank LIMIT %(limit)s
    ) AS few
) AS waiting
LEFT JOIN LATERAL (
    SELECT day FROM copy_queue WHERE waits AND copy_queue.rank = known.rank ORDER BY day LIMIT 1
) AS oldest ON true
