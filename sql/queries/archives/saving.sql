-- The URLs that an archive is asked to save (A-1).

-- name: list_stretch
-- fan-out: URLs in the order of keys, across buckets. Each with whether it works, is used, is no cited copy, and has
-- neither a snapshot nor a saving. Statuses from 16 on are of failures, 32767 = never due.
SELECT bucket, host_key, url_key, status > 0 AND status < 16 AND due < 32767 AND orphaned IS NULL
    AND NOT EXISTS (SELECT FROM snapshot WHERE snapshot.bucket = url.bucket
        AND snapshot.host_key = url.host_key AND snapshot.url_key = url.url_key)
    AND NOT EXISTS (SELECT FROM saving WHERE saving.bucket = url.bucket
        AND saving.host_key = url.host_key AND saving.url_key = url.url_key)
FROM url
WHERE (bucket, host_key, url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
ORDER BY bucket, host_key, url_key
LIMIT %(budget)s

-- name: record_savable
-- Most used first, as far as a hundred uses tell: what is taken first is what was queued last.
INSERT INTO saving (bucket, host_key, url_key, day, state, next)
SELECT bucket, host_key, url_key, %(day)s, %(state)s, clock_timestamp() - make_interval(secs => turn)
FROM (
    SELECT bucket, host_key, url_key, row_number() OVER (ORDER BY uses DESC, place) AS turn
    FROM (
        SELECT given.*, (
                SELECT count(*) FROM (
                    SELECT FROM link
                    WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
                    LIMIT 100
                ) AS few
            ) AS uses
        FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
            WITH ORDINALITY AS given (bucket, host_key, url_key, place)
        CROSS JOIN LATERAL (
            SELECT status, due, orphaned FROM url
            WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
            LIMIT 1
        ) AS known
        WHERE known.status > 0 AND known.status < 16 AND known.due < 32767 AND known.orphaned IS NULL
            AND NOT EXISTS (SELECT FROM snapshot WHERE snapshot.bucket = given.bucket
                AND snapshot.host_key = given.host_key AND snapshot.url_key = given.url_key)
            AND NOT EXISTS (SELECT FROM saving WHERE saving.bucket = given.bucket
                AND saving.host_key = given.host_key AND saving.url_key = given.url_key)
    ) AS savable
    ORDER BY uses DESC, place
    LIMIT %(limit)s
) AS taken
ORDER BY bucket, host_key, url_key
ON CONFLICT DO NOTHING

-- name: lease_newest
-- fan-out: those whose time has come, by index, newest first.
WITH taken AS MATERIALIZED (
    SELECT bucket, host_key, url_key FROM saving
    WHERE state = %(state)s AND next <= clock_timestamp()
    ORDER BY next DESC
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE saving SET next = clock_timestamp() + make_interval(secs => %(lease_s)s)
FROM taken
WHERE saving.bucket = taken.bucket AND saving.host_key = taken.host_key AND saving.url_key = taken.url_key
RETURNING saving.bucket, saving.host_key, saving.url_key, saving.day, saving.state, saving.tries, saving.job, saving.why

-- name: lease_oldest
-- fan-out: the same, oldest first.
WITH taken AS MATERIALIZED (
    SELECT bucket, host_key, url_key FROM saving
    WHERE state = %(state)s AND next <= clock_timestamp()
    ORDER BY next
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE saving SET next = clock_timestamp() + make_interval(secs => %(lease_s)s)
FROM taken
WHERE saving.bucket = taken.bucket AND saving.host_key = taken.host_key AND saving.url_key = taken.url_key
RETURNING saving.bucket, saving.host_key, saving.url_key, saving.day, saving.state, saving.tries, saving.job, saving.why

-- name: record_saving
UPDATE saving SET state = %(state)s, next = clock_timestamp() + make_interval(secs => %(next_s)s), job = %(job)s,
    why = %(why)s, tries = %(tries)s
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s

-- name: count_savings
-- fan-out: by state, by index, no more than the limit of each.
SELECT known.state, (
    SELECT count(*) FROM (SELECT FROM saving WHERE saving.state = known.state LIMIT %(limit)s) AS few
)
FROM unnest(%(states)s::smallint[]) AS known (state)
