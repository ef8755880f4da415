-- name: lock_role
-- Of two processes that want a role, the second one looks for the first one's row once that is written.
SELECT pg_advisory_xact_lock(hashtextextended('weboid part ' || %(role)s, 0))

-- name: find_other
SELECT role, name, host, machine, pid, version, since, seen, extract(epoch FROM now() - seen)::float8, doing,
    figures
FROM part
WHERE role = %(role)s AND name <> %(name)s AND seen > now() - make_interval(secs => %(expiry)s)
ORDER BY seen DESC
LIMIT 1

-- name: list_others_here
-- Those of the role on the same machine that were seen a moment ago: they may have been killed since.
SELECT role, name, host, machine, pid, version, since, seen, extract(epoch FROM now() - seen)::float8, doing,
    figures
FROM part
WHERE role = %(role)s AND name <> %(name)s AND machine = %(machine)s
    AND seen >= now() - make_interval(secs => %(expiry)s)
ORDER BY seen

-- name: delete_expired
-- Where several may run, a process that begins is the successor of one that is gone: of `before`, or else of the one
-- that has been silent for longest; of an exclusive role, of all. One with a token succeeds its own.
DELETE FROM part
USING (
    SELECT role, name FROM part
    WHERE seen < now() - make_interval(days => %(kept)s)
        OR (role = %(role)s AND name <> %(name)s AND %(exclusive)s)
        OR (role = %(role)s AND name = coalesce(%(before)s::text, (
            SELECT name FROM part
            WHERE role = %(role)s AND name <> %(name)s AND seen < now() - make_interval(secs => %(expiry)s)
                AND starts_with(name, %(beginning)s)
            ORDER BY seen
            LIMIT 1
        )))
    ORDER BY role, name
    FOR UPDATE
) AS gone
WHERE part.role = gone.role AND part.name = gone.name

-- name: record_process
INSERT INTO part (role, name, host, machine, pid, version)
VALUES (%(role)s, %(name)s, %(host)s, %(machine)s, %(pid)s, %(version)s)
ON CONFLICT (role, name) DO UPDATE SET seen = now()

-- name: record_seen
UPDATE part SET seen = now(), doing = %(doing)s, figures = %(figures)s::jsonb
WHERE role = %(role)s AND name = %(name)s
RETURNING true

-- name: count_named
SELECT count(*) FROM part WHERE starts_with(name, %(beginning)s)

-- name: delete_process
-- With it goes one that it followed, as `missing_processes` sees it, or that one would be missed from now on.
DELETE FROM part WHERE role = %(role)s AND (name = %(name)s OR name = (
    SELECT gone.name FROM part AS own JOIN part AS gone
        ON gone.role = own.role AND gone.seen <= own.since
        AND gone.seen >= own.since - make_interval(secs => %(expiry)s)
    WHERE own.role = %(role)s AND own.name = %(name)s AND gone.name <> own.name
        AND gone.seen < now() - make_interval(secs => %(expiry)s) AND starts_with(gone.name, %(beginning)s)
    ORDER BY gone.seen DESC
    LIMIT 1
))

-- name: list_processes
-- Those that were seen last, if a process that is started again and again has left more than `limit` rows.
SELECT role, name, host, machine, pid, version, since, seen, silent_s, doing, figures
FROM (
    SELECT *, extract(epoch FROM now() - seen)::float8 AS silent_s FROM part ORDER BY seen DESC LIMIT %(limit)s
) AS last_seen
ORDER BY role, name
