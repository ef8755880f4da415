-- Contacts of groups of hosts, from which a partial loss is concluded (C-16).

-- name: record_contacts
-- Adds to what is there, in the order of keys. `failed` comes as text, as arrays of arrays cannot be unnested by rows.
INSERT INTO loss_tally (subject, day, answered, more, still, back, failed)
SELECT subject, day, answered, more, still, back, string_to_array(failed, ' ')::bigint[]
FROM unnest(%(subject)s::text[], %(day)s::smallint[], %(answered)s::integer[], %(more)s::integer[],
    %(still)s::integer[], %(back)s::integer[], %(failed)s::text[])
    AS given (subject, day, answered, more, still, back, failed)
ORDER BY subject, day
ON CONFLICT (subject, day) DO UPDATE
SET answered = loss_tally.answered + excluded.answered, more = loss_tally.more + excluded.more,
    still = loss_tally.still + excluded.still, back = loss_tally.back + excluded.back,
    failed = ARRAY(SELECT DISTINCT unnest(loss_tally.failed || excluded.failed))

-- name: list_contacts
-- Of groups that are lost, or in which so many domains fail that they may be; of names all that there is.
SELECT subject, day, answered, more, still, back, failed FROM loss_tally
WHERE (subject = %(names)s AND day BETWEEN %(names_first)s AND %(day)s)
    OR (day BETWEEN %(first)s AND %(day)s AND subject IN (
        SELECT subject FROM loss_tally
        WHERE day BETWEEN %(first)s AND %(day)s
        GROUP BY subject
        HAVING sum(cardinality(failed) + more) >= %(least)s OR subject = ANY(%(lost)s::text[])
    ))

-- name: delete_past
-- under lock: upkeep/loss lock_losses, by the same transaction.
DELETE FROM loss_tally WHERE day < %(names_first)s OR (day < %(first)s AND subject <> %(names)s)

-- name: delete_contacts
-- under lock: upkeep/loss lock_losses, by the same transaction.
DELETE FROM loss_tally WHERE subject = %(subject)s

-- name: list_losses
SELECT subject, since FROM alarm WHERE kind = %(kind)s

-- name: lock_losses
SELECT pg_advisory_xact_lock(hashtextextended('weboid losses', 0))
