-- What ranges of addresses have spent, for all web processes (W-9). All times are by the clock of the database.

-- name: spend
-- GCRA: `free` is when all that was spent will have been earned again. A row = refused, with the seconds to wait. The
-- clock is read after a row is locked, and the unit is rounded once, so that any number of requests at a time gets
-- exactly the burst. Rows are locked in the order of their keys, as by `settle`.
WITH asked AS (
    SELECT key, cost * make_interval(secs => %(unit_s)s::float8) AS worth
    FROM unnest(%(keys)s::bytea[], %(costs)s::int[]) AS asked (key, cost)
), spent AS (
    INSERT INTO throttle AS known (key, free)
    SELECT key, statement_timestamp() + worth FROM asked
    ORDER BY key
    ON CONFLICT (key) DO UPDATE
    SET free = greatest(known.free, clock_timestamp()) + (excluded.free - statement_timestamp())
    WHERE known.free + (excluded.free - statement_timestamp())
        <= clock_timestamp() + %(burst)s::int * make_interval(secs => %(unit_s)s::float8)
    RETURNING key
)
SELECT asked.key, coalesce(extract(epoch FROM known.free - clock_timestamp() + asked.worth
    - %(burst)s::int * make_interval(secs => %(unit_s)s::float8)), 0)::float8
FROM asked LEFT JOIN throttle AS known USING (key)
WHERE asked.key NOT IN (SELECT key FROM spent)

-- name: settle
-- Takes units that were spent already; below 0 they are given back, which does nothing where they were earned since.
INSERT INTO throttle AS known (key, free)
SELECT key, statement_timestamp() + units * make_interval(secs => %(unit_s)s::float8)
FROM unnest(%(keys)s::bytea[], %(units)s::int[]) AS settled (key, units)
ORDER BY key
ON CONFLICT (key) DO UPDATE
SET free = greatest(known.free, statement_timestamp()) + (excluded.free - statement_timestamp())

-- name: find_day_key
-- The first of the day records it; the others get what that one has recorded.
INSERT INTO throttle_key AS known (day, key) VALUES (%(day)s, %(key)s)
ON CONFLICT (day) DO UPDATE SET key = known.key
RETURNING key

-- name: delete_past
-- A row whose units have all been earned again has no effect.
DELETE FROM throttle
WHERE key = ANY (ARRAY(
    SELECT key FROM throttle WHERE free < clock_timestamp() LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)) AND free < clock_timestamp()

-- name: delete_day_keys
DELETE FROM throttle_key
USING (
    SELECT day FROM throttle_key WHERE day < %(day)s
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE throttle_key.day = gone.day

