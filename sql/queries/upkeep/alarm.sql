-- Alarms for operators that parts have raised (P-7, U-8), and what is due for too long.

-- name: record_alarm
-- An alarm that is raised again keeps its first day.
INSERT INTO alarm (kind, subject, since, detail) VALUES (%(kind)s, %(subject)s, %(day)s, %(detail)s)
ON CONFLICT (kind, subject) DO UPDATE SET detail = excluded.detail WHERE alarm.detail <> excluded.detail

-- name: delete_alarm
DELETE FROM alarm WHERE kind = %(kind)s AND subject = %(subject)s

-- name: find_since
SELECT since FROM alarm WHERE kind = %(kind)s AND subject = %(subject)s

-- name: delete_before
DELETE FROM alarm
USING (
    SELECT kind, subject FROM alarm WHERE kind = %(kind)s AND since < %(day)s
    ORDER BY kind, subject
    FOR UPDATE
) AS gone
WHERE alarm.kind = gone.kind AND alarm.subject = gone.subject

-- name: delete_others
DELETE FROM alarm
USING (
    SELECT kind, subject FROM alarm WHERE kind = %(kind)s AND subject <> ALL(%(subjects)s::text[])
    ORDER BY kind, subject
    FOR UPDATE
) AS gone
WHERE alarm.kind = gone.kind AND alarm.subject = gone.subject

-- name: list_alarms
SELECT kind, subject, since, detail FROM alarm ORDER BY kind, subject

-- name: find_oldest_due
-- One look-up in each bucket, by index; a host that was never visited again may have no due URL any more. Hosts with
-- more URLs than fit are left out: they are shown on the status page (C-3).
-- fan-out: every bucket, one look-up by index in each.
SELECT min(oldest.due) FROM lease CROSS JOIN LATERAL (
    SELECT first.due FROM host CROSS JOIN LATERAL (
        -- With a limit of its own, so that the planner does not read all that is due to sort it.
        SELECT due FROM url
        WHERE url.bucket = host.bucket AND url.host_key = host.host_key
            AND due < %(day)s - %(days)s::integer AND orphaned IS NULL
        ORDER BY due
        LIMIT 1
    ) AS first
    WHERE host.bucket = lease.bucket AND host.next_day < %(day)s - %(days)s::integer
        AND NOT EXISTS (SELECT FROM big_host WHERE big_host.bucket = host.bucket AND big_host.host_key = host.host_key)
    ORDER BY host.next_day
    LIMIT 1
) AS oldest
