-- When the next request to an archive's service may be sent, by the clock of the database, for all workers.
-- A moment that may be infinite is never subtracted: that is an error before PostgreSQL 17.

-- name: lease_request
-- A place is taken in one statement, or none is. What is read alongside may be a moment old: then the wait is short.
WITH taken AS (
    INSERT INTO archive_service AS service (archive, kind, free, day, requests)
    VALUES (%(archive)s, %(kind)s, clock_timestamp() + make_interval(secs => %(gap_s)s), %(day)s, %(requests)s)
    ON CONFLICT (archive, kind) DO UPDATE
    SET free = clock_timestamp() + make_interval(secs => %(gap_s)s),
        requests = CASE WHEN service.day = excluded.day THEN service.requests + excluded.requests ELSE excluded.requests END,
        day = excluded.day
    WHERE greatest(service.free, service.rest_until) <= clock_timestamp()
    RETURNING rest_s
)
SELECT 0::float8, rest_s FROM taken
UNION ALL
SELECT extract(epoch FROM greatest(free, rest_until, 'epoch') - clock_timestamp())::float8, rest_s FROM archive_service
WHERE archive = %(archive)s AND kind = %(kind)s AND NOT EXISTS (SELECT FROM taken)

-- name: record_rest
INSERT INTO archive_service AS service (archive, kind, rest_until, rest_s, why)
SELECT %(archive)s, kind, clock_timestamp() + make_interval(secs => %(rest_s)s), ceil(%(rest_s)s), %(why)s
FROM unnest(%(kinds)s::smallint[]) AS known (kind)
ORDER BY kind
ON CONFLICT (archive, kind) DO UPDATE
SET rest_until = excluded.rest_until, rest_s = excluded.rest_s, why = excluded.why
WHERE service.rest_until <= excluded.rest_until

-- name: record_answered
UPDATE archive_service SET rest_s = 0, why = ''
FROM (
    SELECT archive, kind FROM archive_service
    WHERE archive = %(archive)s AND rest_s > 0
        AND rest_until <= clock_timestamp() - make_interval(secs => %(took_s)s)
    ORDER BY kind
    FOR NO KEY UPDATE
) AS answered
WHERE archive_service.archive = answered.archive AND archive_service.kind = answered.kind

-- name: record_rests_over
UPDATE archive_service SET rest_until = '-infinity'
FROM (
    SELECT archive, kind FROM archive_service
    WHERE day <> %(day)s AND rest_until > clock_timestamp()
    ORDER BY archive, kind
    FOR NO KEY UPDATE
) AS resting
WHERE archive_service.archive = resting.archive AND archive_service.kind = resting.kind

-- name: list_services
SELECT archive, kind, greatest(0, extract(epoch FROM greatest(rest_until, 'epoch') - clock_timestamp()))::float8, rest_s,
    why, day, requests
FROM archive_service
ORDER BY archive, kind
