-- Turns at hosts, for all workers (C-3, C-17). All times are by the clock of the database.

-- name: lease_slots
-- Returns the seconds until the host is free again after the turn taken; a host that is not free within the limit gives
-- no row, and is not changed.
INSERT INTO slot (bucket, host_key, free)
SELECT bucket, host_key, clock_timestamp() + make_interval(secs => delay)
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(delay)s::float8[]) AS given (bucket, host_key, delay)
ORDER BY bucket, host_key
ON CONFLICT (bucket, host_key) DO UPDATE
SET free = excluded.free + greatest(slot.free - clock_timestamp(), interval '0')
WHERE slot.free < clock_timestamp() + make_interval(secs => %(limit)s)
RETURNING bucket, host_key, greatest(extract(epoch FROM free - clock_timestamp()), 0)::float8

-- name: record_rest
INSERT INTO slot (bucket, host_key, free)
VALUES (%(bucket)s, %(host_key)s, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (bucket, host_key) DO UPDATE SET free = greatest(slot.free, excluded.free)

-- name: delete_past
-- fan-out: deletes past turns from a small table that holds about a minute.
DELETE FROM slot WHERE free < clock_timestamp() - interval '1 minute'
