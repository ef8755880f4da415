-- Specials: what hosts need (C-6).

-- name: list_specials
SELECT bucket, host_key, kind, since, until
FROM special
JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS wanted (bucket, host_key) USING (bucket, host_key)

-- name: record_specials
-- A special that is seen again after its time gets a new first day.
INSERT INTO special (bucket, host_key, kind, since, until)
SELECT bucket, host_key, kind, day, day
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(kind)s::smallint[], %(day)s::smallint[])
    AS given (bucket, host_key, kind, day)
ORDER BY bucket, host_key, kind
ON CONFLICT (bucket, host_key, kind) DO UPDATE
SET since = CASE WHEN special.until >= excluded.until - %(kept_days)s::integer THEN special.since
        ELSE excluded.since END,
    until = greatest(special.until, excluded.until)

-- name: delete_specials
-- under lock: urls/lock lock_hosts, of the same hosts before.
DELETE FROM special
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(kind)s::smallint[]) AS gone (bucket, host_key, kind)
WHERE special.bucket = gone.bucket AND special.host_key = gone.host_key AND special.kind = gone.kind
