-- Specials: what hosts need (C-6); and their not-found faces (C-11).

-- name: list_specials
SELECT bucket, host_key, kind, since, until
FROM special
JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS wanted (bucket, host_key) USING (bucket, host_key)

-- name: list_failing
SELECT bucket, host_key, strikes, failing_since, failing_until, evidence, reason
FROM host
JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS wanted (bucket, host_key) USING (bucket, host_key)
WHERE strikes > 0

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

-- name: list_faces
SELECT bucket, host_key, face
FROM face
JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS wanted (bucket, host_key) USING (bucket, host_key)

-- name: record_faces
INSERT INTO face (bucket, host_key, learned, face)
SELECT bucket, host_key, learned, face
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(learned)s::smallint[], %(face)s::bytea[])
    AS given (bucket, host_key, learned, face)
ORDER BY bucket, host_key
ON CONFLICT (bucket, host_key) DO UPDATE SET learned = excluded.learned, face = excluded.face

-- name: delete_faces
-- under lock: urls/lock lock_hosts, of the same hosts before.
DELETE FROM face
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS gone (bucket, host_key)
WHERE face.bucket = gone.bucket AND face.host_key = gone.host_key
