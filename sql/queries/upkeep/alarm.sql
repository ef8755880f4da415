-- Alarms for operators (P-7, U-8), and the tables from which they are derived.

-- name: record_alarm
-- An alarm that is raised again keeps its first day.
INSERT INTO alarm (kind, subject, since, detail) VALUES (%(kind)s, %(subject)s, %(day)s, %(detail)s)
ON CONFLICT (kind, subject) DO UPDATE SET detail = excluded.detail WHERE alarm.detail <> excluded.detail

-- name: delete_alarm
DELETE FROM alarm WHERE kind = %(kind)s AND subject = %(subject)s

-- name: delete_others
DELETE FROM alarm WHERE kind = %(kind)s AND subject <> ALL(%(subjects)s::text[])

-- name: list_alarms
SELECT kind, subject, since, detail FROM alarm ORDER BY kind, subject

-- name: list_slow_passes
-- By wiki: since when a pass has been under way, or how many days the last one took, if that is too long.
SELECT wiki.dbname || '@' || farm.name, pass.started, wiki.pass_days
FROM wiki JOIN farm USING (farm) LEFT JOIN pass USING (wiki)
WHERE pass.started < %(day)s - %(days)s::integer OR wiki.pass_days > %(days)s
ORDER BY 1

-- name: find_oldest_due
-- One look-up in each bucket, by index; a host that was never visited again may have no due URL any more. Hosts with
-- more URLs than fit are left out: they are shown on the status page (C-3).
SELECT min(oldest.due) FROM lease CROSS JOIN LATERAL (
    SELECT url.due FROM host JOIN url USING (bucket, host_key)
    WHERE host.bucket = lease.bucket AND host.next_day < %(day)s - %(days)s::integer
        AND url.due < %(day)s - %(days)s::integer AND url.orphaned IS NULL
        AND NOT EXISTS (SELECT FROM big_host WHERE big_host.bucket = host.bucket AND big_host.host_key = host.host_key)
    ORDER BY host.next_day
    LIMIT 1
) AS oldest

-- name: list_streams_behind
SELECT streams, extract(epoch FROM clock_timestamp() - moment)::bigint FROM stream_position
WHERE moment < clock_timestamp() - make_interval(secs => %(seconds)s)
ORDER BY streams

-- name: list_unusable_lines
SELECT coalesce(nullif(spam_list.dbname, '') || '@', '') || farm.name || CASE kind WHEN 0 THEN ' black' ELSE ' white' END,
    unusable
FROM spam_list JOIN farm USING (farm)
WHERE unusable <> ''
ORDER BY 1
