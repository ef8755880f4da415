-- What ranges of addresses have spent, for all web processes (W-9). All times are by the clock of the database.

-- name: spend
-- GCRA: `free` is when all that was spent will have been earned again. No row = refused. The clock is read after the
-- row is locked, and the unit is rounded once, so that any number of requests at a time gets exactly the burst.
INSERT INTO throttle AS known (key, free)
VALUES (%(key)s, clock_timestamp() + %(cost)s::int * make_interval(secs => %(unit_s)s::float8))
ON CONFLICT (key) DO UPDATE
SET free = greatest(known.free, clock_timestamp()) + %(cost)s::int * make_interval(secs => %(unit_s)s::float8)
WHERE known.free + %(cost)s::int * make_interval(secs => %(unit_s)s::float8)
    <= clock_timestamp() + %(burst)s::int * make_interval(secs => %(unit_s)s::float8)
RETURNING true

-- name: find_wait
SELECT extract(epoch FROM free - clock_timestamp()
    + (%(cost)s::int - %(burst)s::int) * make_interval(secs => %(unit_s)s::float8))::float8
FROM throttle
WHERE key = %(key)s

-- name: pay
INSERT INTO throttle AS known (key, free)
VALUES (%(key)s, clock_timestamp() + %(units)s::int * make_interval(secs => %(unit_s)s::float8))
ON CONFLICT (key) DO UPDATE
SET free = greatest(known.free, clock_timestamp()) + %(units)s::int * make_interval(secs => %(unit_s)s::float8)

-- name: give_back
UPDATE throttle SET free = free - %(units)s::int * make_interval(secs => %(unit_s)s::float8) WHERE key = %(key)s

-- name: record_day_key
INSERT INTO throttle_key (day, key) VALUES (%(day)s, %(key)s) ON CONFLICT (day) DO NOTHING

-- name: find_day_key
SELECT key FROM throttle_key WHERE day = %(day)s

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

