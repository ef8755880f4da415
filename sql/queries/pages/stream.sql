-- The positions of event streams, and what their effects look up (P-6).

-- name: record_first
-- Nothing, if there is a position of whatever list meanwhile.
INSERT INTO stream_position (streams, last_event_id, moment)
SELECT %(streams)s, %(last_event_id)s, %(moment)s WHERE NOT EXISTS (SELECT FROM stream_position)
ON CONFLICT DO NOTHING
RETURNING true

-- name: record_moved
-- Waits for a transaction that moves it just now, and then finds another position.
UPDATE stream_position SET streams = %(streams)s, last_event_id = %(last_event_id)s, moment = %(moment)s
WHERE streams = %(before_streams)s AND last_event_id = %(before_id)s
RETURNING true

-- name: record_other_positions_gone
-- Only one list of streams is followed at a time: positions of other lists are out of date.
DELETE FROM stream_position
USING (
    SELECT streams FROM stream_position WHERE streams <> %(streams)s
    ORDER BY streams
    FOR UPDATE
) AS gone
WHERE stream_position.streams = gone.streams

-- name: find_position
SELECT streams, last_event_id, moment FROM stream_position ORDER BY streams = %(streams)s DESC, moment DESC LIMIT 1

-- name: list_watched
SELECT page FROM page WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])

-- name: record_later
UPDATE pending SET seen = given.seen
FROM (
    SELECT asked.* FROM unnest(%(page)s::integer[], %(seen)s::timestamptz[])
        AS asked (page, seen)
    JOIN pending USING (page)
    WHERE pending.wiki = %(wiki)s
        AND pending.seen < asked.seen
    ORDER BY pending.page, pending.title
    FOR NO KEY UPDATE OF pending
) AS given
WHERE pending.wiki = %(wiki)s AND pending.page = given.page AND pending.seen < given.seen

-- name: record_later_by_title
UPDATE pending SET seen = given.seen
FROM (
    SELECT asked.* FROM unnest(%(title)s::text[], %(seen)s::timestamptz[])
        AS asked (title, seen)
    JOIN pending USING (title)
    WHERE pending.wiki = %(wiki)s
        AND pending.page = 0
        AND pending.seen < asked.seen
    ORDER BY pending.page, pending.title
    FOR NO KEY UPDATE OF pending
) AS given
WHERE pending.wiki = %(wiki)s AND pending.page = 0 AND pending.title = given.title AND pending.seen < given.seen

-- name: has_category
SELECT EXISTS (SELECT FROM category)
