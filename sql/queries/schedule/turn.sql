-- Turns at hosts, for all workers (C-3, C-17). All times are by the clock of the database.

-- name: lease_slots
-- Takes the turn at each host that is free, or will be in a moment, or is held by the same claim already (the request was
-- repeated); for the others it says when they may be. What comes after the claim's turn is over takes none.
WITH given AS (
    SELECT bucket, host_key, delay, claim
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(delay)s::float8[], %(claim)s::bigint[])
        AS given (bucket, host_key, delay, claim)
), taken AS (
    INSERT INTO slot (bucket, host_key, free, held, claim)
    SELECT bucket, host_key, clock_timestamp() + make_interval(secs => delay), %(held)s, claim FROM given
    ORDER BY bucket, host_key
    ON CONFLICT (bucket, host_key) DO UPDATE
    SET free = excluded.free, held = excluded.held, claim = excluded.claim
    WHERE CASE WHEN slot.claim = excluded.claim THEN slot.held
        ELSE slot.free <= clock_timestamp() + make_interval(secs => %(moment)s) END
    RETURNING bucket, host_key
)
SELECT bucket, host_key, taken.bucket IS NOT NULL, coalesce(slot.held, false),
    greatest(coalesce(extract(epoch FROM slot.free - clock_timestamp()), 0), 0.001)::float8
FROM given LEFT JOIN taken USING (bucket, host_key) LEFT JOIN slot USING (bucket, host_key)

-- name: record_slots
-- A host that was held is free when its holder says so; one for which a pause was requested is not free earlier. What
-- comes late, when another has the turn by now, may make the pause longer and changes nothing else.
INSERT INTO slot (bucket, host_key, free, held, claim)
SELECT bucket, host_key, clock_timestamp() + make_interval(secs => seconds), held, claim
FROM unnest(
    %(bucket)s::smallint[], %(host_key)s::bigint[], %(seconds)s::float8[], %(held)s::boolean[], %(claim)s::bigint[]
) AS given (bucket, host_key, seconds, held, claim)
ORDER BY bucket, host_key
ON CONFLICT (bucket, host_key) DO UPDATE
SET free = CASE WHEN slot.held AND slot.claim = excluded.claim THEN excluded.free
        ELSE greatest(slot.free, excluded.free) END,
    held = CASE WHEN slot.claim = excluded.claim THEN excluded.held ELSE slot.held END
WHERE slot.claim = excluded.claim OR NOT excluded.held

-- name: record_rest
INSERT INTO slot (bucket, host_key, free)
VALUES (%(bucket)s, %(host_key)s, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (bucket, host_key) DO UPDATE SET free = greatest(slot.free, excluded.free), held = false

-- name: delete_past
-- fan-out: deletes past turns from a small table that holds about a minute.
DELETE FROM slot
USING (
    SELECT bucket, host_key FROM slot WHERE free < clock_timestamp() - interval '1 minute'
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE slot.bucket = gone.bucket AND slot.host_key = gone.host_key

