-- What hosts need (C-6).

-- name: record_specials
-- Seen again after its time has passed, a special begins anew.
INSERT INTO special (bucket, host_key, kind, since, until)
SELECT bucket, host_key, %(kind)s, day, day
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(day)s::smallint[]) AS given (bucket, host_key, day)
ORDER BY bucket, host_key
ON CONFLICT (bucket, host_key, kind) DO UPDATE
SET since = CASE WHEN special.since > excluded.since - %(days)s::integer THEN special.since ELSE excluded.since END,
    until = excluded.until
