-- name: lock_role
-- Of two parts that want a role, the second one looks for the first one's row once that is written.
SELECT pg_advisory_xact_lock(hashtextextended('weboid part ' || %(role)s, 0))

-- name: find_other
SELECT role, name, host, machine, pid, version, since, seen, extract(epoch FROM now() - seen)::float8, doing,
    figures
FROM part
WHERE role = %(role)s AND name <> %(name)s AND seen > now() - make_interval(secs => %(expiry)s)
ORDER BY seen DESC
LIMIT 1

-- name: delete_expired
-- Where several may run, whoever begins is the successor of one that is gone; of an exclusive role, of all.
DELETE FROM part
WHERE seen < now() - make_interval(days => %(kept)s)
   OR (role = %(role)s AND name <> %(name)s AND %(exclusive)s)
   OR (role, name) IN (
       SELECT role, name FROM part
       WHERE role = %(role)s AND name <> %(name)s AND seen < now() - make_interval(secs => %(expiry)s)
       ORDER BY seen
       LIMIT 1
   )

-- name: record_part
INSERT INTO part (role, name, host, machine, pid, version)
VALUES (%(role)s, %(name)s, %(host)s, %(machine)s, %(pid)s, %(version)s)
ON CONFLICT (role, name) DO UPDATE SET seen = now()

-- name: record_seen
UPDATE part SET seen = now(), doing = %(doing)s, figures = %(figures)s::jsonb
WHERE role = %(role)s AND name = %(name)s
RETURNING true

-- name: delete_part
DELETE FROM part WHERE role = %(role)s AND name = %(name)s

-- name: list_parts
-- Those that were seen last, if a part that is started again and again has left more than `limit` rows.
SELECT role, name, host, machine, pid, version, since, seen, silent_s, doing, figures
FROM (
    SELECT *, extract(epoch FROM now() - seen)::float8 AS silent_s FROM part ORDER BY seen DESC LIMIT %(limit)s
) AS last_seen
ORDER BY role, name
