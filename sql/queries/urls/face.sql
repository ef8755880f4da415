-- The not-found faces of hosts (C-11).

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
