-- Leases of buckets (architecture §3). All times are by the clock of the database. The hour from which on a host is
-- visited is that of core/record/moment.py; a test compares them. With hour 24 (none) no host rests.

-- name: lease_buckets
-- The buckets whose oldest due host is the oldest, by one look-up in each. There is a pause before a bucket is leased
-- again: the last worker may just have sent a request to one of its hosts.
-- fan-out: every bucket, one look-up by index in each.
-- by shard: a lease may be of any.
UPDATE lease SET worker = %(worker)s, epoch = %(epoch)s, until = now() + make_interval(secs => %(seconds)s)
FROM (
    SELECT lease.bucket FROM lease CROSS JOIN LATERAL (
        SELECT next_day FROM host
        WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
            AND (host.next_day < %(day)s OR mod(mod(host.host_key, 24) + 14 * host.next_day + host.next_day / 7 + 24, 24) <= %(hour)s)
            AND (host.rests_until IS NULL OR host.rests_until <= now() OR %(hour)s = 24)
        ORDER BY next_day
        LIMIT 1
    ) AS oldest
    WHERE until < now() - make_interval(secs => %(rest)s)
    ORDER BY oldest.next_day, hashint8(%(epoch)s # lease.bucket)
    LIMIT %(limit)s
    FOR UPDATE OF lease SKIP LOCKED
) AS free
WHERE lease.bucket = free.bucket
RETURNING lease.bucket, lease.epoch

-- name: find_free_day
-- Since when the host has been due that was due first in the buckets that nobody holds.
-- fan-out: every bucket, one look-up by index in each.
SELECT min(oldest.next_day) FROM lease CROSS JOIN LATERAL (
    SELECT next_day FROM host
    WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
        AND (host.next_day < %(day)s OR mod(mod(host.host_key, 24) + 14 * host.next_day + host.next_day / 7 + 24, 24) <= %(hour)s)
        AND (host.rests_until IS NULL OR host.rests_until <= now() OR %(hour)s = 24)
    ORDER BY next_day
    LIMIT 1
) AS oldest
WHERE until < now() - make_interval(secs => %(rest)s)

-- name: find_due
-- fan-out: every bucket, one look-up by index in each.
SELECT EXISTS (
    SELECT FROM lease WHERE EXISTS (SELECT FROM host WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
            AND (host.next_day < %(day)s OR mod(mod(host.host_key, 24) + 14 * host.next_day + host.next_day / 7 + 24, 24) <= %(hour)s)
            AND (host.rests_until IS NULL OR host.rests_until <= now() OR %(hour)s = 24))
)

-- name: record_renewal
-- Returns the buckets that are still this worker's, without those that another has taken over meanwhile.
UPDATE lease SET until = now() + make_interval(secs => %(seconds)s)
FROM (
    SELECT lease.bucket
    FROM unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS asked (bucket, epoch)
    JOIN lease USING (bucket, epoch)
    WHERE lease.worker = %(worker)s
    ORDER BY lease.bucket
    FOR NO KEY UPDATE OF lease
) AS held
WHERE lease.bucket = held.bucket
RETURNING lease.bucket

-- name: record_release
-- The bucket is nobody's: what still comes of its lease is late.
UPDATE lease SET until = now(), worker = ''
FROM (
    SELECT lease.bucket
    FROM unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS asked (bucket, epoch)
    JOIN lease USING (bucket, epoch)
    WHERE lease.worker = %(worker)s
    ORDER BY lease.bucket
    FOR NO KEY UPDATE OF lease
) AS held
WHERE lease.bucket = held.bucket

-- name: list_held
-- Locks the leases until the writing transaction ends, so that no other worker can take them over.
SELECT lease.bucket
FROM unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS asked (bucket, epoch)
JOIN lease USING (bucket, epoch)
WHERE lease.worker = %(worker)s
ORDER BY lease.bucket
FOR SHARE OF lease

-- name: list_foreign
-- Those of these leases that another worker holds; a bucket that was given back is nobody's.
SELECT lease.bucket
FROM unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS asked (bucket, epoch)
JOIN lease USING (bucket, epoch)
WHERE lease.worker NOT IN (%(worker)s, '')

-- name: list_own
SELECT bucket FROM lease WHERE bucket = ANY(%(buckets)s::smallint[]) AND worker = %(worker)s AND until > now()

-- name: count_due_buckets
-- fan-out: every bucket, one look-up by index in each.
SELECT count(*) FROM lease
WHERE EXISTS (SELECT FROM host WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
            AND (host.next_day < %(day)s OR mod(mod(host.host_key, 24) + 14 * host.next_day + host.next_day / 7 + 24, 24) <= %(hour)s)
            AND (host.rests_until IS NULL OR host.rests_until <= now() OR %(hour)s = 24))

-- name: record_asking
INSERT INTO asking_worker (worker, asked) VALUES (%(worker)s, now())
ON CONFLICT (worker) DO UPDATE SET asked = now() WHERE asking_worker.asked < now() - interval '1 second'

-- name: find_others
-- Whether other workers want buckets; this one does, as by `record_asking`.
WITH ours AS (
    INSERT INTO asking_worker (worker, asked) VALUES (%(worker)s, now())
    ON CONFLICT (worker) DO UPDATE SET asked = now() WHERE asking_worker.asked < now() - interval '1 second'
)
SELECT EXISTS (
    SELECT FROM asking_worker
    WHERE worker <> %(worker)s AND asked >= now() - make_interval(secs => %(asking)s)
)

-- name: delete_asking
-- That of a worker for which there is nothing to do, and those of workers that are gone.
DELETE FROM asking_worker
USING (
    SELECT worker FROM asking_worker
    WHERE worker = %(worker)s OR asked < now() - make_interval(secs => %(asking)s)
    ORDER BY worker
    FOR UPDATE SKIP LOCKED
) AS past
WHERE asking_worker.worker = past.worker

-- name: find_share
-- The crawlers of one token, or of one machine next to the database, have their name up to the first colon in common.
-- They count for so many at most, and are leased no more together, under whatever names they ask. The last number is
-- how many they hold that others could have, but for an eighth, which a crawler does not give back. A host that
-- rests in a bucket that is held may be visited just now: its rest has begun with the visit.
-- fan-out: every bucket, one look-up by index in each.
WITH wanting AS (
    SELECT split_part(worker, ':', 1) AS holder, count(*) AS workers FROM (
        SELECT worker FROM asking_worker WHERE asked >= now() - make_interval(secs => %(asking)s)
        UNION
        SELECT %(worker)s
    ) AS each
    GROUP BY holder
), counted AS (
    SELECT sum(least(workers, %(together)s)) AS all_shares,
        max(workers) FILTER (WHERE holder = split_part(%(worker)s, ':', 1)) AS workers
    FROM wanting
), buckets AS (
    SELECT count(*) AS due, count(*) FILTER (WHERE until < now()) AS free,
        count(*) FILTER (WHERE until >= now() AND worker = %(worker)s) AS own,
        count(*) FILTER (WHERE until >= now() AND split_part(worker, ':', 1) = split_part(%(worker)s, ':', 1)) AS held
    FROM lease
    WHERE EXISTS (SELECT FROM host WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
            AND (host.next_day < %(day)s OR mod(mod(host.host_key, 24) + 14 * host.next_day + host.next_day / 7 + 24, 24) <= %(hour)s)
            AND (lease.until >= now() OR host.rests_until IS NULL OR host.rests_until <= now() OR %(hour)s = 24))
), shared AS (
    SELECT free, own, held, ceil(due * least(workers, %(together)s) / all_shares)::integer AS part,
        ceil(due * least(workers, %(together)s) / (all_shares * workers))::integer AS most
    FROM counted, buckets
)
SELECT most, free, own, part - held, (held - free - part - part / 8)::integer FROM shared
