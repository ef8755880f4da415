-- Leases of buckets (architecture §3). All times are the database's.

-- name: lease_buckets
-- A bucket rests before it is leased anew: whoever had it may have asked one of its hosts a moment ago.
UPDATE lease SET worker = %(worker)s, epoch = epoch + 1, until = now() + make_interval(secs => %(seconds)s)
FROM (
    SELECT bucket FROM lease
    WHERE until < now() - make_interval(secs => %(rest)s)
        AND EXISTS (SELECT FROM host WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s)
    ORDER BY random()
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) AS free
WHERE lease.bucket = free.bucket
RETURNING lease.bucket, lease.epoch

-- name: find_due
SELECT EXISTS (
    SELECT FROM lease WHERE EXISTS (SELECT FROM host WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s)
)

-- name: record_renewal
-- Returns what is still ours: what another worker has taken over in the meantime is not.
UPDATE lease SET until = now() + make_interval(secs => %(seconds)s)
FROM unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS held (bucket, epoch)
WHERE lease.bucket = held.bucket AND lease.epoch = held.epoch
RETURNING lease.bucket

-- name: record_release
UPDATE lease SET until = now()
FROM unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS held (bucket, epoch)
WHERE lease.bucket = held.bucket AND lease.epoch = held.epoch

-- name: list_held
-- Locks the leases of a writing transaction against a take-over until it ends.
SELECT lease.bucket FROM lease
JOIN unnest(%(bucket)s::smallint[], %(epoch)s::bigint[]) AS held (bucket, epoch) USING (bucket, epoch)
ORDER BY lease.bucket
FOR SHARE OF lease

-- name: count_busy
-- Buckets with due hosts that somebody holds, or that rest.
SELECT count(*) FROM lease
WHERE until >= now() - make_interval(secs => %(rest)s)
    AND EXISTS (SELECT FROM host WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s)
