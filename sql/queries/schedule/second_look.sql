-- Second looks (C-14). All times are by the clock of the database.

-- name: record_look
-- Only of URLs that are stored and fail, or whose host does (U-9), and only where there is another place.
INSERT INTO second_look (look, bucket, host_key, url_key, place, ends)
SELECT %(look)s, url.bucket, url.host_key, url.url_key, %(place)s, now() + make_interval(secs => %(seconds)s)
FROM url JOIN host ON host.bucket = url.bucket AND host.host_key = url.host_key
WHERE url.bucket = %(bucket)s AND url.host_key = %(host_key)s AND url.url_key = %(url_key)s
    AND (url.strikes > 0 OR host.strikes > 0)
    AND EXISTS (
        SELECT FROM vantage_place
        WHERE vantage_place.place <> %(place)s AND seen > now() - make_interval(secs => %(there)s)
    )
    -- fan-out: counts the looks of a few minutes.
    AND (SELECT count(*) FROM second_look WHERE second_look.place = %(place)s AND ends > now()) < %(most)s
ON CONFLICT (look) DO NOTHING

-- name: find_look
-- Whether there is another place now, and the look, if there is one.
SELECT
    EXISTS (
        SELECT FROM vantage_place
        WHERE vantage_place.place <> %(place)s AND seen > now() - make_interval(secs => %(there)s)
    ),
    (SELECT ends > now() FROM second_look WHERE look = %(look)s AND place = %(place)s AND answered IS NULL),
    (SELECT outcome FROM second_look WHERE look = %(look)s AND place = %(place)s)

-- name: record_place
INSERT INTO vantage_place (place, seen) VALUES (%(place)s, now())
ON CONFLICT (place) DO UPDATE SET seen = now() WHERE vantage_place.seen < now() - interval '5 seconds'

-- name: take_looks
-- What was taken by somebody who has not answered for long is taken again.
-- fan-out: reads the looks of the last day, of which there are few.
UPDATE second_look SET taken = now(), taken_by = %(place)s
FROM (
    SELECT look FROM second_look
    WHERE place <> %(place)s AND answered IS NULL AND ends > now()
        AND (taken IS NULL OR taken < now() - make_interval(secs => %(seconds)s))
    ORDER BY asked
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) AS free
WHERE second_look.look = free.look
RETURNING second_look.look, second_look.bucket, second_look.host_key, second_look.url_key

-- name: list_urls
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN url USING (bucket, host_key, url_key)
JOIN host USING (bucket, host_key)

-- name: record_answer
-- Once, and by who took it.
UPDATE second_look SET answered = now(), outcome = %(outcome)s
WHERE look = %(look)s AND taken_by = %(place)s AND place <> %(place)s AND answered IS NULL

-- name: list_looks
-- The outcomes of these URLs' looks that others than this place were to make; NULL = there is no answer yet.
-- fan-out: reads the looks of the last days, of which there are few.
SELECT bucket, host_key, url_key, outcome
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS given (bucket, host_key, url_key)
JOIN second_look USING (bucket, host_key, url_key)
WHERE taken_by IS DISTINCT FROM %(place)s AND (outcome IS NOT NULL OR (answered IS NULL AND ends > now()))

-- name: delete_past
-- fan-out: deletes what is over, of the last day.
DELETE FROM second_look
USING (
    SELECT look FROM second_look WHERE ends < now() - interval '1 hour'
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE second_look.look = gone.look

-- name: delete_past_places
-- fan-out: there are a few places.
DELETE FROM vantage_place
USING (
    SELECT place FROM vantage_place WHERE seen < now() - interval '30 days'
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE vantage_place.place = gone.place

