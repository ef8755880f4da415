-- What is said of hosts on which much hangs and that are about to be called dead: alarms of three kinds (C-5).

-- name: list_words
SELECT subject, kind FROM alarm
WHERE kind = ANY(%(kinds)s::text[]) AND (%(names)s::text[] IS NULL OR subject = ANY(%(names)s::text[]))
ORDER BY subject, kind

-- name: delete_words
DELETE FROM alarm
USING (
    SELECT kind, subject FROM alarm WHERE kind = ANY(%(kinds)s::text[]) AND subject = ANY(%(names)s::text[])
    ORDER BY kind, subject
    FOR UPDATE
) AS gone
WHERE alarm.kind = gone.kind AND alarm.subject = gone.subject
